"""Sinks: what a reader of the results finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, Protocol

from wmviz.times import MAX_MS, duration_text
from wmviz.trace import TransactionPhase
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


class TransactionAbortedError(RuntimeError):
    """The broker has aborted the open transaction, so the writer fails."""


@dataclass
class Transaction:
    """The rows between two barriers, which become visible together or never.

    Attributes
    ----------
    number, begun_ms
        Which one, and when its first row came: the timeout counts from there, not from when it was prepared.
    checkpoint_id
        The checkpoint whose barrier ended it, or None while it is open.
    """

    number: int
    begun_ms: int
    rows: list[Row] = field(default_factory=list)
    phase: TransactionPhase = TransactionPhase.OPEN
    checkpoint_id: int | None = None


class TransactionOutput(Protocol):
    """What a transactional sink tells."""

    def transaction(self, transaction: Transaction) -> None:
        """Tell that a transaction has begun or gone on: its `phase` is new."""


class TransactionalSink:
    """Exactly once by two-phase commit: prepared at the barrier, committed when the checkpoint is complete.

    Parameters
    ----------
    out
        Is told what becomes of each transaction.
    timeout_ms
        After which the broker aborts a transaction that is not committed (Kafka's transaction.timeout.ms); None for
        never.
    numbers
        Numbers for transactions, if several sinks share them.

    Notes
    -----
    Flink 2.3.0: SinkWriterOperator and CommitterOperator, as with KafkaSink and DeliveryGuarantee.EXACTLY_ONCE. A
    transaction begins with its first row. A checkpoint that fails aborts nothing: its transaction is committed with the
    next that completes.
    """

    def __init__(
        self, out: TransactionOutput, timeout_ms: int | None = None, numbers: Iterator[int] | None = None
    ) -> None:
        if timeout_ms is not None and timeout_ms <= 0:
            raise ValueError(f"the transaction timeout is {timeout_ms} ms; write more than 0")
        self.transactions: dict[int, Transaction] = {}
        self._out, self._timeout_ms = out, timeout_ms
        self._numbers = count() if numbers is None else numbers
        self._now_ms = 0
        self._open: Transaction | None = None
        self._undecided: list[Transaction] = []  # the broker's
        self._committables: list[Transaction] = []  # the committer's

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Write a row into the open transaction, or begin one.

        Raises
        ------
        TransactionAbortedError
            If the broker has aborted it: the job fails, and goes on from its last checkpoint.
        """
        current = self._checked()
        if current is None:
            current = self._open = Transaction(next(self._numbers), self._now_ms)
            self.transactions[current.number] = current
            self._undecided.append(current)
            self._out.transaction(current)
        current.rows.append(Row(key, window, value))
        return value

    def pre_commit(self, checkpoint_id: int, now_ms: int) -> list[int]:
        """End the open transaction at a barrier; give what the checkpoint holds of this sink.

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
        TransactionAbortedError
            If the broker has aborted the open transaction.
        """
        self.advance(now_ms)
        prepared, self._open = self._checked(), None
        if prepared is not None:
            prepared.checkpoint_id = checkpoint_id
            self._committables.append(prepared)
            self._enter(prepared, TransactionPhase.PREPARED)
        return [transaction.number for transaction in self._committables]

    def commit(self, checkpoint_id: int) -> None:
        """Commit what was prepared up to a checkpoint that is complete now."""
        due = [t for t in self._committables if t.checkpoint_id is not None and t.checkpoint_id <= checkpoint_id]
        self._committables = self._committables[len(due) :]
        self._commit(due)

    def end(self, now_ms: int) -> None:
        """Commit everything at the end of the input of a job that takes no checkpoints (CommitterOperator.endInput)."""
        self.pre_commit(MAX_MS, now_ms)
        self.commit(MAX_MS)

    def restore(self, snapshot: Sequence[int], now_ms: int) -> None:
        """Go on after a crash: commit what the checkpoint holds, abort the rest.

        Parameters
        ----------
        snapshot
            What `pre_commit` gave; empty to start without a checkpoint.
        now_ms
            The time now. The broker's timeouts up to here come first.
        """
        self.advance(now_ms)
        self._committables, self._open = [], None
        self._commit([self.transactions[number] for number in snapshot])
        for transaction in list(self._undecided):
            self._enter(transaction, TransactionPhase.ABORTED)

    @property
    def next_time_ms(self) -> int | None:
        """When the broker times out a transaction next, or None."""
        if self._timeout_ms is None or not self._undecided:
            return None
        return self._undecided[0].begun_ms + self._timeout_ms

    @property
    def current(self) -> int:
        """The number of the latest transaction."""
        return next(reversed(self.transactions))

    @property
    def is_settled(self) -> bool:
        """Whether no row waits for a commit."""
        return not self._committables and self._open is None

    def advance(self, now_ms: int) -> None:
        """Let the clock reach a time; the broker's runs on while the job is down."""
        while (time_ms := self.next_time_ms) is not None and time_ms <= now_ms:
            self._enter(self._undecided[0], TransactionPhase.ABORTED)
        self._now_ms = now_ms

    def read(self, *, committed: bool) -> list[Row]:
        """Give the rows that a reader finds, in order: of committed transactions only, or of all, aborted ones too."""
        return [
            row
            for transaction in self.transactions.values()
            if transaction.phase is TransactionPhase.COMMITTED or not committed
            for row in transaction.rows
        ]

    def _checked(self) -> Transaction | None:
        """Give the open transaction, unless the broker has aborted it."""
        if self._open is not None and self._open.phase is TransactionPhase.ABORTED:
            raise TransactionAbortedError(
                f"the broker has aborted its open transaction after {duration_text(self._timeout_ms or 0)}, before a "
                "checkpoint ended it; write a longer transaction_timeout, or checkpoint more often"
            )
        return self._open

    def _commit(self, transactions: Sequence[Transaction]) -> None:
        for transaction in transactions:
            if transaction.phase is TransactionPhase.PREPARED:
                self._enter(transaction, TransactionPhase.COMMITTED)
            elif transaction.phase is TransactionPhase.ABORTED:
                self._enter(transaction, TransactionPhase.LOST)

    def _enter(self, transaction: Transaction, phase: TransactionPhase) -> None:
        if phase in (TransactionPhase.COMMITTED, TransactionPhase.ABORTED):
            self._undecided.remove(transaction)
        transaction.phase = phase
        self._out.transaction(transaction)


def sink_of(name: str) -> Sink:
    """Make the sink of a scenario: ``"upsert"`` or ``"append"``."""
    return UpsertSink() if name == "upsert" else AppendSink()
