package replay;

import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.api.connector.source.*;
import org.apache.flink.api.java.tuple.*;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.metrics.groups.*;
import org.apache.flink.streaming.api.operators.*;
import org.apache.flink.streaming.api.operators.source.*;
import org.apache.flink.streaming.api.operators.util.PausableRelativeClock;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput;
import org.apache.flink.streaming.runtime.operators.TimestampsAndWatermarksOperator;
import org.apache.flink.streaming.runtime.streamrecord.*;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.*;
import org.apache.flink.util.clock.*;

/**
 * The source subtasks of a job and the valve in front of its windows, in one place and with a clock moved by hand, so
 * that a wall clock has no say. Only the wiring is here; every rule is in Flink's own classes: the strategy,
 * TimestampsAndWatermarks with its multiplexer, the emitter, the channel, StatusWatermarkValve.
 */
public class ReplayInputs implements WatermarkStrategy {
    private final WatermarkStrategy strategy;
    private final int subtasks, partitions;
    private final boolean onSource;
    private final Duration interval;
    private final Duration timeout;
    private final long start;

    /** A timeout of 0 means: none. The strategy has it already; here it only says for how long ticks can matter. */
    public ReplayInputs(WatermarkStrategy strategy, int subtasks, int partitions, boolean onSource,
            Duration interval, Duration timeout, long start) {
        this.strategy = strategy;
        this.subtasks = subtasks;
        this.partitions = partitions;
        this.onSource = onSource;
        this.interval = interval;
        this.timeout = timeout;
        this.start = start;
    }

    public WatermarkGenerator createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
        return new Inputs(this);
    }

    /** Sees the rows in order of arrival and moves the clock, the subtasks and the valve accordingly. */
    public static class Inputs implements WatermarkGenerator {
        private static final int PARTITION = 4, AT = 5, TICKS = -1, END = -2; // as in the Python program
        private static final long MACHINE = 1000000000000L; // what a machine's clock reads at the start: far from 0
        private final ReplayInputs job;
        private final ManualClock clock = new ManualClock(MACHINE * 1000000L);
        private final Subtask[] sources;
        private final Valve valve;
        private final long interval;
        private long tick;
        private long settled; // from here on ticks change nothing, until something arrives

        public Inputs(ReplayInputs job) {
            this.job = job;
            interval = job.interval.toMillis();
            tick = job.start + interval;
            valve = new Valve(job.subtasks);
            sources = new Subtask[job.subtasks];
            for (int i = 0; i < sources.length; i++) {
                Channel channel = new Channel(valve, i);
                if (job.onSource) sources[i] = new Source(job, clock, channel, i);
                else sources[i] = new BehindSource(job, clock, channel);
            }
            settle(job.start);
        }

        public void onEvent(Object timestamped, long timestamp, WatermarkOutput out) {
            Tuple row = (Tuple) ((Tuple2) timestamped).f0;
            int partition = ((Number) row.getField(PARTITION)).intValue();
            long at = ((Number) row.getField(AT)).longValue();
            valve.out = out;
            if (partition == TICKS) {
                for (; tick <= at && tick <= settled; tick += interval) {
                    setClock(tick);
                    for (int i = 0; i < sources.length; i++) sources[i].tick();
                }
                if (tick <= at) tick += (at - tick) / interval * interval + interval;
            }
            setClock(at);
            if (partition == END) for (int i = 0; i < sources.length; i++) sources[i].end();
            if (partition >= 0) sources[partition % sources.length].event(timestamped, timestamp, partition);
            if (partition >= 0) settle(at);
        }

        public void onPeriodicEmit(WatermarkOutput out) {
            // Called by the wall clock, which has no say in a replay.
        }

        private void setClock(long at) {
            clock.advanceTime(at - job.start + MACHINE - clock.relativeTimeMillis(), TimeUnit.MILLISECONDS);
        }

        /** A tick sees that an event came, a later one starts the timer, one above the timeout marks the input idle. */
        private void settle(long at) {
            settled = at + job.timeout.toMillis() + 4 * interval;
        }
    }

    /** A subtask of the source. */
    public interface Subtask {
        void event(Object row, long timestamp, int partition);

        void tick();

        void end();
    }

    /** The strategy is on the source: a generator for each partition. */
    public static class Source implements Subtask, TimestampAssigner {
        private final Channel channel;
        private final Timer timer;
        private final Map outputs = new HashMap();

        public Source(ReplayInputs job, ManualClock clock, Channel channel, int number) {
            this.channel = channel;
            timer = new Timer(clock);
            TaskIOMetricGroup metrics = UnregisteredMetricGroups.createUnregisteredTaskMetricGroup().getIOMetricGroup();
            TimestampsAndWatermarks logic = new ProgressiveTimestampsAndWatermarks(this, job.strategy,
                    new TimestampsAndWatermarks.TimestampsAndWatermarksContextProvider(metrics), timer,
                    job.interval, new PausableRelativeClock(clock), clock, metrics);
            ReaderOutput main = logic.createMainOutput(channel, new NoAlignment());
            for (int split = number; split < job.partitions; split += job.subtasks)
                outputs.put(Integer.valueOf(split), main.createOutputForSplit("" + split));
            logic.startPeriodicWatermarkEmits();
        }

        public void event(Object row, long timestamp, int partition) {
            ((SourceOutput) outputs.get(Integer.valueOf(partition))).collect(row, timestamp);
        }

        public void tick() {
            timer.run();
        }

        /** As the task of a source does it: past the strategy. */
        public void end() {
            channel.emitWatermark(org.apache.flink.streaming.api.watermark.Watermark.MAX_WATERMARK);
        }

        public long extractTimestamp(Object row, long timestamp) {
            return timestamp;
        }
    }

    /** The strategy is behind the source: a generator for each subtask, whatever it reads. */
    public static class BehindSource implements Subtask, WatermarkGeneratorSupplier.Context {
        private final RelativeClock clock;
        private final WatermarkGenerator generator;
        private final WatermarkOutput out;

        public BehindSource(ReplayInputs job, ManualClock clock, Channel channel) {
            this.clock = new PausableRelativeClock(clock);
            generator = job.strategy.createWatermarkGenerator(this);
            out = new TimestampsAndWatermarksOperator.WatermarkEmitter(channel.output);
        }

        public void event(Object row, long timestamp, int partition) {
            generator.onEvent(row, timestamp, out);
        }

        public void tick() {
            generator.onPeriodicEmit(out);
        }

        public void end() {
            out.emitWatermark(Watermark.MAX_WATERMARK);
        }

        public RelativeClock getInputActivityClock() {
            return clock;
        }

        public MetricGroup getMetricGroup() {
            return UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup();
        }
    }

    /** From a source subtask to the valve. */
    public static class Channel implements PushingAsyncDataInput.DataOutput, Input {
        public final Output output;
        private final Valve valve;
        private final int number;

        public Channel(Valve valve, int number) {
            this.valve = valve;
            this.number = number;
            try { // Flink keeps this class to itself; it is what drops watermarks while the status is IDLE
                Class chained = Class.forName("org.apache.flink.streaming.runtime.tasks.ChainingOutput");
                Constructor made = chained.getDeclaredConstructors()[0];
                made.setAccessible(true);
                Object metrics = UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup();
                output = (Output) made.newInstance(new Object[] {this, null, metrics, null});
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark watermark) {
            output.emitWatermark(watermark);
        }

        public void emitWatermarkStatus(WatermarkStatus status) {
            output.emitWatermarkStatus(status);
        }

        public void processWatermark(org.apache.flink.streaming.api.watermark.Watermark watermark) throws Exception {
            valve.rules.inputWatermark(watermark, number, valve);
        }

        public void processWatermarkStatus(WatermarkStatus status) throws Exception {
            valve.rules.inputWatermarkStatus(status, number, valve);
        }

        // The records themselves take the way of the job.
        public void emitRecord(StreamRecord record) {}

        public void emitLatencyMarker(LatencyMarker marker) {}

        public void emitRecordAttributes(RecordAttributes attributes) {}

        public void emitWatermark(WatermarkEvent event) {}

        public void processElement(StreamRecord record) {}

        public void processLatencyMarker(LatencyMarker marker) {}

        public void processRecordAttributes(RecordAttributes attributes) {}

        public void processWatermark(WatermarkEvent event) {}

        public void setKeyContextElement(StreamRecord record) {}
    }

    /** What the valve lets through goes to the windows of the job. */
    public static class Valve implements PushingAsyncDataInput.DataOutput {
        public final StatusWatermarkValve rules;
        public WatermarkOutput out;

        public Valve(int channels) {
            rules = new StatusWatermarkValve(channels);
        }

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark watermark) {
            out.emitWatermark(new Watermark(watermark.getTimestamp()));
        }

        public void emitWatermarkStatus(WatermarkStatus status) {
            if (status.isIdle()) out.markIdle();
            else out.markActive();
        }

        public void emitRecord(StreamRecord record) {}

        public void emitLatencyMarker(LatencyMarker marker) {}

        public void emitRecordAttributes(RecordAttributes attributes) {}

        public void emitWatermark(WatermarkEvent event) {}
    }

    /** The timer of the periodic emission: runs when it is told to. */
    public static class Timer implements ProcessingTimeService {
        private final ManualClock clock;
        private ProcessingTimeCallback due;

        public Timer(ManualClock clock) {
            this.clock = clock;
        }

        public void run() {
            try {
                due.onProcessingTime(clock.absoluteTimeMillis());
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        public ScheduledFuture registerTimer(long time, ProcessingTimeCallback callback) {
            due = callback;
            return null;
        }

        public ScheduledFuture scheduleAtFixedRate(ProcessingTimeCallback callback, long first, long period) {
            return registerTimer(0, callback);
        }

        public ScheduledFuture scheduleWithFixedDelay(ProcessingTimeCallback callback, long first, long period) {
            return registerTimer(0, callback);
        }

        public Clock getClock() {
            return clock;
        }

        public long getCurrentProcessingTime() {
            return clock.absoluteTimeMillis();
        }

        public CompletableFuture quiesce() {
            return null;
        }
    }

    /** Watermark alignment would listen here. */
    public static class NoAlignment implements TimestampsAndWatermarks.WatermarkUpdateListener {
        public void updateCurrentEffectiveWatermark(long watermark) {}

        public void updateCurrentSplitWatermark(String split, long watermark) {}

        public void updateIdle(boolean idle) {}

        public void updateCurrentSplitIdle(String split, boolean idle) {}

        public void splitFinished(String split) {}
    }
}
