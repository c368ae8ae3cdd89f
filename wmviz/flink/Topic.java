package topic;

import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import org.apache.flink.api.connector.source.*;
import org.apache.flink.core.io.*;
import org.apache.flink.metrics.groups.SplitEnumeratorMetricGroup;

/**
 * Stands for a topic in a message log: partitions that runners' phones write to all the time, read as a Kafka source
 * would read them, partition p by subtask p % parallelism. A line is "runner,metres,event time in ms"; the timestamp of
 * the record is the event time too, as where a producer sets it. Most events are up to 300 ms old when they arrive.
 */
public class Topic implements Source {
    private final int partitions;
    private final int perSecond;
    private int silent = -1;
    private long silentAfter = Long.MAX_VALUE;
    private int each = 0;
    private long late = 0;
    private long unit = 1;

    /** So many partitions, with so many events a second in each. */
    public Topic(int partitions, int perSecond) {
        this.partitions = partitions;
        this.perSecond = perSecond;
    }

    /** Nothing is written to this partition any more, so many ms after the start. */
    public Topic silent(int partition, long afterMs) {
        this.silent = partition;
        this.silentAfter = afterMs;
        return this;
    }

    /** One event out of so many was kept on the phone and is so many ms old. */
    public Topic late(int oneOutOf, long ms) {
        this.each = oneOutOf;
        this.late = ms;
        return this;
    }

    /** The phones write their time in seconds; the records have no timestamp of their own. */
    public Topic inSeconds() {
        this.unit = 1000;
        return this;
    }

    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    public SourceReader createReader(SourceReaderContext context) {
        return new Reader(this, context);
    }

    public SplitEnumerator createEnumerator(SplitEnumeratorContext context) {
        List all = new ArrayList();
        for (int partition = 0; partition < partitions; partition++) {
            all.add(new Partition(partition));
        }
        return new Enumerator(context, all);
    }

    public SplitEnumerator restoreEnumerator(SplitEnumeratorContext context, Object notYetGiven) {
        return new Enumerator(context, (List) notYetGiven);
    }

    public SimpleVersionedSerializer getSplitSerializer() {
        return new Plain();
    }

    public SimpleVersionedSerializer getEnumeratorCheckpointSerializer() {
        return new Plain();
    }

    public static class Partition implements SourceSplit, Serializable {
        final int number;

        Partition(int number) {
            this.number = number;
        }

        public String splitId() {
            return "runs-" + number;
        }
    }

    /** Gives each subtask its partitions when it registers. */
    public static class Enumerator implements SplitEnumerator {
        private final SplitEnumeratorContext context;
        private final List left;

        Enumerator(SplitEnumeratorContext context, List left) {
            this.context = context;
            this.left = new ArrayList(left);
        }

        public void start() {}

        public void handleSplitRequest(int subtask, String host) {}

        public void addSplitsBack(List splits, int subtask) {
            left.addAll(splits);
            if (context.registeredReaders().containsKey(Integer.valueOf(subtask))) {
                addReader(subtask);
            }
        }

        public void addReader(int subtask) {
            for (Object each : new ArrayList(left)) {
                Partition partition = (Partition) each;
                if (partition.number % context.currentParallelism() == subtask) {
                    left.remove(each);
                    context.assignSplit(partition, subtask);
                }
            }
        }

        public Object snapshotState(long checkpoint) {
            return new ArrayList(left);
        }

        public void close() {}
    }

    /** Hands on the events that are due; between them it has nothing, and says so. */
    public static class Reader implements SourceReader {
        private final Topic topic;
        private final int subtask;
        private final long began = System.currentTimeMillis();
        private final List partitions = new ArrayList();
        private final Map read = new HashMap();
        private CompletableFuture due = new CompletableFuture();

        Reader(Topic topic, SourceReaderContext context) {
            this.topic = topic;
            this.subtask = context.getIndexOfSubtask();
        }

        public void start() {}

        public InputStatus pollNext(ReaderOutput output) throws Exception {
            long now = System.currentTimeMillis();
            for (Object each : partitions) {
                Partition partition = (Partition) each;
                long done = ((Long) read.get(partition.splitId())).longValue();
                long at = began + done * 1000L / topic.perSecond;
                boolean writes = partition.number != topic.silent || at < began + topic.silentAfter;
                if (writes && at <= now) {
                    read.put(partition.splitId(), Long.valueOf(done + 1));
                    collect(output.createOutputForSplit(partition.splitId()), partition.number, done, now);
                    return InputStatus.MORE_AVAILABLE;
                }
            }
            return InputStatus.NOTHING_AVAILABLE;
        }

        private void collect(SourceOutput output, int partition, long number, long now) {
            boolean isLate = topic.each > 0 && number % topic.each == topic.each - 1;
            long happened = now - (isLate ? topic.late : number * 37 % 300);
            String line = "r" + (partition * 10 + number % 7) + ",1000," + happened / topic.unit;
            if (topic.unit == 1) {
                output.collect(line, happened);
            } else {
                output.collect(line);
            }
        }

        public CompletableFuture isAvailable() {
            if (partitions.isEmpty()) {
                return due;
            }
            CompletableFuture soon = new CompletableFuture();
            CompletableFuture.delayedExecutor(1000 / topic.perSecond / 2 + 1, TimeUnit.MILLISECONDS)
                    .execute(new Complete(soon));
            return soon;
        }

        public void addSplits(List splits) {
            for (Object each : splits) {
                partitions.add(each);
                read.put(((Partition) each).splitId(), Long.valueOf(0));
            }
            due.complete(null);
        }

        public List snapshotState(long checkpoint) {
            return new ArrayList(partitions);
        }

        public void notifyNoMoreSplits() {}

        public void notifyCheckpointComplete(long checkpoint) {}

        public void pauseOrResumeSplits(Collection pause, Collection resume) {}

        public void close() {}
    }

    public static class Complete implements Runnable {
        private final CompletableFuture future;

        Complete(CompletableFuture future) {
            this.future = future;
        }

        public void run() {
            future.complete(null);
        }
    }

    /** Java's own serialization, which is enough for a few partitions. */
    public static class Plain implements SimpleVersionedSerializer {
        public int getVersion() {
            return 1;
        }

        public byte[] serialize(Object object) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            ObjectOutputStream out = new ObjectOutputStream(bytes);
            out.writeObject(object);
            out.flush();
            return bytes.toByteArray();
        }

        public Object deserialize(int version, byte[] bytes) throws IOException {
            try {
                return new Input(new ByteArrayInputStream(bytes)).readObject();
            } catch (ClassNotFoundException error) {
                throw new IOException(error);
            }
        }
    }

    /** Finds the classes of the job, which are not those of the cluster. */
    public static class Input extends ObjectInputStream {
        Input(InputStream in) throws IOException {
            super(in);
        }

        protected Class resolveClass(ObjectStreamClass found) throws ClassNotFoundException {
            return Class.forName(found.getName(), false, Topic.class.getClassLoader());
        }
    }
}
