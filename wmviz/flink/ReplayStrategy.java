package replay;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.*;

/** Flink's bounded out-of-orderness, emitted at fixed places of the stream instead of by the wall clock. */
public class ReplayStrategy implements WatermarkStrategy {
    private final Duration bound;
    private final boolean afterEveryEvent;

    public ReplayStrategy(Duration bound, boolean afterEveryEvent) {
        this.bound = bound;
        this.afterEveryEvent = afterEveryEvent;
    }

    public WatermarkGenerator createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
        return new Generator(bound, afterEveryEvent);
    }

    /** Keeps the largest timestamp and emits it minus bound minus 1 ms: both are inherited from Flink's own class. */
    public static class Generator extends BoundedOutOfOrdernessWatermarks {
        private final boolean afterEveryEvent;

        public Generator(Duration bound, boolean afterEveryEvent) {
            super(bound);
            this.afterEveryEvent = afterEveryEvent;
        }

        public void onEvent(Object row, long timestamp, WatermarkOutput output) {
            boolean tick = timestamp == Long.MIN_VALUE; // a row without a timestamp stands for a periodic tick
            if (!tick) super.onEvent(row, timestamp, output);
            if (tick || afterEveryEvent) super.onPeriodicEmit(output);
        }

        public void onPeriodicEmit(WatermarkOutput output) {
            // Called by the wall clock, which has no say in a replay.
        }
    }
}
