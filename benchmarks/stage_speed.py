"""The stage in a browser: ``python -m benchmarks.stage_speed``.

Changed frames per second while it plays, beside an empty page in the same run; in JupyterLab the time from running a
cell to its first picture, and from a slider's move to the redrawn one. A frame counts as changed only if the line of
the present has moved.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.conftest import find_chromium
from tests.stage.jupyter import CHROMIUM_FLAGS, jupyterlab, run_all_cells, write_notebook
from wmviz import Scenario
from wmviz.stage import save_html

AIM_FRAMES = {200: 50, 2_000: 50, 20_000: 45}
AIM_SLIDER_MS = {200: 100, 2_000: 250, 20_000: 1_000}
AIM_FIRST_MS = {200: 500}
SECONDS = 3
ROUNDS = 3
MOVES = 9
WAIT_MS = 30_000
REST_MS = 700

FRAMES = """(seconds) => new Promise((resolve) => {
  const line = document.querySelector(".wmviz-now");
  let [frames, changed, before, start] = [0, 0, null, null];
  const tick = (at) => {
    start ??= at;
    frames += 1;
    const place = line?.getAttribute("x1");
    changed += place !== before;
    before = place;
    if (at - start < seconds * 1000) requestAnimationFrame(tick);
    else resolve({ frames: frames / seconds, changed: changed / seconds });
  };
  requestAnimationFrame(tick);
})"""

# From the gesture to the frame after the new picture is in place.
MOVE = """(stop) => new Promise((resolve) => {
  const slider = document.querySelector(".wmviz-field input[type=range]");
  const plane = document.querySelector(".wmviz-plane"); // its bands are drawn anew, whatever else is on a canvas
  const begun = performance.now();
  const watcher = new MutationObserver(() => {
    watcher.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
  });
  watcher.observe(plane, { childList: true, subtree: true });
  slider.value = stop;
  slider.dispatchEvent(new Event("input"));
})"""

# From the keys that run a cell to the frame after its stage is drawn; another stage is there already.
FIRST = """(before) => {
  window.firstPicture = new Promise((resolve) => {
    let begun = null;
    const started = (event) => { if (event.key === "Enter") begun = performance.now(); };
    addEventListener("keydown", started, { capture: true });
    const watcher = new MutationObserver(() => {
      if (document.querySelectorAll(".wmviz-plane").length <= before) return;
      watcher.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
    });
    watcher.observe(document.body, { childList: true, subtree: true });
  });
}"""

# The way to Python and back alone: a value that is refused.
REFUSED = """(text) => new Promise((resolve) => {
  const field = document.querySelector(".wmviz-field input[type=text]");
  const problem = document.querySelector(".wmviz-problem");
  const begun = performance.now();
  const watcher = new MutationObserver(() => {
    watcher.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
  });
  watcher.observe(problem, { childList: true, characterData: true, subtree: true });
  field.value = text;
  field.dispatchEvent(new Event("change"));
})"""


def scenario_code(events: int) -> str:
    """Write the job as Python: a steady stream, out of order within five minutes."""
    stream = {"generate": "steady", "events": events, "keys": 20, "spacing": "5 s", "disorder": "5 min"}
    return f'Scenario.of(events={stream}, bound="2 min", window="30 min", lateness="10 min", late_to="side")'


def frames(browser: Browser, folder: Path) -> dict[int, float]:
    """Measure frames per second by number of events: of an empty page (0), and changed ones of the stage, in turn."""
    pages: dict[int, Any] = {0: browser.new_page()}
    pages[0].goto("about:blank")
    for events in AIM_FRAMES:
        scenario = eval(scenario_code(events), {"Scenario": Scenario})  # noqa: S307 - written above
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(save_html(scenario, folder / f"{events}.html").as_uri())
        page.locator(".wmviz-plane").wait_for(timeout=WAIT_MS)
        pages[events] = page
    found: dict[int, list[float]] = {name: [] for name in pages}
    for _ in range(ROUNDS):
        for name, page in pages.items():
            page.bring_to_front()
            stage = page.locator(".wmviz-plane-box")
            if stage.count():
                stage.focus()
                page.keyboard.press("Space")
            measured = page.evaluate(FRAMES, SECONDS)
            found[name].append(measured["changed" if stage.count() else "frames"])
            if stage.count():
                page.keyboard.press("Space")
    return {name: statistics.median(values) for name, values in found.items()}


def slider_ms(browser: Browser, address: str, folder: Path, events: int) -> tuple[float, float]:
    """Measure median times in ms at the end of the run: a slider's move to the redrawn picture, and a refused value."""
    cell = f"import wmviz\nfrom wmviz import Scenario\nwmviz.play({scenario_code(events)})"
    write_notebook(folder / f"{events}.ipynb", cell)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/lab/tree/{events}.ipynb?reset")
    run_all_cells(page)
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    moved, refused = [], []
    for move in range(MOVES + 2):
        moved.append(page.evaluate(MOVE, 3 + move % 6))
        page.wait_for_timeout(REST_MS + events // 4)  # the sentences follow when the slider rests
        refused.append(page.evaluate(REFUSED, f"refused {move}"))
    page.close()
    return statistics.median(moved[2:]), statistics.median(refused[2:])


def first_ms(browser: Browser, address: str, folder: Path, events: int) -> float:
    """Measure the median time in ms from running a cell to its picture, in a notebook that has a stage already."""
    cell = "import wmviz\nfrom wmviz import Scenario\nwmviz.play(wmviz.scenario('leaderboard'))"
    write_notebook(folder / f"first-{events}.ipynb", cell, f"wmviz.play({scenario_code(events)})")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/lab/tree/first-{events}.ipynb?reset")
    page.get_by_text("| Idle").wait_for(timeout=WAIT_MS)
    taken = []
    page.locator(".jp-CodeCell").first.click()
    page.keyboard.press("Control+Enter")
    page.locator(".wmviz-plane").wait_for(timeout=WAIT_MS)
    for _ in range(MOVES):
        page.locator(".jp-CodeCell .jp-InputArea-editor").nth(1).click()
        page.wait_for_timeout(REST_MS + events // 4)
        page.evaluate(FIRST, 1)
        page.keyboard.press("Control+Enter")
        taken.append(page.evaluate("window.firstPicture"))
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="Edit", exact=True).click()
        page.get_by_role("menuitem", name="Clear Cell Output", exact=True).click()
        page.wait_for_function("document.querySelectorAll('.wmviz-plane').length === 1")
    page.close()
    return statistics.median(taken)


def main() -> int:
    """Print each measure beside its aim; 1 if one is missed."""
    missed = 0
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder, home = Path(scratch) / "notebooks", Path(scratch) / "jupyter"
        folder.mkdir()
        home.mkdir()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        for events, found in frames(browser, folder).items():
            name = f"{events:,} events" if events else "empty page"
            aim = f"  aim {AIM_FRAMES[events]}" if events else ""
            verdict = "  MISSED" if events and found < AIM_FRAMES[events] else ""
            missed += bool(verdict)
            print(f"frames per second, {name:14} {found:6.1f}{aim}{verdict}", flush=True)
        with jupyterlab(folder, home) as address:
            for events in AIM_FRAMES:
                found, aim = first_ms(browser, address, folder, events), AIM_FIRST_MS.get(events)
                missed += aim is not None and found > aim
                verdict = "" if aim is None else f"  aim {aim}{'  MISSED' if found > aim else ''}"
                print(f"cell to first picture, {events:,} events: {found:4.0f} ms{verdict}", flush=True)
            for events, aim_ms in AIM_SLIDER_MS.items():
                found, way = slider_ms(browser, address, folder, events)
                verdict = "  MISSED" if found > aim_ms else ""
                missed += bool(verdict)
                alone = f"of which the way to Python and back {way:.0f} ms"
                took = f"{found:4.0f} ms, {alone}  aim {aim_ms}{verdict}"
                print(f"slider to redrawn, {events:,} events: {took}", flush=True)
        browser.close()
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
