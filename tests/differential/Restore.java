package differential;

import java.lang.reflect.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import org.apache.flink.api.common.state.*;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.checkpoint.*;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.metrics.groups.AbstractMetricGroup;
import org.apache.flink.runtime.state.*;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.operators.*;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.assigners.*;
import org.apache.flink.streaming.api.windowing.triggers.*;
import org.apache.flink.streaming.api.windowing.windows.*;
import org.apache.flink.streaming.runtime.operators.windowing.*;
import org.apache.flink.streaming.runtime.streamrecord.*;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeServiceUtil;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.*;
import org.apache.flink.util.clock.*;
import org.apache.flink.util.function.BiConsumerWithException;

/**
 * Flink's WindowOperator with its own state backend: snapshots of it are taken, and others start with them. It lives inside an operator of a
 * running job, which lends it its task. Each element of that job is a case, and its answer: parameters, then steps, with tabs between.
 */
public class Restore extends AbstractStreamOperator implements OneInputStreamOperator {
    public void processElement(StreamRecord record) throws Exception {
        output.collect(new StreamRecord(new Run(this, ((String) record.getValue()).split("\t")).text.toString()));
    }

    public static Map pairs(String text) {
        HashMap found = new HashMap();
        StringTokenizer words = new StringTokenizer(text, " ");
        while (words.hasMoreTokens()) {
            String[] pair = words.nextToken().split("=", 2);
            found.put(pair[0], pair[1]);
        }
        return found;
    }

    public static long number(Map of, String name, long without) {
        Object value = of.get(name);
        return value == null || value.equals("None") ? without : Long.parseLong((String) value);
    }

    public static String text(Map of, String name, String without) {
        Object value = of.get(name);
        return value == null || value.equals("None") ? without : (String) value;
    }

    public static String bounds(Object window) {
        if (!(window instanceof TimeWindow)) return "global";
        return ((TimeWindow) window).getStart() + ":" + ((TimeWindow) window).getEnd();
    }

    /** An element is its number within the case, its key and its value, with tabs between. */
    public static class Key implements KeySelector {
        public Object getKey(Object row) {
            return ((String) row).split("\t", -1)[0];
        }
    }

    public static String values(Iterable rows) {
        ArrayList found = new ArrayList();
        Iterator each = rows.iterator();
        while (each.hasNext()) found.add(((String) each.next()).split("\t", -1)[1]);
        Collections.sort(found);
        return String.join(",", found);
    }

    /** One case: operators one after the other, each with the state of a snapshot. */
    public static class Run {
        public final StringBuilder text = new StringBuilder();
        public final OutputTag late = new OutputTag("late", Types.STRING);
        private final Restore inside;
        private final Map params;
        private final LinkedHashMap snapshots = new LinkedHashMap();
        private final ManualClock clock = new ManualClock();
        private int step;
        private String value;
        private long lateness;
        private WindowOperator operator;
        private Timers timers;
        private long watermark;

        public Run(Restore inside, String[] parts) throws Exception {
            this.inside = inside;
            params = pairs(parts[1]);
            lateness = number(params, "lateness_ms", 0);
            try {
                start(OperatorSubtaskState.builder().build(), false);
                for (step = 0; step < parts.length - 2; step++) take(pairs(parts[step + 2]));
            } catch (Exception e) {
                put("error " + e.getClass().getSimpleName());
            }
            operator.close();
        }

        public void put(String what) {
            if (text.length() > 0) text.append("\t");
            text.append(step).append(" ").append(what);
        }

        private void take(Map given) throws Exception {
            String op = (String) given.get("op");
            if (op.equals("event")) element(given);
            else if (op.equals("watermark")) watermark(number(given, "ts", 0));
            else if (op.equals("clock")) timers.advance(number(given, "at_ms", 0));
            else if (op.equals("checkpoint")) snapshot(given);
            else if (op.equals("fail_and_restore")) restore(given);
            else if (op.equals("state")) state();
            else if (!op.equals("finish")) throw new RuntimeException("no step " + op);
        }

        private void element(Map given) throws Exception {
            value = text(given, "v", "");
            long dropped = dropped();
            StreamRecord record = new StreamRecord(text(given, "key", "k") + "\t" + value);
            record.setTimestamp(number(given, "ts", Long.MIN_VALUE));
            operator.setKeyContextElement1(record);
            operator.processElement(record);
            if (dropped() > dropped) put("dropped " + value);
        }

        private long dropped() throws Exception {
            return ((Counter) field("numLateRecordsDropped")).getCount();
        }

        private Object field(String name) throws Exception {
            Field field = WindowOperator.class.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(operator);
        }

        private void watermark(long time) throws Exception {
            if (time <= watermark) return; // as behind every strategy
            watermark = time;
            operator.processWatermark(new Watermark(time));
        }

        private void snapshot(Map given) throws Exception {
            MemCheckpointStreamFactory memory = new MemCheckpointStreamFactory(10000000);
            SnapshotType type = SavepointType.savepoint(SavepointFormatType.CANONICAL); // what a stopped job leaves
            if (!text(given, "savepoint", "False").equals("True")) type = CheckpointType.CHECKPOINT;
            CheckpointOptions options = new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault());
            OperatorSnapshotFutures futures = operator.snapshotState(1, 1, options, memory);
            snapshots.put(given.get("id"), OperatorSnapshotFinalizer.create(futures).getJobManagerOwnedState());
        }

        private void restore(Map given) throws Exception {
            operator.close();
            Object id = given.get("id");
            Iterator ids = snapshots.keySet().iterator();
            while (given.get("id") == null && ids.hasNext()) id = ids.next();
            Object state = snapshots.get(id);
            lateness = number(given, "lateness_ms", lateness);
            new Timers(clock).advance(number(given, "at_ms", 0)); // the machine's clock goes on while nothing runs
            start(state == null ? OperatorSubtaskState.builder().build() : (OperatorSubtaskState) state, state != null);
            timers.advance(clock.absoluteTimeMillis());
        }

        private void start(OperatorSubtaskState state, boolean restored) throws Exception {
            WindowOperatorBuilder builder = new WindowOperatorBuilder(
                    assigner(), trigger(), inside.getExecutionConfig(), Types.STRING, new Key(), Types.STRING);
            builder.allowedLateness(Duration.ofMillis(lateness));
            if (text(params, "side_output", "False").equals("True")) builder.sideOutputLateData(late);
            operator = (WindowOperator) builder.process(new Fire(this));
            watermark = Long.MIN_VALUE;
            timers = new Timers(clock);
            operator.setProcessingTimeService(timers);
            StreamConfig config = new StreamConfig(new Configuration());
            config.setOperatorID(new OperatorID(1, 1));
            config.setOperatorName("restored");
            config.setStatePartitioner(0, new Key());
            config.setStateKeySerializer(StringSerializer.INSTANCE);
            config.setManagedMemoryFractionOperatorOfUseCase(ManagedMemoryUseCase.STATE_BACKEND, 0.1);
            config.serializeAllConfigs();
            operator.setup(inside.getContainingTask(), config, new Side(this));
            ((AbstractMetricGroup) operator.getMetricGroup()).close(); // thousands of operators would fill the registry
            Environment environment = inside.getContainingTask().getEnvironment();
            Stored stored = new Stored(environment, state, restored ? Long.valueOf(1) : null);
            operator.initializeState(new StreamTaskStateInitializerImpl(stored.environment(), new HashMapStateBackend()));
            operator.open();
        }

        private WindowAssigner assigner() {
            String name = text(params, "assigner", "session");
            boolean clock = text(params, "time", "event").equals("processing");
            Duration size = Duration.ofMillis(number(params, "size_ms", 0));
            Duration slide = Duration.ofMillis(number(params, "slide_ms", 0));
            Duration offset = Duration.ofMillis(number(params, "offset_ms", 0));
            Duration gap = Duration.ofMillis(number(params, "gap_ms", 0));
            if (name.equals("global")) return GlobalWindows.create();
            if (name.equals("tumbling") && clock) return TumblingProcessingTimeWindows.of(size, offset);
            if (name.equals("tumbling")) return TumblingEventTimeWindows.of(size, offset);
            if (name.equals("sliding") && clock) return SlidingProcessingTimeWindows.of(size, slide, offset);
            if (name.equals("sliding")) return SlidingEventTimeWindows.of(size, slide, offset);
            return clock ? (WindowAssigner) ProcessingTimeSessionWindows.withGap(gap) : EventTimeSessionWindows.withGap(gap);
        }

        private Trigger trigger() {
            String name = text(params, "trigger", "default");
            String base = name.startsWith("purging_") ? name.substring(8) : name;
            Trigger trigger = assigner().getDefaultTrigger();
            if (base.startsWith("count:")) trigger = CountTrigger.of(Long.parseLong(base.substring(6)));
            if (base.equals("end_of_stream")) trigger = GlobalWindows.createWithEndOfStreamTrigger().getDefaultTrigger();
            return name.equals(base) ? trigger : PurgingTrigger.of(trigger);
        }

        private String contents(KeyedStateBackend backend, Object window) throws Exception {
            TypeSerializer windows = assigner().getWindowSerializer(inside.getExecutionConfig());
            Object kept = ((ListState) backend.getPartitionedState(window, windows, operator.getStateDescriptor())).get();
            return kept == null ? "" : values((Iterable) kept);
        }

        /** What is kept for each key and window, contents and timers. */
        private void state() throws Exception {
            TreeMap found = new TreeMap();
            KeyedStateBackend backend = operator.getKeyedStateBackend();
            boolean merges = assigner() instanceof MergingWindowAssigner;
            Iterator all = backend.getKeysAndNamespaces(merges ? "merging-window-set" : "window-contents").iterator();
            while (all.hasNext()) {
                Tuple2 each = (Tuple2) all.next();
                backend.setCurrentKey(each.f0);
                if (!merges) entry(found, each.f0, each.f1)[0] = contents(backend, each.f1);
                else {
                    Iterator mapped = ((Iterable) ((ListState) field("mergingSetsState")).get()).iterator();
                    while (mapped.hasNext()) {
                        Tuple2 to = (Tuple2) mapped.next();
                        entry(found, each.f0, to.f0)[0] = contents(backend, to.f1);
                    }
                }
            }
            Noting noting = new Noting(backend, found);
            InternalTimerService service = (InternalTimerService) field("internalTimerService");
            service.forEachEventTimeTimer(noting);
            service.forEachProcessingTimeTimer(noting);
            Iterator entries = found.entrySet().iterator();
            StringBuilder kept = new StringBuilder("state ");
            while (entries.hasNext()) {
                Map.Entry each = (Map.Entry) entries.next();
                String[] of = (String[]) each.getValue();
                if (!of[0].equals("") || !of[1].equals("")) {
                    kept.append(each.getKey() + "=" + of[0] + "=" + of[1] + ";");
                }
            }
            put(kept.toString());
        }
    }

    public static String[] entry(Map found, Object key, Object window) {
        String name = key + "=" + bounds(window);
        if (!found.containsKey(name)) found.put(name, new String[] {"", ""});
        return (String[]) found.get(name);
    }

    public static class Noting implements BiConsumerWithException {
        private final KeyedStateBackend backend;
        private final Map found;

        public Noting(KeyedStateBackend backend, Map found) {
            this.backend = backend;
            this.found = found;
        }

        public void accept(Object window, Object time) {
            String[] of = entry(found, backend.getCurrentKey(), window);
            of[1] = of[1] + (of[1].equals("") ? "" : ",") + time;
        }
    }

    /** Notes each firing. */
    public static class Fire extends ProcessWindowFunction {
        private final transient Run run;

        public Fire(Run run) {
            this.run = run;
        }

        public void process(Object key, ProcessWindowFunction.Context context, Iterable rows, Collector out) {
            run.put("fire " + key + " " + bounds(context.window()) + " " + context.currentWatermark() + " " + values(rows));
        }
    }

    /** Notes each late element. */
    public static class Side implements Output {
        private final Run run;

        public Side(Run run) {
            this.run = run;
        }

        public void collect(OutputTag tag, StreamRecord record) {
            run.put("late_side " + ((String) record.getValue()).split("\t", -1)[1]);
        }

        public void collect(Object record) {}

        public void emitWatermark(Watermark mark) {}

        public void emitWatermark(WatermarkEvent event) {}

        public void emitWatermarkStatus(WatermarkStatus status) {}

        public void emitLatencyMarker(LatencyMarker marker) {}

        public void emitRecordAttributes(RecordAttributes attributes) {}

        public void close() {}
    }

    /** The environment of the task, but with the state of our choice. */
    public static class Stored implements InvocationHandler {
        private final Environment environment;
        private final OperatorSubtaskState state;
        private final Long checkpoint;

        public Stored(Environment environment, OperatorSubtaskState state, Long checkpoint) {
            this.environment = environment;
            this.state = state;
            this.checkpoint = checkpoint;
        }

        public Environment environment() {
            return (Environment) proxy(Environment.class);
        }

        private Object proxy(Class of) {
            return Proxy.newProxyInstance(getClass().getClassLoader(), new Class[] {of}, this);
        }

        public Object invoke(Object proxy, Method method, Object[] given) throws Throwable {
            if (method.getName().equals("getTaskStateManager")) return proxy(TaskStateManager.class);
            if (method.getName().equals("prioritizedOperatorState")) {
                return new PrioritizedOperatorSubtaskState.Builder(state, new ArrayList(), checkpoint).build();
            }
            boolean isState = method.getDeclaringClass().equals(TaskStateManager.class);
            return method.invoke(isState ? (Object) environment.getTaskStateManager() : environment, given);
        }
    }

    /** Processing-time timers as Flink's ProcessingTimeServiceImpl sets them, on a clock of ours. */
    public static class Timers implements org.apache.flink.streaming.runtime.tasks.ProcessingTimeService {
        private final ManualClock clock;
        private final ArrayList waiting = new ArrayList();

        public Timers(ManualClock clock) {
            this.clock = clock;
        }

        public Clock getClock() {
            return clock;
        }

        public ScheduledFuture registerTimer(long time, org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback callback) {
            long now = clock.absoluteTimeMillis();
            One one = new One(this, now + ProcessingTimeServiceUtil.getProcessingTimeDelay(time, now), time, callback);
            waiting.add(one);
            return one;
        }

        public void advance(long to) throws Exception {
            One next;
            while ((next = first(to)) != null) {
                waiting.remove(next);
                set(next.due);
                next.callback.onProcessingTime(next.time);
            }
            set(to);
        }

        private One first(long to) {
            One first = null;
            for (int i = 0; i < waiting.size(); i++) {
                One each = (One) waiting.get(i);
                if (each.due <= to && (first == null || each.due < first.due)) first = each;
            }
            return first;
        }

        private void set(long to) {
            if (to > clock.absoluteTimeMillis()) clock.advanceTime(to - clock.absoluteTimeMillis(), TimeUnit.MILLISECONDS);
        }

        public ScheduledFuture scheduleAtFixedRate(org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback callback, long delay, long period) {
            throw new UnsupportedOperationException();
        }

        public ScheduledFuture scheduleWithFixedDelay(org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback callback, long delay, long period) {
            throw new UnsupportedOperationException();
        }

        public CompletableFuture quiesce() {
            return CompletableFuture.completedFuture(null);
        }
    }

    public static class One extends FutureTask implements ScheduledFuture {
        public final long due;
        public final long time;
        public final org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback callback;
        private final Timers timers;

        public One(Timers timers, long due, long time, org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback callback) {
            super(new Nothing());
            this.timers = timers;
            this.due = due;
            this.time = time;
            this.callback = callback;
        }

        public boolean cancel(boolean now) {
            return timers.waiting.remove(this);
        }

        public long getDelay(TimeUnit unit) {
            return 0;
        }

        public int compareTo(Object other) {
            return 0;
        }
    }

    public static class Nothing implements Callable {
        public Object call() {
            return null;
        }
    }
}
