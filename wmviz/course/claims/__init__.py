"""Claims of tutorials on trial: 30 sentences, what is run for each, and a verdict that is counted from the runs."""

from __future__ import annotations

from collections.abc import Mapping

from wmviz.course.claims import inputs, late, practice, restart, watermarks, windows
from wmviz.course.claims.court import Case, Claim, Trial, on_flink, on_our_engine, tried, verdict_of

__all__ = ["CLAIMS", "THEMES", "Case", "Claim", "Trial", "on_flink", "on_our_engine", "tried", "verdict_of"]

THEMES: Mapping[str, tuple[Claim, ...]] = {
    "watermarks": watermarks.CLAIMS,
    "windows": windows.CLAIMS,
    "late": late.CLAIMS,
    "inputs": inputs.CLAIMS,
    "restart": restart.CLAIMS,
    "practice": practice.CLAIMS,
}
"""Name of a theme → its claims."""

CLAIMS: Mapping[int, Claim] = {
    one.number: one for one in sorted((c for claims in THEMES.values() for c in claims), key=lambda c: c.number)
}
"""Number → claim."""
