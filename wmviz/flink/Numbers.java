package checks;

import org.apache.flink.api.common.eventtime.SerializableTimestampAssigner;
import org.apache.flink.connector.datagen.source.GeneratorFunction;

/** The numbers from 0 on, each the event of that second. */
public class Numbers implements GeneratorFunction, SerializableTimestampAssigner {
    public Object map(Object number) {
        return number;
    }

    public long extractTimestamp(Object number, long before) {
        return ((Number) number).longValue() * 1000L;
    }
}
