"""The browser's part of the stage: one ES module, joined from small files in a fixed order, and one stylesheet."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def module_text() -> str:
    """Give the ES module."""
    folder = files(__package__) / "js"
    parts = sorted((part for part in folder.iterdir() if part.name.endswith(".js")), key=lambda part: part.name)
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)


@cache
def style_text() -> str:
    """Give the stylesheet."""
    return (files(__package__) / "stage.css").read_text(encoding="utf-8")


@cache
def palette() -> dict[str, str]:
    """Give the light colours of the stylesheet by name, for pictures that bring no stylesheet along."""
    light = style_text().split("}", 1)[0]
    found = re.findall(r"--wmviz-([\w-]+): (?:var\([^,]+, )?([^;]+?)\)?;", light)
    return {name: f"{value})" if value.startswith("rgb(") else value for name, value in found}
