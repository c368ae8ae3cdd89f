package differential;

import java.time.ZoneId;
import java.util.StringTokenizer;
import java.util.function.Function;
import org.apache.flink.table.runtime.util.TimeWindowUtil;

/** Flink's conversions between the clock of a zone and epoch milliseconds: a line names the function, the zone and the time. */
public class Zones implements Function {
    public Object apply(Object questions) {
        StringBuilder answers = new StringBuilder();
        StringTokenizer lines = new StringTokenizer((String) questions, "\n");
        while (lines.hasMoreTokens()) {
            String[] parts = lines.nextToken().split(" ");
            try {
                answers.append(convert(parts[0], ZoneId.of(parts[1]), Long.parseLong(parts[2]))).append("\n");
            } catch (ArithmeticException e) {
                answers.append("overflow\n");
            }
        }
        return answers.toString();
    }

    private static long convert(String what, ZoneId zone, long ms) {
        if (what.equals("local")) return TimeWindowUtil.toUtcTimestampMills(ms, zone);
        if (what.equals("timer")) return TimeWindowUtil.toEpochMillsForTimer(ms, zone);
        throw new IllegalStateException("no conversion " + what);
    }
}
