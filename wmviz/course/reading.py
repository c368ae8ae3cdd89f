"""Make a table of milliseconds readable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wmviz.times import time_text

if TYPE_CHECKING:
    import pandas as pd

_SHORT = {"start": "from", "end": "to", "at": "server's clock"}


def readable(table: pd.DataFrame, zone: str | None = None) -> pd.DataFrame:
    """Write the times of a trace's table as a person would.

    Parameters
    ----------
    table
        For example ``wmviz.simulate(s).firings``.
    zone
        The zone to show times in; UTC if none is given.

    Returns
    -------
    pandas.DataFrame
        The same rows; columns in ms become text such as ``"6:59:59.999"``, lists become text.
    """
    out = table.copy()
    for name in table.columns:
        if name.endswith("_ms"):
            missing = table[name].isna()
            out[name] = ["" if no else time_text(int(ms), zone) for ms, no in zip(table[name], missing, strict=True)]
        elif name == "events":
            out[name] = table[name].map(", ".join)
    names = {name: name.removesuffix("_ms") for name in table.columns}
    return out.rename(columns={name: _SHORT.get(short, short) for name, short in names.items()})
