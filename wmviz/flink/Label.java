package replay;

import org.apache.flink.api.common.functions.MapFunction;

/** Puts the number of a pipeline in front of its lines, so that one job can hold many. */
public class Label implements MapFunction {
    private final String label;

    public Label(String label) {
        this.label = label;
    }

    public Object map(Object line) {
        return label + line;
    }
}
