package differential;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.*;
import org.apache.flink.streaming.api.operators.util.PausableRelativeClock;
import org.apache.flink.streaming.api.windowing.assigners.*;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput;
import org.apache.flink.streaming.runtime.operators.TimestampsAndWatermarksOperator;
import org.apache.flink.streaming.runtime.streamrecord.*;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.runtime.generated.GeneratedWatermarkGeneratorSupplier;
import org.apache.flink.table.runtime.operators.wmassigners.WatermarkAssignerOperator;
import org.apache.flink.table.watermark.WatermarkEmitStrategy;
import org.apache.flink.util.OutputTag;
import org.apache.flink.util.clock.*;

/**
 * Runs conformance cases on Flink's own classes, many in one call. A case is a line: mechanism, params, steps, with tabs between, each
 * as name=value pairs. Its answer is a line: every output as step, kind, value with spaces between, and tabs between outputs.
 */
public class Oracle implements Function {
    public Object apply(Object cases) {
        StringBuilder answers = new StringBuilder();
        StringTokenizer lines = new StringTokenizer((String) cases, "\n");
        while (lines.hasMoreTokens()) answers.append(run(lines.nextToken().split("\t"))).append("\n");
        return answers.toString();
    }

    private static String run(String[] parts) {
        Outbox out = new Outbox();
        Piece piece = null;
        try {
            piece = piece(parts[0], pairs(parts[1]), out);
        } catch (Exception e) {
            out.error(e);
        }
        for (int i = 2; piece != null && i < parts.length; i++) {
            out.step = i - 2;
            Map step = pairs(parts[i]);
            try {
                piece.take((String) step.get("op"), step);
            } catch (Exception e) {
                out.error(e);
            }
        }
        return out.text.toString();
    }

    private static Map pairs(String text) {
        Map pairs = new HashMap();
        StringTokenizer tokens = new StringTokenizer(text, " ");
        while (tokens.hasMoreTokens()) {
            String token = tokens.nextToken();
            int at = token.indexOf('=');
            pairs.put(token.substring(0, at), token.substring(at + 1));
        }
        return pairs;
    }

    private static long number(Map of, String name, long otherwise) {
        Object text = of.get(name);
        return text == null || text.equals("None") ? otherwise : Long.parseLong((String) text);
    }

    private static Piece piece(String mechanism, Map params, Outbox out) throws Exception {
        if (mechanism.equals("idleness")) return new Idleness(params, out);
        if (mechanism.equals("multiplexer")) return new Multiplexer(out);
        if (mechanism.equals("valve")) return new Valve(params, out);
        if (mechanism.equals("two_input")) return new Inputs(params, out);
        if (mechanism.equals("sql_watermark_assigner")) return new Sql(params, out);
        if (mechanism.equals("window_assigner")) return new Assigner(params, out);
        throw new IllegalStateException("no mechanism " + mechanism);
    }

    /** A mechanism: takes a step at a time. */
    public abstract static class Piece {
        public abstract void take(String op, Map step) throws Exception;

        protected void unknown(String op) {
            throw new Error("op " + op + " is not known");
        }
    }

    /** Notes all that comes out, whatever it is called. */
    public static class Outbox implements Output, PushingAsyncDataInput.DataOutput, WatermarkOutput {
        public StringBuilder text = new StringBuilder();
        public int step;

        public void put(String kind, Object value) {
            if (text.length() > 0) text.append("\t");
            text.append(step).append(" ").append(kind).append(" ").append(value);
        }

        public void error(Exception e) {
            put("error", e.getClass().getSimpleName());
        }

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark mark) {
            put("watermark", Long.valueOf(mark.getTimestamp()));
        }

        public void emitWatermark(Watermark mark) {
            put("watermark", Long.valueOf(mark.getTimestamp()));
        }

        public void emitWatermarkStatus(WatermarkStatus status) {
            put("status", status.isIdle() ? "idle" : "active");
        }

        public void markIdle() {
            put("status", "idle");
        }

        public void markActive() {
            put("status", "active");
        }

        public void emitWatermark(WatermarkEvent event) {}

        public void emitRecord(StreamRecord record) {}

        public void collect(Object record) {}

        public void collect(OutputTag tag, StreamRecord record) {}

        public void emitLatencyMarker(LatencyMarker marker) {}

        public void emitRecordAttributes(RecordAttributes attributes) {}

        public void close() {}
    }

    /** The clock of the machine, moved by the steps. */
    private static void move(ManualClock clock, Map step) {
        long ahead = number(step, "at_ms", clock.relativeTimeMillis()) - clock.relativeTimeMillis();
        clock.advanceTime(ahead, TimeUnit.MILLISECONDS);
    }

    private static ManualClock clock(Map params) {
        return new ManualClock(number(params, "clock_start_ms", 0) * 1000000L);
    }

    public static class Idleness extends Piece {
        private final ManualClock machine;
        private final PausableRelativeClock clock;
        private final WatermarkGenerator generator;
        private final WatermarkOutput out;

        public Idleness(Map params, Outbox outbox) {
            machine = clock(params);
            clock = new PausableRelativeClock(machine);
            Object name = params.get("generator");
            WatermarkGenerator inner = new NoWatermarksGenerator();
            if ("ascending".equals(name)) inner = new AscendingTimestampsWatermarks();
            if ("bounded".equals(name))
                inner = new BoundedOutOfOrdernessWatermarks(Duration.ofMillis(number(params, "bound_ms", 0)));
            if ("sql_on_event".equals(name)) inner = sql(WatermarkEmitStrategy.ON_EVENT);
            if ("sql_on_periodic".equals(name)) inner = sql(WatermarkEmitStrategy.ON_PERIODIC);
            generator = new WatermarksWithIdleness(inner, Duration.ofMillis(number(params, "timeout_ms", 0)), clock);
            boolean raw = "raw".equals(params.get("level"));
            if (raw) out = outbox;
            else out = new TimestampsAndWatermarksOperator.WatermarkEmitter(outbox);
        }

        private static WatermarkGenerator sql(WatermarkEmitStrategy strategy) {
            return new GeneratedWatermarkGeneratorSupplier.DefaultWatermarkGenerator(new Expression(), strategy);
        }

        public void take(String op, Map step) {
            move(machine, step);
            if (op.equals("event")) generator.onEvent(row(step.get("ts")), number(step, "ts", Long.MIN_VALUE), out);
            else if (op.equals("tick") || op.equals("finish")) generator.onPeriodicEmit(out);
            else if (op.equals("backpressure_start")) clock.pause();
            else if (op.equals("backpressure_end")) clock.unPause();
            else unknown(op);
        }
    }

    public static class Multiplexer extends Piece {
        private final WatermarkOutputMultiplexer mux;

        public Multiplexer(Outbox outbox) {
            mux = new WatermarkOutputMultiplexer(new TimestampsAndWatermarksOperator.WatermarkEmitter(outbox));
        }

        public void take(String op, Map step) {
            String split = (String) step.get("split");
            if (op.equals("register")) mux.registerNewOutput(split);
            else if (op.equals("unregister")) mux.unregisterOutput(split);
            else if (op.equals("periodic")) mux.onPeriodicEmit();
            else {
                WatermarkOutput out = op.startsWith("immediate") ? mux.getImmediateOutput(split) : mux.getDeferredOutput(split);
                if (op.endsWith("_watermark")) out.emitWatermark(new Watermark(number(step, "ts", 0)));
                else if (op.endsWith("_idle")) out.markIdle();
                else if (op.endsWith("_active")) out.markActive();
                else unknown(op);
            }
        }
    }

    private static org.apache.flink.streaming.api.watermark.Watermark watermark(Map step) {
        return new org.apache.flink.streaming.api.watermark.Watermark(number(step, "ts", 0));
    }

    public static class Valve extends Piece {
        private final StatusWatermarkValve valve;
        private final Outbox out;

        public Valve(Map params, Outbox outbox) {
            valve = new StatusWatermarkValve((int) number(params, "channels", 0));
            out = outbox;
        }

        public void take(String op, Map step) throws Exception {
            int channel = (int) number(step, "ch", 0);
            if (op.equals("watermark")) valve.inputWatermark(watermark(step), channel, out);
            else if (op.equals("idle")) valve.inputWatermarkStatus(WatermarkStatus.IDLE, channel, out);
            else if (op.equals("active")) valve.inputWatermarkStatus(WatermarkStatus.ACTIVE, channel, out);
            else unknown(op);
        }
    }

    /** An operator with its inputs' watermarks, and nothing else of a task around it. */
    public static class Operator extends AbstractStreamOperator {
        public Operator(int inputs, Outbox outbox) {
            output = outbox;
            combinedWatermark = IndexedCombinedWatermarkStatus.forInputsCount(inputs);
        }

        public void status(WatermarkStatus status, int input) throws Exception {
            processWatermarkStatus(status, input);
        }
    }

    public static class Inputs extends Piece {
        private final Operator operator;
        private final Method watermark;

        public Inputs(Map params, Outbox outbox) throws Exception {
            operator = new Operator((int) number(params, "inputs", 2), outbox);
            Class mark = org.apache.flink.streaming.api.watermark.Watermark.class;
            watermark = AbstractStreamOperator.class.getDeclaredMethod("processWatermark", new Class[] {mark, int.class});
            watermark.setAccessible(true);
        }

        public void take(String op, Map step) throws Exception {
            int input = (int) number(step, "input", 0);
            if (op.equals("watermark")) watermark.invoke(operator, new Object[] {watermark(step), Integer.valueOf(input)});
            else if (op.equals("idle")) operator.status(WatermarkStatus.IDLE, input);
            else if (op.equals("active")) operator.status(WatermarkStatus.ACTIVE, input);
            else unknown(op);
        }
    }

    /** A field of the row is the watermark. */
    public static class Expression extends org.apache.flink.table.runtime.generated.WatermarkGenerator {
        public long extractTimestamp(RowData row) {
            return 0;
        }

        public Long currentWatermark(RowData row) {
            return row.isNullAt(1) ? null : Long.valueOf(row.getLong(1));
        }
    }

    /** A row whose watermark is a number, or NULL. */
    private static GenericRowData row(Object mark) {
        GenericRowData row = new GenericRowData(2);
        row.setField(0, Long.valueOf(0));
        row.setField(1, mark == null || mark.equals("None") ? null : Long.valueOf((String) mark));
        return row;
    }

    /** Time for an operator without a task; its timers are called by the steps. */
    public static class Time implements ProcessingTimeService {
        private final ManualClock clock;

        public Time(ManualClock clock) {
            this.clock = clock;
        }

        public Clock getClock() {
            return clock;
        }

        public long getCurrentProcessingTime() {
            return clock.absoluteTimeMillis();
        }

        public ScheduledFuture registerTimer(
                long time, org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback call) {
            return null;
        }

        public ScheduledFuture scheduleAtFixedRate(
                org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback call, long first, long period) {
            return null;
        }

        public ScheduledFuture scheduleWithFixedDelay(
                org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback call, long first, long period) {
            return null;
        }

        public CompletableFuture quiesce() {
            return null;
        }
    }

    /** The operator is put together by hand: its open() wants a whole task, and does no more than this. */
    public static class Sql extends Piece {
        private final ManualClock machine;
        private final PausableRelativeClock clock;
        private final WatermarkAssignerOperator operator;

        public Sql(Map params, Outbox outbox) throws Exception {
            machine = clock(params);
            clock = new PausableRelativeClock(machine);
            Time time = new Time(machine);
            operator = new WatermarkAssignerOperator(null, 0, new Expression(), number(params, "idle_timeout_ms", 0), time);
            set(AbstractStreamOperator.class, "output", outbox);
            set(AbstractStreamOperator.class, "processingTimeService", time);
            set(WatermarkAssignerOperator.class, "inputActivityClock", clock);
            set(WatermarkAssignerOperator.class, "watermarkInterval", Long.valueOf(number(params, "interval_ms", 200)));
            set(WatermarkAssignerOperator.class, "lastWatermarkPeriodicEmitTime", Long.valueOf(time.getCurrentProcessingTime()));
            set(WatermarkAssignerOperator.class, "timeSinceLastIdleCheck", Long.valueOf(time.getCurrentProcessingTime()));
        }

        private void set(Class of, String name, Object value) throws Exception {
            Field field = of.getDeclaredField(name);
            field.setAccessible(true);
            field.set(operator, value);
        }

        public void take(String op, Map step) throws Exception {
            move(machine, step);
            if (op.equals("row")) operator.processElement(new StreamRecord(row(step.get("watermark_expr"))));
            else if (op.equals("timer")) operator.onProcessingTime(machine.absoluteTimeMillis());
            else if (op.equals("backpressure_start")) clock.pause();
            else if (op.equals("backpressure_end")) clock.unPause();
            else if (op.equals("upstream_watermark")) operator.processWatermark(watermark(step));
            else if (op.equals("upstream_idle")) operator.processWatermarkStatus(WatermarkStatus.IDLE);
            else if (op.equals("upstream_active")) operator.processWatermarkStatus(WatermarkStatus.ACTIVE);
            else if (op.equals("finish")) operator.finish();
            else unknown(op);
        }
    }

    /** Assigners ask for the time of the machine to stagger windows, which they do not do by default. */
    public static class Context extends WindowAssigner.WindowAssignerContext {
        public long getCurrentProcessingTime() {
            return 0;
        }
    }

    public static class Assigner extends Piece {
        private final WindowAssigner assigner;
        private final Outbox out;

        public Assigner(Map params, Outbox outbox) {
            String name = (String) params.get("assigner");
            Duration size = Duration.ofMillis(number(params, "size_ms", 0));
            Duration offset = Duration.ofMillis(number(params, "offset_ms", 0));
            WindowAssigner made = GlobalWindows.create();
            if (name.equals("tumbling")) made = TumblingEventTimeWindows.of(size, offset);
            if (name.equals("sliding"))
                made = SlidingEventTimeWindows.of(size, Duration.ofMillis(number(params, "slide_ms", 0)), offset);
            if (name.equals("session")) made = EventTimeSessionWindows.withGap(Duration.ofMillis(number(params, "gap_ms", 0)));
            assigner = made;
            out = outbox;
        }

        public void take(String op, Map step) {
            StringBuilder windows = new StringBuilder();
            Iterator found = assigner.assignWindows("", number(step, "ts", Long.MIN_VALUE), new Context()).iterator();
            while (found.hasNext()) {
                Object window = found.next();
                if (windows.length() > 0) windows.append(",");
                if (window instanceof TimeWindow) windows.append(((TimeWindow) window).getStart() + ":" + ((TimeWindow) window).getEnd());
                else windows.append("global");
            }
            out.put("windows", windows);
        }
    }
}
