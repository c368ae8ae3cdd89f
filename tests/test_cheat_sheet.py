"""docs/cheat-sheet.html: made by its tool, every number from a run, defaults as in Flink, and one page when printed."""

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import wmviz
from tests.stage.jupyter import CHROMIUM_FLAGS
from wmviz.times import duration_ms, time_ms

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cheat-sheet.html"
TIME = re.compile(r"\d:\d\d:\d\d\.\d{3}")


@cache
def tool():
    spec = importlib.util.spec_from_file_location("cheatsheet_tool", ROOT / "tools" / "cheatsheet.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def ms(name):
    return time_ms(tool().figures()[name])


def test_it_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == tool().page(), "make cheatsheet"


def test_every_time_to_the_millisecond_comes_from_a_run():
    written = set(TIME.findall(tool().TEMPLATE.read_text(encoding="utf-8")))
    assert written == set()
    assert set(TIME.findall(PAGE.read_text(encoding="utf-8"))) <= set(tool().figures().values())


def test_the_numbers_are_those_of_the_rules():
    bound_ms, lateness_ms, end_ms = tool().BOUND_MS, tool().LATENESS_MS, time_ms("7:00")
    assert ms("example") == time_ms("7:05") - bound_ms - 1
    assert ms("fires_at") == end_ms - 1 == ms("fires") - bound_ms - 1
    assert (ms("before"), ms("before_at")) == (ms("fires") - 1, ms("fires_at") - 1)
    assert ms("gone_at") == end_ms - 1 + lateness_ms == ms("gone") - bound_ms - 1
    assert ms("last_counted_at") == ms("gone_at") - 1
    assert (ms("sql"), ms("sql_at")) == (ms("fires") - 1, end_ms - 1)
    assert ms("lowest") == min(ms("busy"), ms("silent"))
    assert (tool().figures()["least_ticks"], tool().figures()["most_ticks"]) == ("1", "3")


def test_a_search_finds_the_first_and_refuses_what_never_holds():
    assert tool().earliest(lambda ms: ms >= time_ms("7:13:37.123")) == time_ms("7:13:37.123")
    with pytest.raises(AssertionError, match="must hold"):
        tool().earliest(lambda _: False)


def test_its_example_fires_again_and_is_an_upsert():
    firings = wmviz.simulate(tool().job(ms("fires"), ["r9", 500, "6:56", "9:01"])).all_firings
    assert [(firing.value, firing.nth) for firing in firings] == [(1000, 1), (1500, 2)]


def test_it_is_one_file_that_needs_nothing():
    text = PAGE.read_text(encoding="utf-8")
    assert not re.findall(r"https?:|<script|<link|<img|url\(|@import", text)


def test_the_defaults_are_flinks_own(flink):
    """Read each option of the running Flink, and its default."""
    from wmviz.flink import startup

    java = startup.job().get_gateway().jvm.org.apache.flink
    holders = [
        java.configuration.PipelineOptions,
        java.configuration.CheckpointingOptions,
        java.configuration.StateBackendOptions,
        java.table.api.config.ExecutionConfigOptions,
    ]
    options = {}
    for holder in holders:
        for name in dir(holder):
            if name.isupper() and hasattr(getattr(holder, name), "defaultValue"):
                option = getattr(holder, name)
                options[option.key()] = option.defaultValue()
    for name, written, _ in tool().DEFAULTS:
        assert name in options, name
        assert as_written(options[name]) == (duration_ms(written) if written.endswith(("ms", "min")) else written), name


def as_written(default):
    """Give a default of Flink as the sheet has it: a duration in ms, all else as text."""
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, int | str):
        return str(default)
    return default.toMillis() if default.getClass().getName() == "java.time.Duration" else default.toString()


def test_it_prints_on_one_page(chromium_path, tmp_path):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_FLAGS)
        page = chromium.new_page(viewport={"width": 1000, "height": 1200})
        page.goto(PAGE.as_uri())
        page.pdf(path=tmp_path / "sheet.pdf", prefer_css_page_size=True)
        wider = page.evaluate(
            "[...document.querySelectorAll('section, td, .rule')].filter(n => n.scrollWidth > n.clientWidth + 1).length"
        )
        chromium.close()
    data = (tmp_path / "sheet.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", data)) == 1
    assert re.search(rb"/MediaBox \[0 0 59[45][.\d]* 84[12]", data), "not A4"
    assert wider == 0
