package differential;

import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureManager;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.NoOpCheckpointStatsTracker;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;

/** "0 CHECKPOINT_EXPIRED": what a failed checkpoint does to a job that tolerates so many. */
public class CheckpointFailures {
    public CheckpointFailures() {}

    public String apply(String text) {
        final StringBuilder said = new StringBuilder();
        CheckpointFailureManager.FailJobCallback callback =
                new CheckpointFailureManager.FailJobCallback() {
                    public void failJob(Throwable cause) {
                        said.append("the job fails: ").append(cause.getMessage());
                    }

                    public void failJobDueToTaskFailure(Throwable cause, ExecutionAttemptID task) {
                        said.append("a task fails: ").append(cause.getMessage());
                    }
                };
        String[] words = text.split(" ");
        CheckpointFailureManager manager = new CheckpointFailureManager(Integer.parseInt(words[0]), callback);
        manager.handleCheckpointException(
                null,
                CheckpointProperties.forCheckpoint(CheckpointRetentionPolicy.NEVER_RETAIN_AFTER_TERMINATION),
                new CheckpointException(CheckpointFailureReason.valueOf(words[1])),
                null,
                new JobID(),
                null,
                NoOpCheckpointStatsTracker.INSTANCE);
        return said.toString();
    }
}
