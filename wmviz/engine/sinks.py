"""Sinks: what a reader of the results finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from wmviz.window import AnyWindow


class Row(NamedTuple):
    """One result, as it stands in a table or topic."""

    key: str
    window: AnyWindow
    value: int


class Sink(Protocol):
    """Takes the results of window firings.

    What it holds is outside of Flink: a crash takes nothing back. Only the transactional one is part of a checkpoint.
    """

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Take a result; give what the sink now holds for this key and window."""


class UpsertSink:
    """One row per key and window, overwritten by each firing: a late firing corrects it, a repeated one is harmless."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, AnyWindow], int] = {}

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Overwrite the row."""
        self.rows[key, window] = value
        return value


class AppendSink:
    """A row per firing: a reader who adds them up counts accumulated results twice."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Append a row."""
        self.rows.append(Row(key, window, value))
        return value


class Phase(Enum):
    """How far a transaction is."""

    OPEN = "open"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"
    LOST = "lost"


@dataclass
class Transaction:
    """The rows between two barriers, which become visible together or never.

    Attributes
    ----------
    number, begun_ms
        Which one, and when it began: its timeout counts from there, not from when it was prepared.
    checkpoint_id
        The checkpoint whose barrier ended it, or None while it is open.
    """

    number: int
    begun_ms: int
    rows: list[Row] = field(default_factory=list)
    phase: Phase = Phase.OPEN
    checkpoint_id: int | None = None


class TransactionOutput(Protocol):
    """What a transactional sink tells."""

    def committed(self, transaction: Transaction) -> None:
        """Tell that its rows are there for readers of committed rows."""

    def aborted(self, transaction: Transaction) -> None:
        """Tell that its rows will never count: the job restarts before them, or the broker's timeout is over."""

    def lost(self, transaction: Transaction) -> None:
        """Tell that it should have been committed but was timed out before: no replay brings its rows back."""


class TransactionalSink:
    """Exactly once by two-phase commit: prepared at the barrier, committed when the checkpoint is complete.

    Parameters
    ----------
    out
        Is told what becomes of each transaction.
    now_ms
        When the sink opens: the first transaction begins.
    timeout_ms
        After which the broker aborts a transaction that is not committed (Kafka's transaction.timeout.ms); None for
        never.

    Notes
    -----
    Flink 2.3.0: SinkWriterOperator and CommitterOperator, as with KafkaSink and DeliveryGuarantee.EXACTLY_ONCE. A
    checkpoint that fails aborts nothing: its transaction is committed with the next that completes.
    """

    def __init__(self, out: TransactionOutput, now_ms: int, timeout_ms: int | None = None) -> None:
        if timeout_ms is not None and timeout_ms <= 0:
            raise ValueError(f"the transaction timeout is {timeout_ms} ms; write more than 0")
        self.transactions: list[Transaction] = []
        self._out, self._timeout_ms = out, timeout_ms
        self._undecided: list[Transaction] = []  # the broker's
        self._committables: list[Transaction] = []  # the committer's
        self._begin(now_ms)

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Write a row into the open transaction.

        Raises
        ------
        RuntimeError
            If the broker has aborted it: the job fails, and goes on from its last checkpoint.
        """
        self._check_open()
        self.transactions[-1].rows.append(Row(key, window, value))
        return value

    def pre_commit(self, checkpoint_id: int, now_ms: int) -> list[int]:
        """End the open transaction at a barrier and begin the next; give what the checkpoint holds of this sink.

        Parameters
        ----------
        checkpoint_id, now_ms
            Whose barrier it is, and the time now.

        Returns
        -------
        list of int
            The transactions that are to be committed, for `restore`.

        Raises
        ------
        RuntimeError
            If the broker has aborted the open transaction.
        """
        self._check_open()
        prepared = self.transactions[-1]
        prepared.phase, prepared.checkpoint_id = Phase.PREPARED, checkpoint_id
        self._committables.append(prepared)
        self._begin(now_ms)
        return [transaction.number for transaction in self._committables]

    def commit(self, checkpoint_id: int) -> None:
        """Commit what was prepared up to a checkpoint that is complete now."""
        due = [t for t in self._committables if t.checkpoint_id is not None and t.checkpoint_id <= checkpoint_id]
        self._commit(due)
        self._committables = self._committables[len(due) :]

    def restore(self, snapshot: Sequence[int], now_ms: int) -> None:
        """Go on after a crash: commit what the checkpoint holds, abort the rest, begin anew.

        Parameters
        ----------
        snapshot
            What `pre_commit` gave; empty to start without a checkpoint.
        now_ms
            The time now. The broker's timeouts up to here come first.
        """
        self.advance(now_ms)
        self._commit([self.transactions[number] for number in snapshot])
        self._committables = []
        for transaction in list(self._undecided):
            self._decide(transaction, Phase.ABORTED)
        self._begin(now_ms)

    @property
    def next_time_ms(self) -> int | None:
        """When the broker times out a transaction next, or None."""
        if self._timeout_ms is None or not self._undecided:
            return None
        return self._undecided[0].begun_ms + self._timeout_ms

    def advance(self, now_ms: int) -> None:
        """Let the broker's clock reach a time; it runs on while the job is down."""
        while (time_ms := self.next_time_ms) is not None and time_ms <= now_ms:
            self._decide(self._undecided[0], Phase.ABORTED)

    def read(self, *, committed: bool) -> list[Row]:
        """Give the rows that a reader finds, in order: of committed transactions only, or of all, aborted ones too."""
        return [
            row
            for transaction in self.transactions
            if transaction.phase is Phase.COMMITTED or not committed
            for row in transaction.rows
        ]

    def _begin(self, now_ms: int) -> None:
        transaction = Transaction(len(self.transactions), now_ms)
        self.transactions.append(transaction)
        self._undecided.append(transaction)

    def _check_open(self) -> None:
        current = self.transactions[-1]
        if current.phase is not Phase.OPEN:
            raise RuntimeError(
                f"the transaction that began at {current.begun_ms} ms was aborted by its timeout of "
                f"{self._timeout_ms} ms before a checkpoint ended it; write a longer timeout, or checkpoint more often"
            )

    def _commit(self, transactions: Sequence[Transaction]) -> None:
        for transaction in transactions:
            if transaction.phase is Phase.PREPARED:
                self._decide(transaction, Phase.COMMITTED)
            elif transaction.phase is Phase.ABORTED:
                transaction.phase = Phase.LOST
                self._out.lost(transaction)

    def _decide(self, transaction: Transaction, phase: Phase) -> None:
        transaction.phase = phase
        self._undecided.remove(transaction)
        if phase is Phase.COMMITTED:
            self._out.committed(transaction)
        else:
            self._out.aborted(transaction)


def sink_of(name: str) -> Sink:
    """Make the sink of a scenario: ``"upsert"`` or ``"append"``."""
    return UpsertSink() if name == "upsert" else AppendSink()
