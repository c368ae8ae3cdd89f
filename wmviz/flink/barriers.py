"""Aligned and unaligned checkpoints of a job that cannot keep up, on real Flink: how long each takes, what it holds."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.rest import Watching, read_looks, write_looks
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import ScenarioError, json_text
from wmviz.times import shown

if TYPE_CHECKING:
    import pandas as pd

MODES = ("aligned", "unaligned", "at-least-once")
RECORDINGS = recorded.FOLDER / "barriers"


@dataclass(frozen=True)
class Barriers:
    """Some checkpoints of a job whose buffers were full.

    Attributes
    ----------
    mode
        What the job asked for: ``"aligned"``, ``"unaligned"``, or ``"at-least-once"``, which asks for unaligned too.
    guarantee
        What Flink says that its checkpoints are: ``"exactly_once"`` or ``"at_least_once"``.
    is_unaligned
        Whether Flink says that they are unaligned.
    checkpoints
        Of each: ``id``; ``duration_ms`` from its start until every task has handed in its part; ``size_bytes``;
        ``in_flight_bytes`` of events that its barriers have overtaken; at the slow operator ``start_delay_ms`` until
        the first barrier came, and ``alignment_ms`` from the first barrier to the last.
    looks
        What `wmviz.flink.live` saw meanwhile, for ``wmviz.charts.live``.
    """

    mode: str
    guarantee: str
    is_unaligned: bool
    checkpoints: tuple[dict[str, int], ...]
    looks: pd.DataFrame = field(repr=False, compare=False)

    @property
    def table(self) -> pd.DataFrame:
        """The checkpoints as a table."""
        import pandas as pd

        return pd.DataFrame(list(self.checkpoints))

    @property
    def program(self) -> Program:
        """The program that ran, to read and copy."""
        return barriers_code()

    def middle(self, name: str) -> int:
        """Give the median of a column over the checkpoints."""
        return int(median(checkpoint[name] for checkpoint in self.checkpoints))

    def __repr__(self) -> str:
        """Tell it in sentences."""
        kind = "unaligned" if self.is_unaligned else "aligned"
        why = " though unaligned ones were asked for" if self.mode == "at-least-once" and not self.is_unaligned else ""
        held = self.middle("in_flight_bytes")
        holds = f"{held:,} bytes of events that the barriers had overtaken" if held else "no event that was on its way"
        first_ms, last_ms = self.middle("start_delay_ms"), self.middle("alignment_ms")
        return (
            f"{self.guarantee.replace('_', ' ').capitalize()}: the checkpoints were {kind}{why}.\n"
            f"The median of {len(self.checkpoints)}: {self.middle('duration_ms'):,} ms; the first barrier came to the "
            f"slow task after {first_ms:,} ms, the last one {last_ms:,} ms later.\n"
            f"A checkpoint held {holds}."
        )


def barriers_code() -> Program:
    """Give the program that `barriers` runs: it can be saved and run alone."""
    return Program(program.source("barriers_job.txt"), "barriers")


def barriers(mode: str = "aligned", limit_s: float = LIMIT_S) -> Barriers:
    """Run a job with a slow operator until its buffers are full, and look at the checkpoints that it takes then.

    Parameters
    ----------
    mode
        ``"aligned"``; ``"unaligned"``; or ``"at-least-once"``, which asks for unaligned checkpoints at the same time.
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    Barriers
        The checkpoints. Where PyFlink is missing they are those of a recorded run.

    Raises
    ------
    ScenarioError
        If the mode is none of these.
    FlinkError
        If the job fails or does not take its checkpoints in time.
    """
    if mode not in MODES:
        raise ScenarioError(f"mode is {shown(mode)}; write one of {', '.join(MODES)}")
    can, why = startup.available()
    if not can:
        recorded.show_label(ENGINE, why)
        data = json.loads(_path(mode).read_text(encoding="utf-8"))
        return Barriers(**{**data, "checkpoints": tuple(data["checkpoints"]), "looks": read_looks(data["looks"])})
    startup.job()
    job = barriers_code().load()
    port = job.free_port()
    with tempfile.TemporaryDirectory(prefix="wmviz-barriers-") as folder, startup.sentences(), startup.tidy():
        try:
            env = job.environment(job.settings(folder, port, mode))
            with (watching := Watching()).of(port):
                found, config = job.run(env, port, limit_s)
        except (TimeoutError, RuntimeError) as error:
            raise FlinkError(str(error)) from None
    done = Barriers(mode, config["mode"], config["unaligned_checkpoints"], tuple(found), watching.looks)
    if os.environ.get(RECORD_SWITCH):
        RECORDINGS.mkdir(exist_ok=True)
        data = {each.name: getattr(done, each.name) for each in fields(done)}
        _path(mode).write_text(json_text({**data, "looks": write_looks(done.looks)}), encoding="utf-8")
    return done


def _path(mode: str) -> Path:
    return RECORDINGS / f"{mode}.json"
