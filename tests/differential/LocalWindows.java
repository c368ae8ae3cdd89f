package differential;

import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/** What is around a window of SQL: rows of (id, time, whether it is a watermark) in front, and behind it who writes results down. */
public class LocalWindows {
    /** A row that is a watermark says itself what the watermark is. */
    public static class Strategy implements WatermarkStrategy {
        public WatermarkGenerator createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
            return new Marks();
        }

        public TimestampAssigner createTimestampAssigner(TimestampAssignerSupplier.Context context) {
            return new Times();
        }
    }

    public static class Times implements TimestampAssigner {
        public long extractTimestamp(Object row, long before) {
            return ((Long) ((Row) row).getField(1)).longValue();
        }
    }

    public static class Marks implements WatermarkGenerator {
        public void onEvent(Object row, long timestamp, WatermarkOutput output) {
            if (((Boolean) ((Row) row).getField(2)).booleanValue()) output.emitWatermark(new Watermark(timestamp));
        }

        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    /** Writes the number of the pipeline, the watermark that a result meets, and the result. */
    public static class Results extends ProcessFunction {
        private final String pipeline;

        public Results(String pipeline) {
            this.pipeline = pipeline;
        }

        public void processElement(Object row, ProcessFunction.Context context, Collector out) {
            out.collect(pipeline + ";" + context.timerService().currentWatermark() + ";" + row);
        }
    }
}
