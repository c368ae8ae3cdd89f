package cases;

import java.util.*;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.runtime.state.*;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;

/**
 * Emits rows of a case, text with tabs between: step, op, key, timestamp, value. At a row "checkpoint" it waits for one; at no other row can
 * one be taken, because the lock is held. At "fail_and_restore" it fails, and after the restart goes on behind that row.
 */
public class CrashingSource implements SourceFunction, CheckpointedFunction, CheckpointListener {
    private final String id;
    private final ArrayList rows;
    private final MapFunction begin;
    private volatile boolean running = true;
    private long current = Long.MIN_VALUE;
    private transient volatile boolean waits;
    private transient volatile long taken;
    private transient volatile long completed;
    private transient volatile boolean failed;

    public CrashingSource(String id, ArrayList rows, MapFunction begin) {
        this.id = id;
        this.rows = rows;
        this.begin = begin;
    }

    public void run(SourceFunction.SourceContext out) throws Exception {
        System.getProperties().put("dropped of " + id, Long.valueOf(0));
        int starts = ((Integer) System.getProperties().get("starts of " + id)).intValue();
        System.getProperties().put("starts of " + id, Integer.valueOf(starts + 1));
        int next = ((Integer) System.getProperties().get("position of " + id)).intValue();
        while (running && next < rows.size()) {
            synchronized (out.getCheckpointLock()) {
                while (next < rows.size() && !waits) emit((String) rows.get(next++), next, out);
            }
            while (running && waits) {
                Thread.sleep(1);
                synchronized (out.getCheckpointLock()) {
                    if (taken > 0 && completed >= taken) waits = false;
                }
            }
        }
    }

    private void emit(String row, int next, SourceFunction.SourceContext out) throws Exception {
        begin.map(row);
        String[] parts = row.split("\t", -1);
        if (parts[1].equals("checkpoint")) {
            taken = 0;
            waits = true;
        } else if (parts[1].equals("fail_and_restore")) {
            System.getProperties().put("position of " + id, Integer.valueOf(next));
            failed = true;
            throw new RuntimeException("as the case says");
        } else if (parts[1].equals("watermark")) {
            long watermark = Long.parseLong(parts[3]);
            if (watermark <= current) return; // as behind every strategy
            current = watermark;
            out.emitWatermark(new Watermark(watermark));
        } else if (parts[1].equals("event")) {
            out.collectWithTimestamp(row, Long.parseLong(parts[3]));
        }
    }

    public void cancel() {
        running = false;
    }

    /** The lock is free again before Flink knows of the failure: a checkpoint of that moment must not count. */
    public void snapshotState(FunctionSnapshotContext context) {
        if (failed) throw new RuntimeException("as the case says");
        if (waits && taken == 0) taken = context.getCheckpointId();
    }

    public void initializeState(FunctionInitializationContext context) {}

    public void notifyCheckpointComplete(long checkpointId) {
        completed = checkpointId;
    }
}
