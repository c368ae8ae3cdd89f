"""Ten minutes of play: ``make soak``, or ``python -m benchmarks.stage_soak MINUTES``.

A stage of 2,000 events plays, gets another picture as from a slider, is gone through by keyboard, and plays again.
Every round the garbage is collected, and what the page holds is read. It is flat if the last third of the rounds holds
no more than the first one, but for a small share.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.conftest import find_chromium
from tests.stage.jupyter import CHROMIUM_FLAGS
from tests.stage.test_browser import HOSTED
from wmviz import Scenario
from wmviz.stage.player import module_text, style_text
from wmviz.stage.subject import subject_of
from wmviz.stage.widget import Stage

MINUTES = 10.0
EVENTS = 2_000
PLAY_S = 8
MOST_GROWTH = 1.05
KEYS = ("Home", "ArrowRight", "ArrowRight", "End", "f", "f", "m", "w", "ArrowUp", "ArrowDown", "Escape")
_LEFT_OUT = ("layout", "tooltip", "tabbable", "comm")


def pictures() -> list[dict[str, Any]]:
    """Give what a widget holds before and after a slider's move."""
    stream = {"generate": "steady", "events": EVENTS, "keys": 20, "spacing": "5 s", "disorder": "5 min"}
    scenario = Scenario.of(events=stream, bound="2 min", window="30 min", lateness="10 min", late_to="side")
    stage = Stage(subject_of(scenario))

    def values() -> dict[str, Any]:
        return {name: getattr(stage, name) for name in stage.keys if name[0] != "_" and name not in _LEFT_OUT}

    first = values()
    stage.bound = "5 min"
    return [first, {name: value for name, value in values().items() if value != first[name]}]


def held(devtools: Any) -> tuple[float, int]:
    """Collect the garbage; give the heap in MB and the number of nodes."""
    devtools.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    return metrics["JSHeapUsedSize"] / 1e6, int(metrics["Nodes"])


def play(page: Page, news: dict[str, Any]) -> None:
    """Play for a while, take another picture, and go through it by keyboard."""
    page.evaluate("window.model.set('step', -1)")
    page.evaluate("window.model.set('speed', 8)")
    page.evaluate("window.model.set('playing', true)")
    page.wait_for_timeout(PLAY_S * 1_000)
    page.evaluate("window.model.set('playing', false)")
    page.evaluate("window.take", news)
    page.locator(".wmviz-plane-box").focus()
    for key in KEYS:
        page.keyboard.press(key)


def main(minutes: float) -> int:
    """Play for some minutes; 1 if the page holds more and more."""
    first, changed = pictures()
    both = [changed, {name: first[name] for name in changed}]
    rounds: list[tuple[float, int]] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto("about:blank")
        page.add_style_tag(content=style_text())
        page.evaluate(HOSTED, [module_text(), first])
        page.locator(".wmviz-plane").wait_for()
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end or len(rounds) < 6:
            play(page, both[len(rounds) % 2])
            rounds.append(held(devtools))
            print(f"round {len(rounds):3}: heap {rounds[-1][0]:6.1f} MB, {rounds[-1][1]:,} nodes", flush=True)
        browser.close()
    return verdict(rounds)


def verdict(rounds: list[tuple[float, int]]) -> int:
    """Compare the last third of the rounds with the first; the first round is left out, in which all is made."""
    third = max(1, (len(rounds) - 1) // 3)
    growth = []
    for nth, what in enumerate(("heap", "nodes")):
        before = statistics.median(one[nth] for one in rounds[1 : 1 + third])
        after = statistics.median(one[nth] for one in rounds[-third:])
        growth.append(after / before)
        print(f"{what}: {after / before:.3f} times as much at the end, aim at most {MOST_GROWTH}")
    return int(max(growth) > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES))
