package replay;

import java.lang.reflect.Field;
import java.util.concurrent.*;
import java.util.function.Consumer;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.table.data.*;
import org.apache.flink.table.runtime.generated.GeneratedWatermarkGeneratorSupplier;
import org.apache.flink.table.runtime.operators.wmassigners.WatermarkAssignerOperator;
import org.apache.flink.table.watermark.WatermarkEmitStrategy;
import org.apache.flink.util.clock.*;

/**
 * The watermarks of SQL's WATERMARK FOR rowtime AS rowtime - bound, where a replay must move the clock by hand. The
 * rules are in Flink's own classes: what the planner pushes into a source, or the operator that it puts behind one.
 */
public class SqlWatermarks implements WatermarkStrategy {
    private final long bound, interval, timeout, timer;
    private final boolean inSource, onEvent;

    /** In a source that takes it, as Kafka's does. */
    public SqlWatermarks(long bound, boolean onEvent) {
        this(bound, true, onEvent, 0, 0, 0);
    }

    /** In an operator behind the source; 0 for no ticks, and for no timeout. The timer is checked against Flink's. */
    public SqlWatermarks(long bound, long interval, long timeout, long timer) {
        this(bound, false, false, interval, timeout, timer);
    }

    private SqlWatermarks(long bound, boolean inSource, boolean onEvent, long interval, long timeout, long timer) {
        this.bound = bound;
        this.inSource = inSource;
        this.onEvent = onEvent;
        this.interval = interval;
        this.timeout = timeout;
        this.timer = timer;
    }

    public WatermarkGenerator createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
        try {
            return inSource ? (WatermarkGenerator) new InSource(this) : new Behind(this, context.getInputActivityClock());
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    private static RowData row(long timestamp) {
        GenericRowData row = new GenericRowData(1);
        row.setField(0, Long.valueOf(timestamp));
        return row;
    }

    /** What the planner makes of the expression. */
    public static class Expression extends org.apache.flink.table.runtime.generated.WatermarkGenerator {
        private final long bound;

        public Expression(long bound) {
            this.bound = bound;
        }

        public long extractTimestamp(RowData row) {
            return row.getLong(0);
        }

        public Long currentWatermark(RowData row) {
            return Long.valueOf(row.getLong(0) - bound);
        }
    }

    /** The generator that the planner hands to a source. */
    public static class InSource implements WatermarkGenerator {
        private final WatermarkGenerator flinks;

        public InSource(SqlWatermarks sql) {
            WatermarkEmitStrategy when = sql.onEvent ? WatermarkEmitStrategy.ON_EVENT : WatermarkEmitStrategy.ON_PERIODIC;
            flinks = new GeneratedWatermarkGeneratorSupplier.DefaultWatermarkGenerator(new Expression(sql.bound), when);
        }

        public void onEvent(Object event, long timestamp, WatermarkOutput out) {
            flinks.onEvent(row(timestamp), timestamp, out);
        }

        public void onPeriodicEmit(WatermarkOutput out) {
            flinks.onPeriodicEmit(out);
        }
    }

    /** The operator, without a task around it: what its open() would find there is put in by hand. */
    public static class Behind implements WatermarkGenerator, Consumer, Runnable {
        private final WatermarkAssignerOperator operator;
        private final RelativeClock clock;

        public Behind(SqlWatermarks sql, RelativeClock clock) throws Exception {
            this.clock = clock;
            Now now = new Now(clock);
            operator = new WatermarkAssignerOperator(null, 0, new Expression(sql.bound), sql.timeout, now);
            Long start = Long.valueOf(clock.relativeTimeMillis());
            set(AbstractStreamOperator.class, "processingTimeService", now);
            set(WatermarkAssignerOperator.class, "inputActivityClock", clock);
            set(WatermarkAssignerOperator.class, "watermarkInterval", Long.valueOf(sql.interval));
            set(WatermarkAssignerOperator.class, "lastWatermarkPeriodicEmitTime", start);
            set(WatermarkAssignerOperator.class, "timeSinceLastIdleCheck", start);
            if (sql.interval > 0 || sql.timeout > 0) check(sql);
        }

        /** Takes the output of the operator. */
        public void accept(Object output) {
            try {
                set(AbstractStreamOperator.class, "output", output);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        private static void check(SqlWatermarks sql) throws Exception {
            Class[] longs = {long.class, long.class};
            java.lang.reflect.Method flinks =
                    WatermarkAssignerOperator.class.getDeclaredMethod("calculateProcessingTimeTimerInterval", longs);
            flinks.setAccessible(true);
            Object[] settings = {Long.valueOf(sql.interval), Long.valueOf(sql.timeout)};
            Object timer = flinks.invoke(null, settings);
            if (!timer.equals(Long.valueOf(sql.timer)))
                throw new IllegalStateException("Flink's timer comes every " + timer + " ms, not " + sql.timer);
        }

        private void set(Class of, String name, Object value) throws Exception {
            Field field = of.getDeclaredField(name);
            field.setAccessible(true);
            field.set(operator, value);
        }

        public void onEvent(Object event, long timestamp, WatermarkOutput unused) {
            try {
                operator.processElement(new StreamRecord(row(timestamp), timestamp));
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        /** Called for each timer of the operator. */
        public void onPeriodicEmit(WatermarkOutput unused) {
            try {
                operator.onProcessingTime(clock.relativeTimeMillis());
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        /** The end of the input. */
        public void run() {
            try {
                operator.finish();
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }
    }

    /** The time that the operator sees. */
    public static class Now implements ProcessingTimeService {
        private final RelativeClock clock;

        public Now(RelativeClock clock) {
            this.clock = clock;
        }

        public Clock getClock() {
            return null;
        }

        public long getCurrentProcessingTime() {
            return clock.relativeTimeMillis();
        }

        public ScheduledFuture registerTimer(long time, ProcessingTimeCallback callback) {
            return null;
        }

        public ScheduledFuture scheduleAtFixedRate(ProcessingTimeCallback callback, long first, long period) {
            return null;
        }

        public ScheduledFuture scheduleWithFixedDelay(ProcessingTimeCallback callback, long first, long period) {
            return null;
        }

        public CompletableFuture quiesce() {
            return null;
        }
    }
}
