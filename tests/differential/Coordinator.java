package differential;

import java.lang.reflect.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.*;
import org.apache.flink.runtime.executiongraph.*;
import org.apache.flink.runtime.jobgraph.*;
import org.apache.flink.runtime.jobgraph.tasks.CheckpointCoordinatorConfiguration;
import org.apache.flink.runtime.messages.checkpoint.AcknowledgeCheckpoint;
import org.apache.flink.runtime.scheduler.VertexParallelismInformation;
import org.apache.flink.runtime.state.*;
import org.apache.flink.runtime.state.memory.NonPersistentMetadataCheckpointStorageLocation;
import org.apache.flink.util.clock.Clock;
import org.apache.flink.util.concurrent.ScheduledExecutor;

/**
 * Flink's CheckpointCoordinator under a clock of ours, for a job of one task. A case is text: interval, pause, most pending, timeout, first
 * time and whether unaligned checkpoints are on, then steps, with semicolons between. The answer tells each start and end with its time.
 */
public class Coordinator implements Function {
    private StringBuilder answer;
    private Now clock;
    private PriorityQueue tasks;
    private long serial;
    private long lastId;
    private JobID job;
    private Execution task;
    private CheckpointCoordinator coordinator;

    public Object apply(Object text) {
        answer = new StringBuilder();
        clock = new Now();
        tasks = new PriorityQueue();
        serial = 0;
        lastId = 0;
        String[] steps = ((String) text).split(";");
        try {
            start(steps[0].split(" "));
            for (int i = 1; i < steps.length; i++) take(steps[i].split(" "));
            coordinator.shutdown();
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
        return answer.toString();
    }

    private void start(String[] given) throws Exception {
        CheckpointCoordinatorConfiguration settings =
                new CheckpointCoordinatorConfiguration.CheckpointCoordinatorConfigurationBuilder()
                        .setCheckpointInterval(Long.parseLong(given[0]))
                        .setMinPauseBetweenCheckpoints(Long.parseLong(given[1]))
                        .setMaxConcurrentCheckpoints(Integer.parseInt(given[2]))
                        .setCheckpointTimeout(Long.parseLong(given[3]))
                        .setUnalignedCheckpointsEnabled(Boolean.parseBoolean(given[5]))
                        .build();
        job = new JobID();
        task = task();
        final Timer timer = new Timer();
        coordinator =
                new CheckpointCoordinator(
                        job,
                        settings,
                        Collections.EMPTY_LIST,
                        (CheckpointIDCounter) proxy(CheckpointIDCounter.class),
                        new StandaloneCompletedCheckpointStore(1),
                        (CheckpointStorage) proxy(CheckpointStorage.class),
                        timer,
                        new CheckpointsCleaner(),
                        timer,
                        new CheckpointFailureManager(
                                CheckpointFailureManager.UNLIMITED_TOLERABLE_FAILURE_NUMBER,
                                (CheckpointFailureManager.FailJobCallback) proxy(CheckpointFailureManager.FailJobCallback.class)),
                        (CheckpointPlanCalculator) proxy(CheckpointPlanCalculator.class),
                        clock,
                        NoOpCheckpointStatsTracker.INSTANCE,
                        new java.util.function.BiFunction() {
                            public Object apply(Object vertices, Object states) {
                                return null;
                            }
                        });
        // A first time is random between the pause and the interval; here it is given. No checkpoint has succeeded before time 0.
        set(coordinator, CheckpointCoordinator.class, "triggerDelay", Long.valueOf(given[4]));
        set(coordinator, CheckpointCoordinator.class, "lastCheckpointCompletionRelativeTime", Long.valueOf(-1000000L));
        coordinator.startCheckpointScheduler();
        run(0);
    }

    private void take(String[] step) throws Exception {
        String op = step[0];
        long at = Long.parseLong(step[1]);
        run(at);
        if (op.equals("complete")) {
            Object pending = coordinator.getPendingCheckpoints().get(Long.valueOf(step[2]));
            if (pending != null) answer.append("completed " + step[2] + " " + clock.now + ",");
            coordinator.receiveAcknowledgeMessage(
                    new AcknowledgeCheckpoint(job, task.getAttemptId(), Long.parseLong(step[2])), "");
        } else if (op.equals("fail")) {
            Object pending = coordinator.getPendingCheckpoints().get(Long.valueOf(step[2]));
            if (pending != null) fail((PendingCheckpoint) pending);
        } else if (op.equals("savepoint")) {
            coordinator.triggerSavepoint("", SavepointFormatType.CANONICAL);
        } else if (op.equals("stop")) {
            coordinator.stopCheckpointScheduler();
        } else if (op.equals("start")) {
            coordinator.startCheckpointScheduler();
        }
        run(at);
        StringBuilder pending = new StringBuilder("pending");
        Iterator each = new TreeSet(coordinator.getPendingCheckpoints().keySet()).iterator();
        while (each.hasNext()) pending.append(" ").append(each.next());
        answer.append(pending).append(",");
    }

    private void fail(PendingCheckpoint pending) throws Exception {
        Method method =
                CheckpointCoordinator.class.getDeclaredMethod(
                        "abortPendingCheckpoint", new Class[] {PendingCheckpoint.class, CheckpointException.class});
        method.setAccessible(true);
        Field lock = CheckpointCoordinator.class.getDeclaredField("lock");
        lock.setAccessible(true);
        synchronized (lock.get(coordinator)) {
            method.invoke(
                    coordinator,
                    new Object[] {pending, new CheckpointException(CheckpointFailureReason.CHECKPOINT_DECLINED)});
        }
    }

    /** Runs what is due up to a time, in order. */
    private void run(long until) {
        while (!tasks.isEmpty() && ((Task) tasks.peek()).at <= until) {
            Task next = (Task) tasks.poll();
            clock.now = Math.max(clock.now, next.at);
            next.run();
        }
        clock.now = until;
    }

    private static Execution task() throws Exception {
        Execution execution = (Execution) bare(Execution.class);
        ExecutionVertex vertex = (ExecutionVertex) bare(ExecutionVertex.class);
        ExecutionJobVertex all = (ExecutionJobVertex) bare(ExecutionJobVertex.class);
        set(all, ExecutionJobVertex.class, "jobVertex", new JobVertex("task", new JobVertexID(), Collections.EMPTY_LIST));
        set(all, ExecutionJobVertex.class, "parallelismInfo", proxyOf(VertexParallelismInformation.class, new Simple()));
        set(vertex, ExecutionVertex.class, "jobVertex", all);
        set(execution, Execution.class, "vertex", vertex);
        set(execution, Execution.class, "attemptId", ExecutionAttemptID.randomId());
        return execution;
    }

    private Object proxy(Class type) {
        return proxyOf(type, new Around());
    }

    private static Object proxyOf(Class type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class[] {type}, handler);
    }

    /** What is around the coordinator: it numbers checkpoints, plans them for the one task, and stores them in memory. */
    private class Around extends Simple {
        public Object invoke(Object self, Method method, Object[] given) {
            String name = method.getName();
            if (name.equals("getAndIncrement")) {
                lastId++;
                answer.append("triggered " + lastId + " " + clock.now + ",");
                return Long.valueOf(lastId);
            }
            if (name.equals("calculateCheckpointPlan")) return CompletableFuture.completedFuture(proxy(CheckpointPlan.class));
            if (name.equals("getTasksToWaitFor")) return Collections.singletonList(task);
            if (name.equals("createCheckpointStorage")) return proxy(CheckpointStorageAccess.class);
            if (name.startsWith("initializeLocationFor")) return new NonPersistentMetadataCheckpointStorageLocation(1 << 20);
            return super.invoke(self, method, given);
        }
    }

    private static class Simple implements InvocationHandler {
        public Object invoke(Object self, Method method, Object[] given) {
            Class type = method.getReturnType();
            if (type == boolean.class) return Boolean.FALSE;
            if (type == int.class) return Integer.valueOf(1);
            if (type == long.class) return Long.valueOf(0);
            if (type.isAssignableFrom(List.class)) return Collections.EMPTY_LIST;
            return null;
        }
    }

    /** Timer and other threads in one: everything runs here, when its time has come. */
    private class Timer implements ScheduledExecutor {
        public void execute(Runnable what) {
            tasks.add(new Task(what, clock.now, serial++));
        }

        public ScheduledFuture schedule(Runnable what, long delay, TimeUnit unit) {
            Task task = new Task(what, clock.now + unit.toMillis(delay), serial++);
            tasks.add(task);
            return task;
        }

        public ScheduledFuture schedule(Callable what, long delay, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        public ScheduledFuture scheduleAtFixedRate(Runnable what, long delay, long period, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        public ScheduledFuture scheduleWithFixedDelay(Runnable what, long delay, long period, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }
    }

    private static class Task extends FutureTask implements ScheduledFuture {
        private final long at;
        private final long serial;

        private Task(Runnable what, long at, long serial) {
            super(what, null);
            this.at = at;
            this.serial = serial;
        }

        public long getDelay(TimeUnit unit) {
            return 0;
        }

        public int compareTo(Object other) {
            Task task = (Task) other;
            return at != task.at ? Long.compare(at, task.at) : Long.compare(serial, task.serial);
        }
    }

    private static class Now extends Clock {
        private long now;

        public long absoluteTimeMillis() {
            return now;
        }

        public long relativeTimeMillis() {
            return now;
        }

        public long relativeTimeNanos() {
            return now * 1000000L;
        }
    }

    private static Object bare(Class type) throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return ((sun.misc.Unsafe) field.get(null)).allocateInstance(type);
    }

    private static void set(Object of, Class type, String name, Object value) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
    }
}
