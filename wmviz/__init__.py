"""wmviz: learn how Apache Flink handles time.

A `Scenario` goes in, a `Trace` comes out; everything a person sees is a view of a Trace. Importing this package is
light: no JVM starts, and pandas, altair, ipywidgets and PyFlink are loaded when they are first needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wmviz.catalogue import names as scenarios
from wmviz.catalogue import scenario
from wmviz.engine.simulate import simulate
from wmviz.scenario import Event, Scenario, ScenarioError, Window
from wmviz.trace import Kind, Trace

if TYPE_CHECKING:
    from wmviz import charts, course, flink, lag, own, stage
    from wmviz.comparison import compare
    from wmviz.diagnosis import diagnose
    from wmviz.diagnosis.panel import watch
    from wmviz.stage import play
    from wmviz.state import Ledger, State

__version__ = "0.1.0"
__all__ = [
    "Event",
    "Kind",
    "Ledger",
    "Scenario",
    "ScenarioError",
    "State",
    "Trace",
    "Window",
    "charts",
    "compare",
    "course",
    "diagnose",
    "flink",
    "lag",
    "own",
    "play",
    "scenario",
    "scenarios",
    "simulate",
    "stage",
    "watch",
]
# Name → (module, attribute); None: the module itself.
_LAZY = {
    "Ledger": ("wmviz.state", "Ledger"),
    "State": ("wmviz.state", "State"),
    "charts": ("wmviz.charts", None),
    "compare": ("wmviz.comparison", "compare"),
    "course": ("wmviz.course", None),
    "diagnose": ("wmviz.diagnosis", "diagnose"),
    "flink": ("wmviz.flink", None),
    "lag": ("wmviz.lag", None),
    "own": ("wmviz.own", None),
    "play": ("wmviz.stage", "play"),
    "stage": ("wmviz.stage", None),
    "watch": ("wmviz.diagnosis.panel", "watch"),
}


def __getattr__(name: str) -> Any:
    """Load a part of the package when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module 'wmviz' has no attribute {name!r}")
    module, attribute = _LAZY[name]
    loaded = import_module(module)
    value = loaded if attribute is None else getattr(loaded, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return __all__
