import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import org.apache.flink.api.common.eventtime.*;
import org.apache.flink.api.common.functions.*;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.*;
import org.apache.flink.runtime.state.*;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.*;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.*;
import org.apache.flink.streaming.api.windowing.windows.*;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.util.*;
import topic.Topic;

/** The jobs that README.md lists, for Flink 2; record.py writes a few names in it as older versions have them. */
public class Jobs {
    static final OutputTag<String> LATE = new OutputTag<String>("late") {};
    static StreamExecutionEnvironment env;

    public static void main(String[] args) throws Exception {
        if (args[0].endsWith(".sql")) {
            sql(args[0]);
            return;
        }
        env = StreamExecutionEnvironment.getExecutionEnvironment(settings(args[0]));
        env.setParallelism(args[0].endsWith("-in-one") || args[0].endsWith("-in-one-subtask") ? 1 : 2);
        build(args[0]);
        env.execute(args[0]);
    }

    static Configuration settings(String name) {
        Map<String, String> chosen = new HashMap<>();
        chosen.put("execution.checkpointing.interval", "5 s");
        if (name.startsWith("checkpoints-")) {
            chosen.put("execution.checkpointing.tolerable-failed-checkpoints", "1000");
        }
        if (name.equals("checkpoints-time-out")) {
            chosen.put("execution.checkpointing.timeout", "2 s");
        }
        if (name.equals("fails")) {
            chosen.put("restart-strategy.type", "fixed-delay");
            chosen.put("restart-strategy.fixed-delay.attempts", "1000");
            chosen.put("restart-strategy.fixed-delay.delay", "1 s");
        }
        return Configuration.fromMap(chosen);
    }

    static void build(String name) {
        Topic one = new Topic(1, 20);
        Topic two = new Topic(2, 20);
        switch (name) {
            case "steady-traffic": total(runs(two, bound(2000))); break;
            case "quiet-partition":
                total(runs(two.silent(1, 5000), bound(2000).withIdleness(Duration.ofSeconds(3)))); break;
            case "after-source":
                total(runs(two, none()).assignTimestampsAndWatermarks(bound(2000).withTimestampAssigner(Jobs::time)));
                break;
            case "no-watermarks-no-windows":
                runs(two, none()).rebalance().map(String::toUpperCase).sinkTo(new DiscardingSink<String>()); break;
            case "processing-time":
                runs(two, none()).keyBy(Jobs::runner).window(TumblingProcessingTimeWindows.of(Duration.ofSeconds(5)))
                    .process(new Total<TimeWindow>()).sinkTo(new DiscardingSink<String>());
                break;
            case "aligned": total(runs(two, aligned())); break;
            case "aligned-idle": total(runs(two.silent(1, 5000), aligned())); break;
            case "aligned-silent-topic":
                total(runs(one.silent(0, 5000), aligned()).union(runs(one, aligned()))); break;
            case "legacy-source": total(old(-1)); break;
            case "legacy-source-idle": total(old(1)); break;
            case "catching-up": total(runs(two, since(3600000, 50)).rebalance().map(new Slow(4)).name("slow")); break;
            case "catching-up-in-chain": total(runs(two, since(3600000, 50)).map(new Slow(4)).name("slow")); break;
            case "idle-partition":
            case "idle-in-one-subtask": total(runs(two.silent(1, 5000), bound(2000))); break;
            case "idle-from-start":
            case "idle-from-start-in-one": total(runs(two.silent(1, 0), bound(2000))); break;
            case "more-subtasks-than-partitions": total(runs(one, bound(2000))); break;
            case "everything-idle": total(runs(one.silent(0, 5000), bound(2000))); break;
            case "bound-too-large": total(runs(two, bound(600000))); break;
            case "bound-too-small":
                env.setParallelism(1);
                total(runs(one.late(5, 20000), bound(0))); break;
            case "unread-side-output":
                env.setParallelism(1);
                windows(runs(one.late(5, 30000), bound(2000))).sideOutputLateData(LATE)
                    .process(new Total<TimeWindow>()).sinkTo(new DiscardingSink<String>());
                break;
            case "wrong-timestamps":
                total(runs(two, bound(2000).withTimestampAssigner((run, given) -> time(run, given) / 1000))); break;
            case "no-timestamps": total(runs(two.inSeconds(), none())); break;
            case "no-watermarks": total(runs(two, none())); break;
            case "backpressured":
                total(runs(new Topic(2, 400), since(0, 3)).rebalance().map(new Slow(20)).name("slow")); break;
            case "backpressured-in-chain":
                total(runs(new Topic(2, 400), since(0, 3)).map(new Slow(20)).name("slow")); break;
            case "global-window":
                runs(two, bound(2000)).keyBy(Jobs::runner).window(GlobalWindows.create())
                    .process(new Total<GlobalWindow>()).sinkTo(new DiscardingSink<String>());
                break;
            case "checkpoints-time-out":
                total(runs(two, bound(2000)).rebalance().map(new Snapshot(false)).name("lingers")); break;
            case "checkpoints-fail":
                total(runs(two, bound(2000)).rebalance().map(new Snapshot(true)).name("refuses")); break;
            case "fails": total(runs(two, bound(2000)).rebalance().map(new Fails()).name("fails")); break;
            default: throw new IllegalArgumentException(name);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static DataStream<String> runs(Topic topic, WatermarkStrategy<String> strategy) {
        return env.fromSource((Source<String, ?, ?>) (Source) topic, strategy, "runs", Types.STRING);
    }

    static DataStream<String> old(int silent) {
        return env.addSource(new Old(silent))
            .assignTimestampsAndWatermarks(bound(2000).withTimestampAssigner(Jobs::time));
    }

    static WindowedStream<String, String, TimeWindow> windows(DataStream<String> runs) {
        return runs.keyBy(Jobs::runner).window(TumblingEventTimeWindows.of(Duration.ofSeconds(5)));
    }

    static void total(DataStream<String> runs) {
        windows(runs).process(new Total<TimeWindow>()).sinkTo(new DiscardingSink<String>());
    }

    static WatermarkStrategy<String> none() {
        return WatermarkStrategy.noWatermarks();
    }

    static WatermarkStrategy<String> bound(long ms) {
        return WatermarkStrategy.forBoundedOutOfOrderness(Duration.ofMillis(ms));
    }

    static WatermarkStrategy<String> aligned() {
        return bound(2000).withWatermarkAlignment("group", Duration.ofSeconds(5), Duration.ofSeconds(1));
    }

    /** Events are so many ms apart, and the first one is so old when the job begins, however late each is read. */
    static WatermarkStrategy<String> since(long oldMs, long apartMs) {
        return bound(2000).withTimestampAssigner(context -> new Evenly(System.currentTimeMillis() - oldMs, apartMs));
    }

    static String runner(String run) {
        return run.split(",")[0];
    }

    static long time(String run, long given) {
        return Long.parseLong(run.split(",")[2]);
    }

    /** Statements of a file, one after the other; each INSERT is a job. */
    static void sql(String file) throws Exception {
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        for (String text : new String(Files.readAllBytes(Paths.get(file))).split(";")) {
            String statement = text.trim();
            if (statement.startsWith("SET")) {
                String[] parts = statement.substring(3).replace("'", "").split("=", 2);
                tables.getConfig().set(parts[0].trim(), parts[1].trim());
            } else if (!statement.isEmpty()) {
                tables.executeSql(statement);
            }
        }
    }

    public static class Evenly implements TimestampAssigner<String> {
        long next;
        final long apartMs;

        Evenly(long first, long apartMs) {
            this.next = first;
            this.apartMs = apartMs;
        }

        public long extractTimestamp(String run, long given) {
            return next += apartMs;
        }
    }

    public static class Total<W extends Window> extends ProcessWindowFunction<String, String, String, W> {
        public void process(String runner, Context context, Iterable<String> runs, Collector<String> out) {
            long sum = 0;
            for (String run : runs) {
                sum += Long.parseLong(run.split(",")[1]);
            }
            out.collect(runner + " " + sum);
        }
    }

    public static class Slow implements MapFunction<String, String> {
        final long ms;

        Slow(long ms) {
            this.ms = ms;
        }

        public String map(String run) throws Exception {
            Thread.sleep(ms);
            return run;
        }
    }

    public static class Fails implements MapFunction<String, String> {
        int seen;

        public String map(String run) {
            if (++seen > 100) {
                throw new IllegalStateException("runner without a name");
            }
            return run;
        }
    }

    public static class Snapshot implements MapFunction<String, String>, CheckpointedFunction {
        final boolean fails;

        Snapshot(boolean fails) {
            this.fails = fails;
        }

        public String map(String run) {
            return run;
        }

        public void snapshotState(FunctionSnapshotContext context) throws Exception {
            if (fails) {
                throw new java.io.IOException("the disk of the state is full");
            }
            Thread.sleep(2500);
        }

        public void initializeState(FunctionInitializationContext context) {}
    }

    /** A source of the old interface. */
    public static class Old extends RichParallelSourceFunction<String> {
        final int silent;
        volatile boolean runs = true;

        Old(int silent) {
            this.silent = silent;
        }

        public void run(SourceContext<String> context) throws Exception {
            long began = System.currentTimeMillis();
            int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            for (long number = 0; runs; number++) {
                long now = System.currentTimeMillis();
                if (subtask != silent || now < began + 5000) {
                    synchronized (context.getCheckpointLock()) {
                        context.collect("r" + (subtask * 10 + number % 7) + ",1000," + (now - number * 37 % 300));
                    }
                }
                Thread.sleep(50);
            }
        }

        public void cancel() {
            runs = false;
        }
    }
}
