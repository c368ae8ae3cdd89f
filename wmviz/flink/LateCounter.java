package replay;

import java.util.Properties;
import org.apache.flink.metrics.*;
import org.apache.flink.metrics.reporter.*;

/** A metric reporter, which is how numbers leave Flink: it keeps every window's counter of dropped late records. */
public class LateCounter implements MetricReporter, MetricReporterFactory {
    public MetricReporter createMetricReporter(Properties settings) {
        return this;
    }

    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        if (name.equals("numLateRecordsDropped")) {
            System.getProperties().put(name + " of " + group.getAllVariables().get("<operator_name>"), metric);
        }
    }

    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {}

    public void open(MetricConfig settings) {}

    public void close() {}
}
