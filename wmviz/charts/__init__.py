"""Charts of a scenario or a trace, drawn by Altair in one quiet theme.

``wmviz.charts.watermark(trace)`` and its siblings give an Altair chart to show, to change or to save. When this module
is loaded, the theme and the form in which notebooks keep charts become Altair's, unless you have chosen others: a chart
is then drawn without browser and network, and stays in the saved notebook as a picture.
"""

from __future__ import annotations

from wmviz.charts.alignment import alignment
from wmviz.charts.completeness import completeness
from wmviz.charts.engines import engines
from wmviz.charts.firings import firings
from wmviz.charts.lag import lag
from wmviz.charts.live import live
from wmviz.charts.look import enable
from wmviz.charts.state import state
from wmviz.charts.watermark import watermark

__all__ = ["alignment", "completeness", "engines", "firings", "lag", "live", "state", "watermark"]

enable()
