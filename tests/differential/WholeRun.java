package differential;

import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.api.connector.source.ReaderOutput;
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
 * The source subtasks of a job and the valve of a window task, of Flink's own classes. A run is a line: its settings, then its steps,
 * with tabs between. Its answer is a line: what each subtask sends (its number, then what) and what the valve lets through (v, then what).
 */
public class WholeRun implements Function {
    public static final long ORIGIN_MS = 1000000000000L; // the clock of a machine is far from 0

    public Object apply(Object runs) {
        StringBuilder answers = new StringBuilder();
        StringTokenizer lines = new StringTokenizer((String) runs, "\n");
        while (lines.hasMoreTokens()) {
            try {
                answers.append(new Run(lines.nextToken().split("\t")).text).append("\n");
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }
        return answers.toString();
    }

    private static long number(String[] of, int index) {
        return Long.parseLong(of[index]);
    }

    public static class Run {
        public StringBuilder text = new StringBuilder();
        public int step;

        /** Settings: subtasks, partitions, after or source, generator, event or interval, bound, timeout (0: none), start. */
        public Run(String[] parts) throws Exception {
            String[] settings = parts[0].split(" ");
            int subtasks = (int) number(settings, 0);
            long start = number(settings, 7);
            ManualClock clock = new ManualClock(ORIGIN_MS * 1000000L);
            StatusWatermarkValve valve = new StatusWatermarkValve(subtasks);
            Out through = new Out(this, "v");
            Subtask[] sources = new Subtask[subtasks];
            for (int i = 0; i < subtasks; i++) {
                Wire wire = new Wire(this, i, valve, through);
                Strategy strategy = new Strategy(settings[3], settings[4].equals("event"), number(settings, 5), number(settings, 6));
                if (settings[2].equals("after")) sources[i] = new Behind(strategy, clock, wire);
                else sources[i] = new Source(strategy, clock, wire, i, subtasks, (int) number(settings, 1));
            }
            for (step = 0; step + 1 < parts.length; step++) {
                String[] taken = parts[step + 1].split(" ");
                long ahead = number(taken, 2) - start + ORIGIN_MS - clock.relativeTimeMillis();
                clock.advanceTime(ahead, TimeUnit.MILLISECONDS);
                Subtask source = sources[(int) number(taken, 1)];
                if (taken[0].equals("event")) source.event(taken[3], number(taken, 4));
                else if (taken[0].equals("tick")) source.tick();
                else source.end();
            }
        }

        public void put(String who, String what) {
            if (text.length() > 0) text.append("\t");
            text.append(step).append(" ").append(who).append(" ").append(what);
        }
    }

    public static class Strategy implements WatermarkGeneratorSupplier {
        private final String name;
        private final boolean perEvent;
        private final long bound, timeout;

        public Strategy(String name, boolean perEvent, long bound, long timeout) {
            this.name = name;
            this.perEvent = perEvent;
            this.bound = bound;
            this.timeout = timeout;
        }

        public WatermarkGenerator createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
            return make(context.getInputActivityClock());
        }

        public WatermarkGenerator make(RelativeClock clock) {
            WatermarkGenerator inner = new NoWatermarksGenerator();
            if (name.equals("ascending")) inner = new AscendingTimestampsWatermarks();
            if (name.equals("bounded")) inner = new BoundedOutOfOrdernessWatermarks(Duration.ofMillis(bound));
            if (perEvent) inner = new Punctuated(inner);
            return timeout == 0 ? inner : new WatermarksWithIdleness(inner, Duration.ofMillis(timeout), clock);
        }
    }

    public static class Punctuated implements WatermarkGenerator {
        private final WatermarkGenerator inner;

        public Punctuated(WatermarkGenerator inner) {
            this.inner = inner;
        }

        public void onEvent(Object row, long timestamp, WatermarkOutput out) {
            inner.onEvent(row, timestamp, out);
            inner.onPeriodicEmit(out);
        }

        public void onPeriodicEmit(WatermarkOutput out) {}
    }

    public interface Subtask {
        void event(String split, long timestamp) throws Exception;

        void tick() throws Exception;

        void end() throws Exception;
    }

    /** A strategy on the source. */
    public static class Source implements Subtask, ProcessingTimeService, TimestampsAndWatermarks.WatermarkUpdateListener, TimestampAssigner {
        private final ManualClock clock;
        private final Wire wire;
        private final Map outputs = new HashMap();
        private ProcessingTimeCallback due;

        public Source(Strategy strategy, ManualClock clock, Wire wire, int number, int subtasks, int partitions) {
            this.clock = clock;
            this.wire = wire;
            TaskIOMetricGroup metrics = UnregisteredMetricGroups.createUnregisteredTaskMetricGroup().getIOMetricGroup();
            TimestampsAndWatermarks logic = new ProgressiveTimestampsAndWatermarks(this, strategy,
                    new TimestampsAndWatermarks.TimestampsAndWatermarksContextProvider(metrics), this, Duration.ofMillis(1),
                    new PausableRelativeClock(clock), clock, metrics);
            ReaderOutput main = logic.createMainOutput(wire, this);
            for (int split = number; split < partitions; split += subtasks)
                outputs.put("" + split, main.createOutputForSplit("" + split));
            logic.startPeriodicWatermarkEmits();
        }

        public void event(String split, long timestamp) throws Exception {
            ((org.apache.flink.api.connector.source.SourceOutput) outputs.get(split)).collect("", timestamp);
        }

        public void tick() throws Exception {
            due.onProcessingTime(clock.absoluteTimeMillis());
        }

        /** As the task of the source does: past the strategy. */
        public void end() throws Exception {
            wire.emitWatermark(org.apache.flink.streaming.api.watermark.Watermark.MAX_WATERMARK);
        }

        public long extractTimestamp(Object row, long timestamp) {
            return timestamp;
        }

        public Clock getClock() {
            return clock;
        }

        public long getCurrentProcessingTime() {
            return clock.absoluteTimeMillis();
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

        public CompletableFuture quiesce() {
            return null;
        }

        public void updateCurrentEffectiveWatermark(long watermark) {}

        public void updateCurrentSplitWatermark(String split, long watermark) {}

        public void updateIdle(boolean idle) {}

        public void updateCurrentSplitIdle(String split, boolean idle) {}

        public void splitFinished(String split) {}
    }

    /** A strategy behind the source. */
    public static class Behind implements Subtask {
        private final WatermarkGenerator generator;
        private final WatermarkOutput out;

        public Behind(Strategy strategy, ManualClock clock, Wire wire) {
            generator = strategy.make(new PausableRelativeClock(clock));
            out = new TimestampsAndWatermarksOperator.WatermarkEmitter(wire);
        }

        public void event(String split, long timestamp) {
            generator.onEvent("", timestamp, out);
        }

        public void tick() {
            generator.onPeriodicEmit(out);
        }

        public void end() {
            out.emitWatermark(Watermark.MAX_WATERMARK);
        }
    }

    /** Notes what comes. */
    public static class Out implements Output, PushingAsyncDataInput.DataOutput {
        protected final Run run;
        private final String who;

        public Out(Run run, String who) {
            this.run = run;
            this.who = who;
        }

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark mark) {
            run.put(who, "" + mark.getTimestamp());
        }

        public void emitWatermarkStatus(WatermarkStatus status) {
            run.put(who, status.isIdle() ? "idle" : "active");
        }

        public void emitWatermark(WatermarkEvent event) {}

        public void emitRecord(StreamRecord record) {}

        public void collect(Object record) {}

        public void collect(OutputTag tag, StreamRecord record) {}

        public void emitLatencyMarker(LatencyMarker marker) {}

        public void emitRecordAttributes(RecordAttributes attributes) {}

        public void close() {}
    }

    /** A channel; like RecordWriterOutput it drops watermarks while the announced status is IDLE. */
    public static class Wire extends Out {
        private final int channel;
        private final StatusWatermarkValve valve;
        private final Out through;
        private WatermarkStatus announced = WatermarkStatus.ACTIVE;

        public Wire(Run run, int channel, StatusWatermarkValve valve, Out through) {
            super(run, "" + channel);
            this.channel = channel;
            this.valve = valve;
            this.through = through;
        }

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark mark) {
            if (announced.isIdle()) return;
            super.emitWatermark(mark);
            try {
                valve.inputWatermark(mark, channel, through);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        public void emitWatermarkStatus(WatermarkStatus status) {
            if (announced.equals(status)) return;
            announced = status;
            super.emitWatermarkStatus(status);
            try {
                valve.inputWatermarkStatus(status, channel, through);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }
    }
}
