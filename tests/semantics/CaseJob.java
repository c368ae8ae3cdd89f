package cases;

import java.util.*;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.api.common.functions.*;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.operators.*;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.windowing.assigners.WindowAssigner;
import org.apache.flink.streaming.api.windowing.triggers.*;
import org.apache.flink.streaming.api.windowing.windows.*;
import org.apache.flink.streaming.runtime.streamrecord.*;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * What a conformance case needs to run on Flink itself. The whole job is one chain in one thread, so what comes out while a row is
 * handled was caused by that row. A row is text: step, op, key, timestamp, value, with tabs between.
 */
public class CaseJob {
    /** What came out of a case, a line each; it leaves Flink through the system properties. */
    public static class Journal implements java.io.Serializable {
        private final String id;

        public Journal(String id) {
            this.id = id;
        }

        public void begin(String row) {
            noteDropped();
            System.getProperties().put("row of " + id, row);
        }

        public void put(String what) {
            ((List) System.getProperties().get("journal of " + id)).add(step() + "\t" + what);
        }

        private String[] row() {
            return ((String) System.getProperties().get("row of " + id)).split("\t", -1);
        }

        private String step() {
            return row()[0];
        }

        private void noteDropped() {
            Counter counter = (Counter) System.getProperties().get("numLateRecordsDropped of window of " + id);
            Number before = (Number) System.getProperties().get("dropped of " + id);
            if (counter != null && counter.getCount() > before.longValue()) {
                System.getProperties().put("dropped of " + id, Long.valueOf(counter.getCount()));
                put("dropped\t" + row()[4]);
            }
        }
    }

    /** Begins the step of each row. */
    public static class Begin implements MapFunction {
        private final Journal journal;

        public Begin(Journal journal) {
            this.journal = journal;
        }

        public Object map(Object row) {
            journal.begin((String) row);
            return row;
        }
    }

    /** Rows of watermarks become watermarks; the others carry their own timestamp. */
    public static class Strategy implements WatermarkStrategy {
        public TimestampAssigner createTimestampAssigner(TimestampAssignerSupplier.Context context) {
            return new Stamp();
        }

        public WatermarkGenerator createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
            return new Generator();
        }
    }

    public static class Stamp implements TimestampAssigner {
        public long extractTimestamp(Object row, long before) {
            return Long.parseLong(((String) row).split("\t", -1)[3]);
        }
    }

    public static class Generator implements WatermarkGenerator {
        public void onEvent(Object row, long timestamp, WatermarkOutput output) {
            if (((String) row).split("\t", -1)[1].equals("watermark")) output.emitWatermark(new Watermark(timestamp));
        }

        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    /** Lets events through. */
    public static class Events implements FilterFunction {
        public boolean filter(Object row) {
            return ((String) row).split("\t", -1)[1].equals("event");
        }
    }

    public static class Key implements KeySelector {
        public Object getKey(Object row) {
            return ((String) row).split("\t", -1)[2];
        }
    }

    /** Notes each firing. */
    public static class Fire extends ProcessWindowFunction {
        private final Journal journal;

        public Fire(Journal journal) {
            this.journal = journal;
        }

        public void process(Object key, ProcessWindowFunction.Context context, Iterable rows, Collector out) {
            Object window = context.window();
            String bounds = "global\t";
            if (window instanceof TimeWindow) {
                bounds = ((TimeWindow) window).getStart() + "\t" + ((TimeWindow) window).getEnd();
            }
            StringBuilder line = new StringBuilder("fire\t" + key + "\t" + bounds + "\t" + context.currentWatermark());
            Iterator each = rows.iterator();
            while (each.hasNext()) line.append("\t").append(((String) each.next()).split("\t", -1)[4]);
            journal.put(line.toString());
        }
    }

    /** Notes each late event of the side output. */
    public static class Late implements MapFunction {
        private final Journal journal;

        public Late(Journal journal) {
            this.journal = journal;
        }

        public Object map(Object row) {
            journal.put("late_side\t" + ((String) row).split("\t", -1)[4]);
            return row;
        }
    }

    /** Notes each watermark behind the window operator. */
    public static class Watermarks extends AbstractStreamOperator implements OneInputStreamOperator {
        private final Journal journal;

        public Watermarks(Journal journal) {
            this.journal = journal;
        }

        public void processElement(StreamRecord record) {}

        public void processWatermark(org.apache.flink.streaming.api.watermark.Watermark mark) throws Exception {
            journal.put("watermark\t" + mark.getTimestamp());
            super.processWatermark(mark);
        }
    }

    /** Assigners ask for the time of the machine to stagger windows, which they do not do by default. */
    public static class Clock extends WindowAssigner.WindowAssignerContext {
        public long getCurrentProcessingTime() {
            return 0;
        }
    }

    /** Takes what a generator emits directly. */
    public static class Emitted implements WatermarkOutput {
        private List watermarks = new ArrayList();

        public List take() {
            List taken = watermarks;
            watermarks = new ArrayList();
            return taken;
        }

        public void emitWatermark(Watermark mark) {
            watermarks.add(Long.valueOf(mark.getTimestamp()));
        }

        public void markIdle() {}

        public void markActive() {}
    }

    /** Takes what comes through Flink's filter behind a generator. */
    public static class Passed implements Output {
        private List watermarks = new ArrayList();

        public List take() {
            List taken = watermarks;
            watermarks = new ArrayList();
            return taken;
        }

        public void emitWatermark(org.apache.flink.streaming.api.watermark.Watermark mark) {
            watermarks.add(Long.valueOf(mark.getTimestamp()));
        }

        public void emitWatermarkStatus(WatermarkStatus status) {}

        public void collect(Object record) {}

        public void collect(OutputTag tag, StreamRecord record) {}

        public void emitLatencyMarker(LatencyMarker marker) {}

        public void emitRecordAttributes(RecordAttributes attributes) {}

        public void emitWatermark(WatermarkEvent event) {}

        public void close() {}
    }

    /**
     * Asks another trigger. Flink sorts the input of a job with its end-of-stream trigger and runs it after the end of the input,
     * so that no step could be told from another; behind this class the trigger acts as it comes.
     */
    public static class Asks extends Trigger {
        private final Trigger asked;

        public Asks(Trigger asked) {
            this.asked = asked;
        }

        public TriggerResult onElement(Object row, long timestamp, Window window, Trigger.TriggerContext context) throws Exception {
            return asked.onElement(row, timestamp, window, context);
        }

        public TriggerResult onEventTime(long time, Window window, Trigger.TriggerContext context) throws Exception {
            return asked.onEventTime(time, window, context);
        }

        public TriggerResult onProcessingTime(long time, Window window, Trigger.TriggerContext context) throws Exception {
            return asked.onProcessingTime(time, window, context);
        }

        public void clear(Window window, Trigger.TriggerContext context) throws Exception {
            asked.clear(window, context);
        }
    }
}
