"""Claims of tutorials on trial: 30 sentences, what is run for each, and a verdict that is counted from the runs."""

from __future__ import annotations

from collections.abc import Mapping

from wmviz.course.claims import inputs, late, practice, restart, watermarks, windows
from wmviz.course.claims.court import Case, Claim, Trial, on_flink, on_our_engine, tried, verdict_of

__all__ = ["CLAIMS", "THEMES", "Case", "Claim", "Trial", "on_flink", "on_our_engine", "tried", "verdict_of"]

THEMES: Mapping[str, tuple[Claim, ...]] = {
    theme: tuple(sorted(claims, key=lambda claim: claim.number))
    for theme, claims in {
        "watermarks": watermarks.CLAIMS,
        "windows": windows.CLAIMS,
        "late": late.CLAIMS,
        "inputs": inputs.CLAIMS,
        "restart": restart.CLAIMS,
        "practice": practice.CLAIMS,
    }.items()
}
"""Name of a theme → its claims."""

CLAIMS: Mapping[int, Claim] = dict(sorted((one.number, one) for claims in THEMES.values() for one in claims))
"""Number → claim."""
