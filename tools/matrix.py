"""Write docs/comparison.md: every scenario of the catalogue on both engines, outcome by outcome; ``make matrix``.

Each cell comes from a run: of our engine, and of Flink where it can replay the scenario. A large scenario is sampled.
"""

from __future__ import annotations

from pathlib import Path

import wmviz
from wmviz.flink.limits import REASONS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "comparison.md"
MOST_EVENTS = 5_000
HEAD = """# Both engines, scenario by scenario

Made by `make matrix` from runs on {engine}; nothing here is written by hand. A number stands where both engines have
equally many outcomes of that kind and all of them are the same; two numbers, ours and Flink's, where they differ.

| scenario | firings | late | dropped | watermarks met | totals | the same |
|---|---|---|---|---|---|---|
"""
REST = """
## What Flink cannot replay

A replay puts one run of events and watermarks through a real job. What a clock or a failure decides cannot be replayed
to the millisecond. For these scenarios the rules are held against Flink's own classes instead, step by step, in
`tests/differential/` and `tests/semantics/`; `wmviz.flink.recover` shows a real crash.

| scenario | why |
|---|---|
"""


def why_not(scenario: wmviz.Scenario) -> str | None:
    """Give the reason why Flink cannot replay a scenario, or None."""
    return next((sentence for reason in REASONS if (sentence := reason(scenario))), None)


def line(scenario: wmviz.Scenario) -> tuple[str, bool, str]:
    """Run a scenario on both engines; give its line, whether they agree, and which Flink it was."""
    comparison = wmviz.compare(scenario)
    ours, theirs = comparison.ours.outcomes(), comparison.flink.outcomes()
    counts = []
    for own, other in (
        (ours.firings, theirs.firings),
        (ours.late, theirs.late),
        (ours.dropped, theirs.dropped),
        (ours.seen_watermarks, theirs.seen_watermarks),
        (ours.totals, theirs.totals),
    ):
        first, second = (size if isinstance(size, int) else len(size or ()) for size in (own, other))
        counts.append(str(first) if own == other else f"{first} / {second}")
    verdict = "yes" if comparison.same else "**no**"
    return f"| {scenario.name} | {' | '.join(counts)} | {verdict} |\n", comparison.same, comparison.flink.engine


def rows() -> list[wmviz.Scenario]:
    """Give the catalogue, and the local days of daylight-saving without the side output that SQL has not."""
    dropping = wmviz.scenario("daylight-saving").replace(late_to="drop", name="daylight-saving, late_to drop")
    return [*map(wmviz.scenario, wmviz.scenarios()), dropping]


def main() -> int:
    """Write the page; 1 if the engines differ anywhere."""
    scenarios = rows()
    scenarios = [s if len(s.events) <= MOST_EVENTS else s.sample(keys=60) for s in scenarios]
    reasons = {scenario.name: why_not(scenario) for scenario in scenarios}
    lines = [line(scenario) for scenario in scenarios if reasons[scenario.name] is None]
    page = HEAD.format(engine=lines[0][2]) + "".join(text for text, _, _ in lines)
    page += REST + "".join(f"| {name} | {reason} |\n" for name, reason in reasons.items() if reason)
    PAGE.write_text(page, encoding="utf-8")
    return int(not all(same for _, same, _ in lines))


if __name__ == "__main__":
    raise SystemExit(main())
