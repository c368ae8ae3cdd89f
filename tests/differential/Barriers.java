package differential;

import java.lang.reflect.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.apache.flink.runtime.checkpoint.*;
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.io.network.api.*;
import org.apache.flink.runtime.io.network.partition.consumer.CheckpointableInput;
import org.apache.flink.runtime.jobgraph.tasks.CheckpointableTask;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.streaming.runtime.io.checkpointing.*;
import org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinator;
import org.apache.flink.util.clock.Clock;

/**
 * Flink's barrier handlers, one call at a time. A call is text: what, then numbers, with spaces between. The answer is what the handler
 * asked for, with semicolons between, and last when its timer is due.
 */
public class Barriers implements Function {
    private static final CheckpointStorageLocationReference PLACE = CheckpointStorageLocationReference.getDefault();

    private final List asked = new ArrayList();
    private final Now clock = new Now();
    private final Timer timer = new Timer();
    private CheckpointBarrierHandler handler;

    public Object apply(Object call) {
        String[] parts = ((String) call).split(" ");
        asked.clear();
        try {
            take(parts[0], parts);
        } catch (Exception e) {
            asked.add("error " + e.getClass().getSimpleName());
        }
        StringBuilder answer = new StringBuilder();
        Iterator each = asked.iterator();
        while (each.hasNext()) answer.append(each.next()).append(";");
        return answer.append("due ").append(timer.callable == null ? "none" : Long.toString(timer.due)).toString();
    }

    private void take(String what, String[] parts) throws Exception {
        if (what.equals("new")) {
            start(parts[1], Integer.parseInt(parts[2]), Boolean.parseBoolean(parts[3]));
        } else if (what.equals("advance")) {
            clock.now = Long.parseLong(parts[1]);
            timer.run();
        } else {
            InputChannelInfo channel = new InputChannelInfo(0, Integer.parseInt(parts[1]));
            if (what.equals("barrier")) handler.processBarrier(barrier(parts), channel, false);
            else if (what.equals("announcement")) handler.processBarrierAnnouncement(barrier(parts), 0, channel);
            else if (what.equals("cancellation"))
                handler.processCancellationBarrier(new CancelCheckpointMarker(Long.parseLong(parts[2])), channel);
            else handler.processEndOfPartition(channel);
        }
    }

    private void start(String mode, int channels, boolean afterFinish) {
        clock.now = 0;
        timer.callable = null;
        CheckpointableTask task = (CheckpointableTask) proxy(CheckpointableTask.class);
        SubtaskCheckpointCoordinator coordinator =
                (SubtaskCheckpointCoordinator) proxy(SubtaskCheckpointCoordinator.class);
        CheckpointableInput[] inputs = {(CheckpointableInput) proxy(CheckpointableInput.class)};
        if (mode.equals("at_least_once")) {
            handler = new CheckpointBarrierTracker(channels, task, clock, afterFinish);
        } else if (mode.equals("aligned")) {
            handler = SingleCheckpointBarrierHandler.aligned("", task, clock, channels, timer, afterFinish, inputs);
        } else if (mode.equals("unaligned")) {
            handler =
                    SingleCheckpointBarrierHandler.unaligned(
                            "", task, coordinator, clock, channels, timer, afterFinish, inputs);
        } else {
            handler =
                    SingleCheckpointBarrierHandler.alternating(
                            "", task, coordinator, clock, channels, timer, afterFinish, inputs);
        }
    }

    private static CheckpointBarrier barrier(String[] parts) {
        CheckpointOptions options;
        if (parts[3].equals("unaligned")) {
            options = CheckpointOptions.unaligned(CheckpointType.CHECKPOINT, PLACE);
        } else if (parts[3].equals("timeoutable")) {
            options = CheckpointOptions.alignedWithTimeout(CheckpointType.CHECKPOINT, PLACE, Long.parseLong(parts[4]));
        } else {
            options = CheckpointOptions.alignedNoTimeout(CheckpointType.CHECKPOINT, PLACE);
        }
        return new CheckpointBarrier(Long.parseLong(parts[2]), Long.parseLong(parts[5]), options);
    }

    private Object proxy(Class type) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class[] {type}, new Note());
    }

    /** Notes what the handler asks of its input and its task. */
    private class Note implements InvocationHandler {
        public Object invoke(Object self, Method method, Object[] given) {
            String name = method.getName();
            if (name.equals("blockConsumption") || name.equals("resumeConsumption")) {
                asked.add(name + " " + ((InputChannelInfo) given[0]).getInputChannelIdx());
            } else if (name.equals("convertToPriorityEvent")) {
                asked.add(name + " " + given[0]);
            } else if (name.equals("checkpointStarted")) {
                asked.add(name + " " + ((CheckpointBarrier) given[0]).getId());
            } else if (name.equals("checkpointStopped")) {
                asked.add(name + " " + given[0]);
            } else if (name.equals("triggerCheckpointOnBarrier")) {
                boolean unaligned = ((CheckpointOptions) given[1]).isUnalignedCheckpoint();
                long id = ((CheckpointMetaData) given[0]).getCheckpointId();
                asked.add(name + " " + id + " " + (unaligned ? "unaligned" : "aligned"));
            } else if (name.equals("abortCheckpointOnBarrier")) {
                asked.add(name + " " + given[0] + " " + ((CheckpointException) given[1]).getCheckpointFailureReason().name());
            }
            return null;
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

    /** Holds the one task that a handler may have registered. */
    private class Timer implements BarrierAlignmentUtil.DelayableTimer {
        private Callable callable;
        private long due;

        public BarrierAlignmentUtil.Cancellable registerTask(Callable task, Duration delay) {
            callable = task;
            due = clock.now + delay.toMillis();
            final Callable registered = task;
            return new BarrierAlignmentUtil.Cancellable() {
                public void cancel() {
                    if (callable == registered) callable = null;
                }
            };
        }

        private void run() throws Exception {
            if (callable == null || due > clock.now) return;
            Callable task = callable;
            callable = null;
            task.call();
        }
    }
}
