"""The doctor's longest check: start Flink once, and compare it with our engine."""

from __future__ import annotations

import json
import subprocess
import sys
import time

from wmviz.doctor.finding import MISSING, OK, Finding
from wmviz.doctor.look import ROOT

SCENARIO, LIMIT_S = "leaderboard", 180
RUN = """\
import json, sys, wmviz
can, why = wmviz.flink.available()
told = {"error": why}
if can:
    try:
        compared = wmviz.compare(wmviz.scenario(sys.argv[1]))
        told = {"engine": compared.flink.engine, "differences": [str(one) for one in compared.differences]}
    except wmviz.flink.FlinkError as error:
        told = {"error": str(error)}
print(json.dumps(told))
"""


def run(limit_s: float = LIMIT_S) -> tuple[str, str, float]:
    """Compare both engines in a process of its own; give what it printed, its last error, and how long it took."""
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", RUN, SCENARIO],
            cwd=str(ROOT),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"it did not end within {limit_s:g} s", time.monotonic() - begun
    errors = done.stderr.strip().splitlines()
    error = errors[-1] if errors else f"Python ended with exit code {done.returncode}"
    return (done.stdout, "", time.monotonic() - begun) if done.returncode == 0 else ("", error, 0.0)


def judge(printed: str, error: str, seconds: float) -> Finding:
    """Judge the run by what it printed."""
    told = json.loads(printed.splitlines()[-1]) if printed.strip() else {"error": error}
    if "error" in told:
        sentence = f"Flink did not run the scenario {SCENARIO}: {told['error'].rstrip('.')}."
        advice = "Mend what is missing above; if nothing is, run `make clean setup`."
        return Finding("Run", MISSING, sentence, advice)
    if told["differences"]:
        sentence = f"{told['engine']} and wmviz differ on {SCENARIO}: {told['differences'][0]}."
        return Finding("Run", MISSING, sentence, "Run `make clean setup`; if it stays so, tell us: it is a mistake.")
    return Finding("Run", OK, f"{told['engine']} ran the scenario {SCENARIO} as wmviz does, in {seconds:.0f} s.")
