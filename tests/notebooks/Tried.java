package tried;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.api.common.functions.*;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.streaming.api.datastream.*;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.*;

/** Jobs that PyFlink cannot write: the interval join, and a late stream that keeps its times. A row is "key,time". */
public class Tried {
    /** Flink's bounded strategy with a watermark right behind each event, so that the wall clock has no say. */
    public static class Strategy implements WatermarkStrategy {
        private final Duration bound;

        public Strategy(Duration bound) {
            this.bound = bound;
        }

        public WatermarkGenerator createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
            return new Generator(bound);
        }
    }

    /** Times from 10^12 on are for the test itself: they move nothing. */
    public static class Generator extends BoundedOutOfOrdernessWatermarks {
        public Generator(Duration bound) {
            super(bound);
        }

        public void onEvent(Object row, long timestamp, WatermarkOutput output) {
            if (timestamp >= 1000000000000L) return;
            super.onEvent(row, timestamp, output);
            super.onPeriodicEmit(output);
        }

        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    public static class Key implements KeySelector, ResultTypeQueryable {
        public Object getKey(Object row) {
            return ((String) row).split(",")[0];
        }

        public TypeInformation getProducedType() {
            return Types.STRING;
        }
    }

    public static class Joined implements ReduceFunction {
        public Object reduce(Object one, Object other) {
            return one + "+" + other;
        }
    }

    public static class Labelled implements MapFunction {
        private final String label;

        public Labelled(String label) {
            this.label = label;
        }

        public Object map(Object row) {
            return label + " " + row;
        }
    }

    public static class Met extends ProcessFunction {
        public void processElement(Object row, Context context, Collector out) {
            out.collect(row + " has " + context.timestamp() + " and meets " + context.timerService().currentWatermark());
        }
    }

    /** A window, what is late for it, and a second window on what is late. */
    public static DataStream lateStream(DataStream rows) {
        OutputTag late = new OutputTag("late", Types.STRING), again = new OutputTag("again", Types.STRING);
        SingleOutputStreamOperator first = windows(rows).sideOutputLateData(late).reduce(new Joined());
        SideOutputDataStream behind = first.getSideOutput(late);
        SingleOutputStreamOperator second = windows(behind).sideOutputLateData(again).reduce(new Joined());
        return labelled("window", first).union(new DataStream[] {
            labelled("late", behind.process(new Met(), Types.STRING)),
            labelled("behind a map", ((SingleOutputStreamOperator) labelled("", first)).getSideOutput(late)),
            labelled("second window", second),
            labelled("late again", second.getSideOutput(again))
        });
    }

    /** The results of a window with lateness, corrections too. */
    public static DataStream corrections(DataStream rows) {
        DataStream results = windows(rows).allowedLateness(Duration.ofMillis(100)).reduce(new Joined());
        return results.process(new Met(), Types.STRING);
    }

    private static WindowedStream windows(DataStream rows) {
        return rows.keyBy(new Key(), Types.STRING).window(TumblingEventTimeWindows.of(Duration.ofMillis(10)));
    }

    private static DataStream labelled(String label, DataStream rows) {
        return rows.map(new Labelled(label), Types.STRING);
    }

    public static class Pair extends ProcessJoinFunction {
        public void processElement(Object left, Object right, Context context, Collector out) {
            out.collect("pair " + left + " " + right);
        }
    }

    /** Pairs rows of a key whose times are at most 5 ms apart. */
    public static DataStream intervalJoin(DataStream left, DataStream right) {
        OutputTag lateLeft = new OutputTag("left", Types.STRING), lateRight = new OutputTag("right", Types.STRING);
        SingleOutputStreamOperator pairs = left.keyBy(new Key(), Types.STRING)
                .intervalJoin(right.keyBy(new Key(), Types.STRING))
                .between(Duration.ofMillis(-5), Duration.ofMillis(5))
                .sideOutputLeftLateData(lateLeft)
                .sideOutputRightLateData(lateRight)
                .process(new Pair(), Types.STRING);
        return pairs.union(new DataStream[] {
            labelled("late left", pairs.getSideOutput(lateLeft)), labelled("late right", pairs.getSideOutput(lateRight))
        });
    }
}
