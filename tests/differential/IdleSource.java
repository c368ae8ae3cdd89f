package differential;

import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.connector.datagen.source.GeneratorFunction;

/** A bounded source whose events are a second of event time apart; its text is of the form that CaseJob reads. */
public class IdleSource implements GeneratorFunction {
    public Object map(Object number) {
        return "0\tevent\tk\t" + 1000 * ((Long) number).longValue() + "\tv";
    }

    public static class Stamps implements TimestampAssignerSupplier {
        public TimestampAssigner createTimestampAssigner(TimestampAssignerSupplier.Context context) {
            return new Stamp();
        }
    }

    public static class Stamp implements TimestampAssigner {
        public long extractTimestamp(Object row, long before) {
            return Long.parseLong(((String) row).split("\t", -1)[3]);
        }
    }
}
