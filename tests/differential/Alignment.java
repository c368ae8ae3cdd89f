package differential;

import java.lang.reflect.*;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.api.connector.source.*;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.metrics.groups.InternalSourceSplitMetricGroup;
import org.apache.flink.runtime.operators.coordination.*;
import org.apache.flink.runtime.source.coordinator.*;
import org.apache.flink.runtime.source.event.*;
import org.apache.flink.streaming.api.operators.SourceOperator;
import org.apache.flink.streaming.api.operators.source.*;
import org.apache.flink.streaming.api.operators.util.PausableRelativeClock;
import org.apache.flink.util.clock.SystemClock;

/**
 * Watermark alignment by Flink's own SourceCoordinator and SourceOperator, made without their constructors: only the fields that alignment
 * needs are set. A case is text: drift and buffer size, then steps, with semicolons between; the answer is a line for each step.
 */
public class Alignment implements Function {
    private StringBuilder answer;
    private CoordinatorStore store;
    private WatermarkAlignmentParams params;
    private Map coordinators;
    private int bufferSize;
    private SourceOperator reader;

    public Object apply(Object text) {
        answer = new StringBuilder();
        String[] steps = ((String) text).split(";");
        try {
            start(steps[0].split(" "));
            for (int i = 1; i < steps.length; i++) {
                Object before = get(reader, SourceOperator.class, "operatingMode").toString();
                take(steps[i].split(" "), before);
                answer.append("\n");
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
        return answer.toString();
    }

    private void start(String[] given) throws Exception {
        params = new WatermarkAlignmentParams(Long.parseLong(given[0]), "group", 1000);
        bufferSize = Integer.parseInt(given[1]);
        store = new CoordinatorStoreImpl();
        coordinators = new HashMap();
        Constructor aggregator =
                Class.forName(SourceCoordinator.class.getName() + "$WatermarkAggregator", true, SourceCoordinator.class.getClassLoader())
                        .getDeclaredConstructor(new Class[0]);
        aggregator.setAccessible(true);
        store.putIfAbsent("group", aggregator.newInstance(new Object[0]));
        reader = (SourceOperator) bare(SourceOperator.class);
        set("operatingMode", mode("READING"));
        set("sampledLatestWatermark", new WatermarkSampler(bufferSize));
        set("sampledSplitWatermarks", new HashMap());
        set("splitMetricGroups", new HashMap());
        set("currentlyPausedSplits", new HashSet());
        set("currentlyIdleSplits", new HashSet());
        set("currentMaxDesiredWatermark", Long.valueOf(Watermark.MAX_WATERMARK.getTimestamp()));
        set("waitingForAlignmentFuture", CompletableFuture.completedFuture(null));
        set("mainInputActivityClock", new PausableRelativeClock(SystemClock.getInstance()));
        set("sourceMetricGroup", bare(org.apache.flink.runtime.metrics.groups.InternalSourceReaderMetricGroup.class));
        set("watermarkAlignmentParams", params);
        set("sourceReader", proxy(SourceReader.class));
        set("eventTimeLogic", proxy(TimestampsAndWatermarks.class));
        set("operatorEventGateway", proxy(OperatorEventGateway.class));
        set("currentMainOutput", proxy(ReaderOutput.class));
    }

    private void take(String[] step, Object before) throws Exception {
        String op = step[0];
        if (op.equals("report")) {
            Object coordinator = coordinator(step[1]);
            Method method =
                    SourceCoordinator.class.getDeclaredMethod("handleReportedWatermark", new Class[] {int.class, Watermark.class});
            method.setAccessible(true);
            method.invoke(coordinator, new Object[] {Integer.valueOf(step[2]), new Watermark(Long.parseLong(step[3]))});
        } else if (op.equals("announce")) {
            announce();
        } else if (op.equals("reader_watermark")) {
            reader.updateCurrentEffectiveWatermark(Long.parseLong(step[1]));
        } else if (op.equals("reader_idle")) {
            reader.updateIdle(Boolean.parseBoolean(step[1]));
        } else if (op.equals("split_watermark")) {
            register(step[1]);
            reader.updateCurrentSplitWatermark(step[1], Long.parseLong(step[2]));
        } else if (op.equals("split_idle")) {
            register(step[1]);
            reader.updateCurrentSplitIdle(step[1], Boolean.parseBoolean(step[2]));
        } else if (op.equals("max_allowed")) {
            set("currentMaxDesiredWatermark", Long.valueOf(step[1])); // what updateMaxDesiredWatermark does beside its metric
            call("checkWatermarkAlignment");
            call("checkSplitWatermarkAlignment");
        } else {
            call("sampleAndEmitLatestWatermark");
        }
        String after = get(reader, SourceOperator.class, "operatingMode").toString();
        if (!after.equals(before)) answer.append(after.equals("READING") ? "resumed," : "paused,");
    }

    /** The watermark of the group is Flink's; the sum is that of announceCombinedWatermark, which needs gateways to send it. */
    private void announce() throws Exception {
        if (coordinators.isEmpty()) return;
        Object group = store.get("group");
        Method method = group.getClass().getDeclaredMethod("getAggregatedWatermark", new Class[0]);
        method.setAccessible(true);
        long smallest = ((Watermark) method.invoke(group, new Object[0])).getTimestamp();
        long allowed;
        try {
            allowed = Math.addExact(smallest, params.getMaxAllowedWatermarkDrift());
        } catch (ArithmeticException e) {
            allowed = Watermark.MAX_WATERMARK.getTimestamp();
        }
        answer.append("allowed " + allowed + ",");
    }

    private Object coordinator(String name) throws Exception {
        if (!coordinators.containsKey(name)) {
            Object made = bare(SourceCoordinator.class);
            Constructor aggregator = store.get("group").getClass().getDeclaredConstructor(new Class[0]);
            aggregator.setAccessible(true);
            set(made, SourceCoordinator.class, "combinedWatermark", aggregator.newInstance(new Object[0]));
            set(made, SourceCoordinator.class, "watermarkAlignmentParams", params);
            set(made, SourceCoordinator.class, "operatorName", name);
            set(made, SourceCoordinator.class, "coordinatorStore", store);
            set(made, SourceCoordinator.class, "context", bare(SourceCoordinatorContext.class));
            coordinators.put(name, made);
        }
        return coordinators.get(name);
    }

    private void register(String split) throws Exception {
        Map samplers = (Map) get(reader, SourceOperator.class, "sampledSplitWatermarks");
        if (samplers.containsKey(split)) return;
        samplers.put(split, new WatermarkSampler(bufferSize));
        Gauge none =
                new Gauge() {
                    public Object getValue() {
                        return Long.valueOf(0);
                    }
                };
        ((Map) get(reader, SourceOperator.class, "splitMetricGroups"))
                .put(split, InternalSourceSplitMetricGroup.mock(new UnregisteredMetricsGroup(), split, none));
    }

    private void call(String name) throws Exception {
        Method method = SourceOperator.class.getDeclaredMethod(name, new Class[0]);
        method.setAccessible(true);
        method.invoke(reader, new Object[0]);
    }

    private Object proxy(Class type) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class[] {type}, new Note());
    }

    private class Note implements InvocationHandler {
        public Object invoke(Object self, Method method, Object[] given) {
            if (method.getName().equals("sendEventToCoordinator")) {
                answer.append("reported " + ((ReportedWatermarkEvent) given[0]).getWatermark() + ",");
            } else if (method.getName().equals("pauseOrResumeSplits") && self instanceof SourceReader) {
                note("splits_paused", (Collection) given[0]);
                note("splits_resumed", (Collection) given[1]);
            }
            return null;
        }

        private void note(String what, Collection splits) {
            if (!splits.isEmpty()) answer.append(what + " " + new TreeSet(splits).toString().replace(", ", "+") + ",");
        }
    }

    private static Object mode(String name) throws Exception {
        Class modes = Class.forName(SourceOperator.class.getName() + "$OperatingMode", true, SourceOperator.class.getClassLoader());
        return Enum.valueOf(modes, name);
    }

    private static Object bare(Class type) throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return ((sun.misc.Unsafe) field.get(null)).allocateInstance(type);
    }

    private void set(String name, Object value) throws Exception {
        set(reader, SourceOperator.class, name, value);
    }

    private static void set(Object of, Class type, String name, Object value) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
    }

    private static Object get(Object of, Class type, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }
}
