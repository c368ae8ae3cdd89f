package replay;

import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Consumer;
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
import org.apache.flink.util.OutputTag;
import org.apache.flink.util.clock.*;

/**
 * The source subtasks of a job and the valve in front of its windows, in one place and with a clock moved by hand, so
 * that a wall clock has no say. Only the wiring is here; every rule is in Flink's own classes: the strategy,
 * TimestampsAndWatermarks with its multiplexer, the emitter, the channel, StatusWatermarkValve, AbstractStreamOperator.
 */
public class ReplayInputs implements WatermarkStrategy {
    private final WatermarkStrategy strategy;
    private final int subtasks, inputs, partitions;
    private final boolean onSource;
    private final Duration interval;
    private final Duration timeout;
    private final long start;

    /** A timeout of 0 means: none. The strategy has it already; here it only says for how long ticks can matter. */
    public ReplayInputs(WatermarkStrategy strategy, int subtasks, int inputs, int partitions, boolean onSource,
            Duration interval, Duration timeout, long start) {
        this.strategy = strategy;
        this.subtasks = subtasks;
        this.inputs = inputs;
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
        private static final int KIND = 0, PARTITION = 4, AT = 5; // fields of a row, as in the Python program
        private static final long MACHINE = 1000000000000L; // what a machine's clock reads at the start: far from 0
        private final ReplayInputs job;
        private final ManualClock clock = new ManualClock(MACHINE * 1000000L);
        private final Subtask[] sources;
        private final int[] open; // partitions of each subtask that have not come to their end
        private final Windows windows = new Windows();
        private final long interval;
        private long tick;
        private long settled; // from here on ticks change nothing, until something arrives

        public Inputs(ReplayInputs job) {
            this.job = job;
            interval = job.interval.toMillis();
            tick = job.start + interval;
            Marks[] behind = {windows};
            if (job.inputs > 1) {
                Joined joined = new Joined(windows);
                behind = new Marks[] {new InputOfTwo(joined, true), new InputOfTwo(joined, false)};
            }
            sources = new Subtask[job.subtasks];
            for (int input = 0; input < job.inputs; input++) { // source subtask i belongs to input i % inputs
                int channels = (job.subtasks - input + job.inputs - 1) / job.inputs;
                StatusWatermarkValve valve = new StatusWatermarkValve(channels);
                for (int i = input; i < job.subtasks; i += job.inputs) {
                    Channel channel = new Channel(valve, i / job.inputs, behind[input]);
                    if (job.onSource) sources[i] = new Source(job, clock, channel, i);
                    else sources[i] = new BehindSource(job, clock, channel);
                }
            }
            open = new int[sources.length];
            for (int split = 0; split < job.partitions; split++) open[split % open.length]++;
            settle(job.start);
        }

        public void onEvent(Object timestamped, long timestamp, WatermarkOutput out) {
            Tuple row = (Tuple) ((Tuple2) timestamped).f0;
            String kind = (String) row.getField(KIND);
            int partition = ((Number) row.getField(PARTITION)).intValue();
            long at = ((Number) row.getField(AT)).longValue();
            int subtask = partition % sources.length;
            windows.out = out;
            if (kind.equals("ticks")) letTimePass(at);
            setClock(at);
            if (kind.equals("event")) sources[subtask].event(timestamped, timestamp, partition);
            if (kind.equals("finish") && --open[subtask] == 0) end(subtask);
            else if (kind.equals("finish")) sources[subtask].finish(partition);
            if (kind.equals("end")) end(subtask);
            if (!kind.equals("ticks")) settle(at);
        }

        private void letTimePass(long until) {
            for (; tick <= until && tick <= settled; tick += interval) {
                setClock(tick);
                for (int i = 0; i < sources.length; i++) if (sources[i] != null) sources[i].tick();
            }
            if (tick <= until) tick += (until - tick) / interval * interval + interval;
        }

        /** After its end a task is not there any more. */
        private void end(int subtask) {
            if (sources[subtask] != null) sources[subtask].end();
            sources[subtask] = null;
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

        void finish(int partition);

        void end();
    }

    /** The strategy is on the source: a generator for each partition. */
    public static class Source implements Subtask, TimestampAssigner {
        private final Channel channel;
        private final Timer timer;
        private final ReaderOutput main;
        private final Map outputs = new HashMap();

        public Source(ReplayInputs job, ManualClock clock, Channel channel, int number) {
            this.channel = channel;
            timer = new Timer(clock);
            TaskIOMetricGroup metrics = UnregisteredMetricGroups.createUnregisteredTaskMetricGroup().getIOMetricGroup();
            TimestampsAndWatermarks logic = new ProgressiveTimestampsAndWatermarks(this, job.strategy,
                    new TimestampsAndWatermarks.TimestampsAndWatermarksContextProvider(metrics), timer,
                    job.interval, new PausableRelativeClock(clock), clock, metrics);
            main = logic.createMainOutput(channel, new NoAlignment());
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

        public void finish(int partition) {
            main.releaseOutputForSplit("" + partition);
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
            if (generator instanceof Consumer) ((Consumer) generator).accept(channel.output); // a whole operator: SQL's
        }

        public void event(Object row, long timestamp, int partition) {
            generator.onEvent(row, timestamp, out);
        }

        public void tick() {
            generator.onPeriodicEmit(out);
        }

        public void finish(int partition) {
            // The strategy does not know of partitions.
        }

        public void end() {
            if (generator instanceof Runnable) ((Runnable) generator).run();
            else out.emitWatermark(Watermark.MAX_WATERMARK);
        }

        public RelativeClock getInputActivityClock() {
            return clock;
        }

        public MetricGroup getMetricGroup() {
            return UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup();
        }
    }

    /** Takes watermarks and statuses; the records themselves take the way of the job. */
    public abstract static class Marks implements PushingAsyncDataInput.DataOutput, Output {
        public void emitRecord(StreamRecord record) {}

        public void emitLatencyMarker(LatencyMarker marker) {}

        public void emitRecordAttributes(RecordAttributes attributes) {}

        public void emitWatermark(WatermarkEvent event) {}

        public void collect(Object record) {}

        public void collect(OutputTag tag, StreamRecord record) {}

        public void close() {}
    }

    /** From a source subtask to a valve. */
    public static class Channel extends Marks implements Input {
        public final Output output;
        private final StatusWatermarkValve valve;
        private final Marks behind;
        private final int number;

        public Channel(StatusWatermarkValve valve, int number, Marks behind) {
            this.valve = valve;
            this.number = number;
            this.behind = behind;
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
            valve.inputWatermark(watermark, number, behind);
        }

        public void processWatermarkStatus(WatermarkStatus status) throws Exception {
            valve.inputWatermarkStatus(status, number, behind);
        }

        public void processElement(StreamRecord record) {}

        public void processLatencyMarker(LatencyMarker marker) {}

        public void processRecordAttributes(RecordAttributes attributes) {}

        public void processWatermark(WatermarkEvent event) {}

        public void setKeyContextElement(StreamRecord record) {}
    }

    /** From the valve of one of two inputs to the operator that joins them. */
    public static class InputOfTwo extends Marks {
        private final Joined operator;
        private final boolean first;

        public InputOfTwo(Joined operator, boolean first) {
            this.operator = operator;
            this.first = first;
        }

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark watermark) {
            try {
                if (first) operator.processWatermark1(watermark);
                else operator.processWatermark2(watermark);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        public void emitWatermarkStatus(WatermarkStatus status) {
            try {
                if (first) operator.processWatermarkStatus1(status);
                else operator.processWatermarkStatus2(status);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }
    }

    /** An operator with two inputs, without the rest of a task around it. */
    public static class Joined extends AbstractStreamOperator {
        public Joined(Marks windows) {
            output = windows;
            combinedWatermark = IndexedCombinedWatermarkStatus.forInputsCount(2);
        }
    }

    /** The windows of the job. */
    public static class Windows extends Marks {
        public WatermarkOutput out;

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark watermark) {
            out.emitWatermark(new Watermark(watermark.getTimestamp()));
        }

        public void emitWatermarkStatus(WatermarkStatus status) {
            if (status.isIdle()) out.markIdle();
            else out.markActive();
        }
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
