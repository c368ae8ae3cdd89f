"""The still picture of a run's end: an SVG with its legend, the same from run to run, and a compact text."""

from __future__ import annotations

import base64
import re
import textwrap
from html import escape
from typing import Any, NamedTuple

from wmviz.explain_runtime import counted
from wmviz.stage.engines import beside
from wmviz.stage.marks import Look, State
from wmviz.stage.picture import Frame, is_complete, needs_dates, window_text
from wmviz.stage.player import palette
from wmviz.stage.predicting import asked, kinds_of
from wmviz.stage.subject import show, subject_of
from wmviz.times import MIN_MS, time_text
from wmviz.trace import Kind, Trace

WIDTH, HEIGHT = 960, 580
LEFT, TOP, BOTTOM = 66, 84, 488
MOST_NAMED = 60
MOST_LETTERS, MOST_OF_TITLE = 19, 105
"""Letters of a window's name in one line, and of the title."""
MOST_RAILS, ACROSS, NAME_HEIGHT = 6, 16, 30
"""Most windows beside each other; the width of one that lies across; the least height of a band with a name."""
_BANDS = {State.FILLING: "filling", State.FIRED: "fired", State.CLOSED: "closed"}
_HALO = {"paint_order": "stroke", "stroke": "#fff", "stroke_width": 3, "stroke_linejoin": "round"}
DASHES = ("7 3", "3 3", "11 3 2 3", "5 2 2 2 2 2", "9 5", "2 4", "14 3", "6 3 1.5 3")
"""The dashes of each input's line, as on the stage."""
_RIGHT_TO_LEFT = re.compile(r"X+(?:\s+X+)*".replace("X", r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"))
_HOLLOW = {Look.IN_FLIGHT, Look.SIDE_OUTPUT, Look.NO_WINDOW, Look.LOST}


class Point(NamedTuple):
    """Where a watermark line has a corner: its step, its place on the axes (none for MIN), the watermark as text."""

    step: int
    x: int
    y: int | None
    text: str


def points_of(picture: dict[str, Any], clock: dict[str, Any]) -> list[Point]:
    """Give the corners of a clock's line."""
    pairs = zip(clock["values"][::2], clock["values"][1::2], strict=True)
    return [Point(step, picture["steps"][step], *picture["times"][place]) for step, place in pairs]


def combined_watermark(picture: dict[str, Any]) -> list[Point]:
    """Give the corners of the line of the window task, of the first one if there are several."""
    return points_of(picture, next(clock for clock in picture["watermarks"] if clock["role"] == "window"))


def picture_until(picture: dict[str, Any], step: int) -> dict[str, Any]:
    """Give a picture that ends at a step, as if nothing came after it; for stills only."""

    def cut(changes: list[Any]) -> list[Any]:
        return [change for change in changes if change[0] <= step]

    def cut_pairs(flat: list[Any]) -> list[Any]:
        return flat[: 2 * sum(1 for at in flat[::2] if at <= step)]

    bands = ({**band, "states": cut(band["states"]), "fires": cut(band["fires"])} for band in picture["bands"])
    return {
        **picture,
        "steps": picture["steps"][: step + 1],
        "event_looks": [cut_pairs(looks) for looks in picture["event_looks"]],
        "watermarks": [{**clock, "values": cut_pairs(clock["values"])} for clock in picture["watermarks"]],
        "bands": [band for band in bands if band["states"]],
        "pipeline": {**picture["pipeline"], "job": cut(picture["pipeline"]["job"])},
    }


class Still:
    """A stage that does not move: the end of the run as a picture, which reads well where nothing runs.

    Parameters
    ----------
    source, other, predict
        As for ``wmviz.play``. In predict mode the picture ends before the first question, so that it tells nothing.
    """

    def __init__(self, source: Any, other: Any = None, predict: Any = False) -> None:
        kinds = kinds_of(predict)
        self.trace, self.other, note, _ = subject_of(source, other, is_fixed=bool(kinds))
        self.scenario = self.trace.scenario
        self.asked: dict[str, Any] = {}
        self.beside: dict[str, Any] = {}
        if kinds:
            full = show(self.trace, self.scenario, note)
            self.asked = asked(self.trace, full, kinds)
            self.picture = untold(full, self.asked)
            return
        if self.other is None:
            self.picture = show(self.trace, self.scenario, note)
            return
        frame = Frame.of(self.trace, self.other)
        self.picture = show(self.trace, self.scenario, note, frame)
        self.beside = beside(self.trace, self.other, self.scenario, frame)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        if self.asked:
            return f"{image_html(self.picture)}{asked_html(self.asked)}"
        if not self.beside:
            return image_html(self.picture)
        parts = []
        captions = self.beside["differing"]["captions"]
        for picture, (name, rest) in zip((self.picture, self.beside["other"]), captions, strict=True):
            parts.append(f"<p><strong>{escape(name)}</strong> {escape(rest)}</p>{image_html(picture)}")
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.differences)
        return f"{''.join(parts)}<ul>{lines}</ul>"

    @property
    def differences(self) -> list[str]:
        """What differs between the two runs, in words; that they agree, if they do."""
        differing = self.beside["differing"]
        return [*differing["lines"], *([f"… and {differing['more']} more."] if differing["more"] else [])]

    def __repr__(self) -> str:
        """Give the end of the run as text; of two, what differs too; in predict mode, only what is asked."""
        if self.asked:
            return asked_text(self.asked)
        if self.other is None:
            return end_text(self.trace)
        return "\n".join([end_text(self.trace), end_text(self.other), *self.differences])


def untold(picture: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Give the picture of predict mode as it stands before the first question."""
    moment = asked["questions"][0]["moment"]
    before = picture_until(picture, picture["moments"][moment - 1] if moment else -1)
    return {**before, "title": asked["heading"], "about": ""}


def asked_html(asked: dict[str, Any]) -> str:
    """Write what predict mode asks first, to stand below the still."""
    question = asked["questions"][0]
    return f"<p>{escape(question['lead'])} {escape(question['ask'])}</p>"


def asked_text(asked: dict[str, Any]) -> str:
    """Say what predict mode asks first."""
    questions = asked["questions"]
    lines = [f"{asked['heading']} {counted(len(questions), 'question')} to predict; the first one:"]
    return "\n".join([*lines, f"{questions[0]['lead']} {questions[0]['ask']}"])


def end_text(trace: Trace) -> str:
    """Write the end of a run as text: the ledger, the watermark, and what the sink holds."""
    scenario = trace.scenario
    arrived, fates = _fates(trace)
    last = trace.value_at(("clock", trace.window_clock), trace.steps - 1)
    watermark_ms = MIN_MS if last is None else last
    totals = sorted(trace.totals.items(), key=lambda item: (item[0][1] or 0, item[0][0]))
    lines = [
        f"{scenario.title or scenario.name}: {arrived} events arrived{f': {fates}' if fates else ''}",
        f"watermark at the end: {time_text(watermark_ms, scenario.zone)}; results in the sink: {len(totals)}",
    ]
    dated = needs_dates(scenario, (window for _, window in trace.windows))
    windows = {(key, window.start_ms, window.end_ms): window for key, window in trace.windows}
    for row in totals[:MOST_LINES]:
        name, value = row
        values = value if isinstance(value, list) else [value]
        written = ", ".join(f"{one:,}" for one in values)
        lines.append(
            f"  {window_text(windows[name], scenario.zone, dated)} {name[0]}: {written} {scenario.unit}".rstrip()
        )
    if len(totals) > MOST_LINES:
        lines.append(f"  and {len(totals) - MOST_LINES} more")
    return "\n".join(lines)


MOST_LINES = 12


def _fates(trace: Trace) -> tuple[int, str]:
    """Count the events that have arrived, and say what became of them."""
    if is_complete(trace):
        ledger = trace.ledger()
        arrived = ledger.arrived
        parts = {
            "counted": ledger.counted,
            "side output": ledger.side_output,
            "dropped": ledger.dropped,
            "in no window": ledger.in_no_window,
        }
    else:
        fired = {event for row in trace.contents for event in trace.firing_events(row)}
        late = trace.outcomes().late
        arrived = sum(1 for kind in trace.kind if kind == Kind.ARRIVED)
        parts = {"counted": len(fired), "side output": len(late), "not observed": arrived - len(fired) - len(late)}
    return arrived, ", ".join(f"{number} {words}" for words, number in parts.items() if number)


def image_html(picture: dict[str, Any]) -> str:
    """Write the still as an image element, which even an untrusted notebook shows."""
    drawn = base64.b64encode(still_svg(picture).encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{drawn}" alt="{escape(description(picture))}" '
        f'width="{WIDTH}" style="max-width:100%;height:auto">'
    )


def description(picture: dict[str, Any]) -> str:
    """Say in words what the still shows."""
    counts = look_counts(picture)
    fates = ", ".join(f"{count} {words}" for words, count in zip(picture["looks"], counts, strict=True) if count)
    points = combined_watermark(picture)
    end = f"the watermark ends at {points[-1].text}" if points else "there is no watermark"
    return f"{picture['title']}: of {sum(counts)} events, {fates or 'none'}; {end}."


def look_counts(picture: dict[str, Any]) -> list[int]:
    """Count the events of each look at the end."""
    ends = [looks[-1] for looks in picture["event_looks"] if looks]
    return [ends.count(look) for look in Look]


def still_svg(picture: dict[str, Any]) -> str:
    """Draw the end of a run as SVG."""
    return _Drawing(picture).svg()


class _Drawing:
    """Writes the parts of the still; `taken` are the boxes that labels must leave free."""

    def __init__(self, picture: dict[str, Any]) -> None:
        self.picture = picture
        self.colour = palette()
        self.taken: list[tuple[float, float, float, float]] = []
        longest = max((len(words) for _, words in picture["y"]["ticks"]), default=0)
        self.left = max(LEFT, 14 + 6.4 * longest)
        self.named: list[tuple[float, float, float, float]] = []
        self.top = TOP
        self.right = 930
        if picture["band_axis"] == "y" and (picture["overlap"] > 1 or any(map(self.has_room, picture["bands"]))):
            self.right = 818
        elif picture["band_axis"] == "x" and picture["overlap"] > 1:
            self.top += min(picture["overlap"], MOST_RAILS) * ACROSS
        self.end = picture["steps"][-1] if picture["steps"] else picture["x"]["to"]
        self.points = combined_watermark(picture)

    def svg(self) -> str:
        name = f"wmviz-{self.picture['id']}"
        self.reserve()
        below, flags = [self.head(), self.bands(), self.axes()], self.fires()
        parts = [*below, self.watermark(), flags, self.marbles(), self.legend()]  # names of flags lie above the line
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-labelledby="{name}-title {name}-desc" font-family="system-ui, sans-serif" font-size="12">'
            f'<title id="{name}-title">{escape(self.picture["title"])}</title>'
            f'<desc id="{name}-desc">{escape(description(self.picture))}</desc>'
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8" fill="#fff" '
            f'stroke="{self.colour["line"]}"/>'
            f"{''.join(parts)}</svg>"
        )

    # ---------------------------------------------------------------- places

    def x(self, time: float) -> float:
        axis: dict[str, float] = self.picture["x"]
        return self.left + (time - axis["from"]) / (axis["to"] - axis["from"]) * (self.right - self.left)

    def y(self, time: float) -> float:
        axis: dict[str, float] = self.picture["y"]
        return BOTTOM - (time - axis["from"]) / (axis["to"] - axis["from"]) * (BOTTOM - self.top)

    def x_inside(self, time: float) -> float:
        return min(max(self.x(time), self.left), self.right)

    def y_inside(self, time: float | None) -> float:
        return BOTTOM if time is None else min(max(self.y(time), self.top), BOTTOM)

    def text(self, x: float, y: float, words: str, colour: str = "soft", **style: Any) -> str:
        extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
        return f'<text x="{x:.1f}" y="{y:.1f}" fill="{self.colour[colour]}"{extra}>{escape(_apart(words))}</text>'

    def label(self, x: float, y: float, words: str, colour: str = "soft", **style: Any) -> str:
        """Write a label beside a point, on the first side that is free; nothing if none is."""
        width = len(words) * (6.9 if "font_weight" in style else 6.3) + 4
        shifts = (0, 12, -12, 27, -27) if "font_weight" in style else (0, 12, -12)
        for shift in shifts:
            for left in (x + 9, x - 9 - width):
                box = (left, y + shift - 7, left + width, y + shift + 7)
                inside = left >= self.left and left + width <= self.right + 4 and box[3] <= BOTTOM
                if inside and not any(_overlap(box, other) for other in self.taken):
                    self.taken.append(box)
                    return self.text(left + 2, y + shift + 4, words, colour, **_HALO, **style)
        return ""

    def standing(self) -> list[tuple[list[Any], int, float, float]]:
        """Give the events that have arrived: the event, its look, x and y."""
        pairs = zip(self.picture["events"], self.picture["event_looks"], strict=True)
        return [(event, looks[-1], self.x(event[2]), self.y_inside(event[3])) for event, looks in pairs if looks]

    def reserve(self) -> None:
        """Keep labels away from the marbles, and from the name of the watermark."""
        events = self.standing()
        if len(events) <= MOST_NAMED:
            self.taken += [(x - 6, y - 6, x + 6, y + 6) for _, _, x, y in events]
        if self.points:
            x, y, width = self.watermark_place()
            self.taken.append((x - width, y - 12, x, y + 3))

    # ----------------------------------------------------------------- parts

    def head(self) -> str:
        note = self.picture["note"] or self.picture["about"]
        lines = textwrap.wrap(note, 146, max_lines=2, placeholder=" …") or [""]
        title = textwrap.shorten(self.picture["title"], MOST_OF_TITLE, placeholder=" …")
        title = self.text(20, 26, title, "ink", font_size=16, font_weight=600)
        return title + "".join(self.text(20, 45 + 15 * nth, line) for nth, line in enumerate(lines))

    def axes(self) -> str:
        line = f'stroke="{self.colour["line"]}" fill="none"'
        parts = [f'<path d="M{self.left} {self.top}V{BOTTOM}H{self.right}" {line}/>']
        for time, words in self.picture["x"]["ticks"]:
            parts.append(self.text(self.x(time), BOTTOM + 17, words, text_anchor="middle"))
        for time, words in self.picture["y"]["ticks"]:
            parts.append(self.text(self.left - 7, self.y(time) + 4, words, text_anchor="end"))
        parts.append(self.text(self.right, BOTTOM + 34, f"{self.picture['x']['title']} →", text_anchor="end"))
        parts.append(self.text(LEFT - 40, TOP - 10, f"↑ {self.picture['y']['title']}"))
        return "".join(parts) + self.diagonal()

    def diagonal(self) -> str:
        x, y = self.picture["x"], self.picture["y"]
        first, last = max(x["from"], y["from"]), min(x["to"], y["to"])
        if first >= last:
            return ""
        ends = f'x1="{self.x(first):.1f}" y1="{self.y(first):.1f}" x2="{self.x(last):.1f}" y2="{self.y(last):.1f}"'
        return f'<line {ends} stroke="{self.colour["soft"]}" stroke-dasharray="5 5" opacity="0.6"/>'

    def extent(self, band: dict[str, Any]) -> tuple[float, float, float, float]:
        """Give x1, y1, x2, y2 of a band."""
        axis = self.picture["band_axis"]
        x1, x2 = (self.x_inside(band["from"]), self.x_inside(band["to"])) if axis == "x" else (self.left, self.right)
        y1, y2 = (self.y_inside(band["to"]), self.y_inside(band["from"])) if axis == "y" else (self.top, BOTTOM)
        return x1, y1, x2, y2

    def bands(self) -> str:
        draw = self.rail if self.picture["overlap"] > 1 else self.band
        drawn = (draw(band, index) for index, band in enumerate(self.picture["bands"]))
        return "".join(drawn) + self.rails_named() + self.downs()

    def downs(self) -> str:
        """Draw the stretches of processing time in which the job is down."""
        parts, job = [], self.picture["pipeline"]["job"]
        for nth, (step, down, _) in enumerate(job):
            if down:
                x1 = self.x(self.picture["steps"][step])
                x2 = self.x(self.picture["steps"][job[nth + 1][0]] if nth + 1 < len(job) else self.end)
                parts.append(
                    f'<rect x="{x1:.1f}" y="{self.top}" width="{x2 - x1:.1f}" height="{BOTTOM - self.top}" '
                    f'fill="{self.colour["look-4"]}" opacity="0.12"/>'
                    + self.text(x1 + 4, BOTTOM - 6, "✕ down", "look-4", font_weight=600, **_HALO)
                )
        return "".join(parts)

    def band(self, band: dict[str, Any], _index: int) -> str:
        x1, y1, x2, y2 = self.extent(band)
        if x2 - x1 < 1 or y2 - y1 < 1:
            return ""
        parts = []
        by_event_time = self.picture["band_axis"] != "x"
        states = band["states"] if by_event_time else band["states"][-1:]
        for nth, (step, state, _) in enumerate(states):
            begin = max(x1, self.x(self.picture["steps"][step])) if by_event_time else x1
            until = self.picture["steps"][states[nth + 1][0]] if nth + 1 < len(states) else self.end
            finish = min(x2, self.x(until))
            if state not in _BANDS:
                continue
            colour = self.colour[_BANDS[State(state)]]
            parts.append(
                f'<rect x="{begin:.1f}" y="{y1:.1f}" width="{max(0, finish - begin):.1f}" '
                f'height="{y2 - y1:.1f}" fill="{colour}"/>'
            )
        if states and states[-1][1] == State.MERGED:  # the session that it is part of now has a band of its own
            return "".join(parts)
        edge = f"M{self.left} {y1:.1f}H{self.right}" if by_event_time else f"M{x2:.1f} {self.top}V{BOTTOM}"
        parts.append(f'<path d="{edge}" stroke="{self.colour["soft"]}" stroke-dasharray="1 3" opacity="0.55"/>')
        return "".join(parts) + self.band_label(band, x1, y1, x2, y2)

    def has_room(self, band: dict[str, Any]) -> bool:
        """Tell whether a band is high enough for its name beside it."""
        return self.y_inside(band["from"]) - self.y_inside(band["to"]) >= NAME_HEIGHT

    def band_label(self, band: dict[str, Any], x1: float, y1: float, x2: float, y2: float) -> str:
        aside = self.picture["band_axis"] == "y"
        if (y2 - y1 < NAME_HEIGHT) if aside else (x2 - x1 < len(band["label"]) * 6.6):
            return ""
        if not aside:
            return self.text(x1 + 5, y1 + 14, band["label"], "ink", font_weight=600, font_size=11.5)
        lines = band["label"].replace(", ", ",\n").split("\n") if len(band["label"]) > MOST_LETTERS else [band["label"]]
        y = self.free_for_name((y1 + y2) / 2 - 2 - 7 * (len(lines) - 1), 14 * len(lines) + 14)
        if y is None:
            return ""
        state = band["states"][-1]
        colour = {State.FILLING: "look-1", State.FIRED: "look-2"}.get(State(state[1]), "soft")
        names = [
            self.text(x2 + 8, y + 14 * nth, line, "ink", font_weight=600, font_size=11.5)
            for nth, line in enumerate(lines)
        ]
        return "".join(names) + self.text(x2 + 8, y + 14 * len(lines), state[2], colour, font_size=11)

    def free_for_name(self, wanted: float, high: float) -> float | None:
        """Give the height nearest to the wanted one at which no band has its name, since sessions overlap."""
        for shift in (0, 30, -30, 60, -60):
            box = (0.0, wanted + shift, 1.0, wanted + shift + high)
            if not any(_overlap(box, other) for other in self.named):
                self.named.append(box)
                return wanted + shift
        return None

    def rail(self, band: dict[str, Any], index: int) -> str:
        """Draw a window that lies over others at the right, or by processing time on top; of many, every so manieth."""
        lanes, every = min(self.picture["overlap"], MOST_RAILS), -(-self.picture["overlap"] // MOST_RAILS)
        across = self.picture["band_axis"] == "x"
        place = self.x_inside if across else self.y_inside
        first, last = sorted((place(band["from"]), place(band["to"])))
        if index % every or last - first < 3:
            return ""
        width = ACROSS if across else 84 / lanes
        lane = (TOP + 2 if across else self.right + 8) + index // every % lanes * width
        state = State(band["states"][-1][1])
        colour = self.colour[_BANDS[state]] if state in _BANDS else "none"
        x, y, wide, high = (
            (first + 1, lane, last - first - 2, width - 4) if across else (lane, first + 1, width - 4, last - first - 2)
        )
        edge = f"M{last:.1f} {lane:.1f}V{BOTTOM}" if across else f"M{self.left} {first:.1f}H{lane:.1f}"
        return (
            f'<path d="{edge}" stroke="{self.colour["soft"]}" stroke-dasharray="1 3" opacity="0.55"/>'
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="3" '
            f'fill="{colour}" stroke="{self.colour["line"]}"/>' + self.rail_label(band["label"], x, y, wide, high)
        )

    def rail_label(self, label: str, x: float, y: float, wide: float, high: float) -> str:
        if max(wide, high) < len(label) * 6 + 8 or min(wide, high) < 9:
            return ""
        if wide > high:
            return self.text(x + 5, y + high - 2, label, font_size=11)
        x, y = x + wide / 2 + 4, y + high - 5
        return self.text(x, y, label, font_size=11, transform=f"rotate(-90 {x:.1f} {y:.1f})")

    def rails_named(self) -> str:
        """Say which windows have a rail, if not all of them have one."""
        every = -(-self.picture["overlap"] // MOST_RAILS)
        if every == 1:
            return ""
        y = TOP - 10 if self.picture["band_axis"] == "x" else BOTTOM + 17
        return self.text(WIDTH - 20, y, f"1 window in {every}", text_anchor="end", font_size=11)

    def fires(self) -> str:
        parts = []
        if len(self.picture["events"]) <= MOST_NAMED:
            for band in self.picture["bands"]:
                y1 = self.extent(band)[1]
                steps = (self.x(self.picture["steps"][step]) for step, *_ in band["fires"])
                self.taken += [(x - 6, y1 - 5, x + 6, y1 + 5) for x in steps]
        for band in self.picture["bands"]:
            _, y1, x2, y2 = self.extent(band)
            for step, late, words, _ in band["fires"]:
                x = x2 if self.picture["band_axis"] == "x" else self.x(self.picture["steps"][step])
                colour = "look-2" if late else "watermark"
                foot = y1 + 10 if late or self.picture["overlap"] > 1 else y2
                parts.append(
                    f'<path d="M{x:.1f} {y1:.1f}V{foot:.1f}" stroke="{self.colour[colour]}" stroke-width="1.5"/>'
                    f'<path d="M{x - 5:.1f} {y1 - 4:.1f}h10l-5 8z" fill="{self.colour[colour]}"/>'
                )
                if self.names_fire(late):
                    parts.append(self.label(x, y1 - 2, words, colour, font_weight=600))
        return "".join(parts)

    def names_fire(self, late: bool) -> bool:
        few = len(self.picture["events"]) <= MOST_NAMED
        return len(self.picture["bands"]) < 40 and self.picture["band_axis"] != "x" and (few or not late)

    def watermark(self) -> str:
        if not self.points:
            return self.inputs() + self.text(
                self.right - 4, BOTTOM - 7, "no watermark", "watermark", text_anchor="end", font_weight=600
            )
        line = self.staircase(self.points, f'stroke="{self.colour["watermark"]}" stroke-width="2.25"')
        x, y, _ = self.watermark_place()
        words = f"watermark {self.points[-1].text}{self.watermark_beyond()}"
        name = self.text(x, y, words, "watermark", text_anchor="end", font_weight=600, **_HALO)
        return self.inputs() + line + name

    def watermark_beyond(self) -> str:
        """Give an arrow if the last watermark is too far off for the axis, as on the stage."""
        last, axis = self.points[-1], self.picture["y"]
        if last.y is None or last.text == "MAX" or axis["from"] <= last.y <= axis["to"]:
            return ""
        return " ↑" if last.y > axis["to"] else " ↓"

    def staircase(self, points: list[Point], style: str) -> str:
        path, drawing = "", False
        for point in points:
            path += f"H{self.x(point.x):.1f}" if drawing else f"M{self.x(point.x):.1f} {BOTTOM}"
            drawing = point.y is not None  # a restored job begins without a watermark
            path += "" if point.y is None else f"V{self.y_inside(point.y):.1f}"
        end = f"H{self.x(self.end):.1f}" if drawing else ""
        return f'<path d="{path}{end}" fill="none" {style}/>'

    def inputs(self) -> str:
        """Draw the watermark of each input as a quiet line, with its name where it begins."""
        parts = []
        for clock in self.picture["watermarks"]:
            points = points_of(self.picture, clock)
            if clock["line"] < 0 or not points:
                continue
            dashes = DASHES[clock["line"] % len(DASHES)]
            style = f'stroke="{self.colour["input"]}" stroke-width="1.25" stroke-dasharray="{dashes}"'
            name = clock["name"].split(" → ")[0]
            x, y = self.x(points[-1].x), self.y_inside(points[-1].y)
            parts += [self.staircase(points, style), self.label(x + 4, y - 9, name, "input", font_size=11)]
        return "".join(parts)

    def watermark_place(self) -> tuple[float, float, float]:
        """Give where the name of the watermark ends, and its width."""
        last = self.points[-1]
        return self.x(self.end) - 7, min(self.y_inside(last.y) + 16, BOTTOM - 4), len(last.text) * 6.9 + 75

    def marbles(self) -> str:
        events = self.standing()
        scale = 1 if len(events) <= 400 else 0.5
        # One key for all events says nothing.
        named = len(events) <= MOST_NAMED and len({event[1] for event, *_ in events}) > 1
        if len(events) > MOST_NAMED:
            return self.many_marbles(events, scale)
        parts = [self.marble(look, x, y) for _, look, x, y in events] + [self.beyond(*event) for event in events]
        if named:
            parts += [self.label(x, y, event[1], font_size=11) for event, _, x, y in events]
        return "".join(parts)

    def beyond(self, event: list[Any], _look: int, x: float, y: float) -> str:
        """Draw an arrow at an event that is too far off for the axis."""
        axis = self.picture["y"]
        if axis["from"] <= event[3] <= axis["to"]:
            return ""
        side = -1 if event[3] > axis["to"] else 1
        path = f"M{x - 4:.1f} {y + 9 * side:.1f}l4 {5 * side}l4 {-5 * side}"
        return f'<path d="{path}" fill="none" stroke="{self.colour["ink"]}" stroke-width="1.25"/>'

    def many_marbles(self, events: list[tuple[list[Any], int, float, float]], scale: float) -> str:
        """Draw each kind of marble once, and put it where its events are: the file stays small."""
        name = "look"
        looks = sorted({look for _, look, *_ in events})
        kinds = "".join(f'<g id="{name}-{look}">{self.marble(look, 0, 0, scale)}</g>' for look in looks)
        places = (f'<use href="#{name}-{look}" x="{x:.1f}" y="{y:.1f}"/>' for _, look, x, y in events)
        return f"<defs>{kinds}</defs>{''.join(places)}{''.join(self.beyond(*event) for event in events)}"

    def marble(self, look: int, x: float, y: float, scale: float = 1) -> str:
        colour = self.colour[f"look-{look}"]
        cross = look == Look.DROPPED
        fill = "none" if cross else "#fff" if Look(look) in _HOLLOW else colour
        stroke, width = (colour, 2.4) if cross or Look(look) in _HOLLOW else ("#fff", 1.2)
        place = f"translate({x:.1f} {y:.1f})" + (f" scale({scale})" if scale != 1 else "")
        shape = self.picture["shapes"][look]
        return f'<path transform="{place}" d="{shape}" fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>'

    def legend(self) -> str:
        """Write the ledger, which explains the marbles; the bands and the lines are named where they lie."""
        parts, x = [], 28.0
        for look, count in enumerate(look_counts(self.picture)):
            if count or look == Look.ON_TIME:
                words = f"{self.picture['looks'][look]}: {count:,}"
                parts += [self.marble(look, x, HEIGHT - 24), self.text(x + 13, HEIGHT - 20, words, "ink")]
                x += len(words) * 6.4 + 40
        parts.append(self.text(x, HEIGHT - 20, f"arrived: {sum(look_counts(self.picture)):,}", "ink", font_weight=600))
        return "".join(parts) + self.band_legend() + self.readers()

    def readers(self) -> str:
        """Say what the two kinds of readers of a transactional sink find."""
        if not self.picture["readers"]:
            return ""
        committed, written = self.picture["readers"]
        words = f"A reader of committed results finds {committed:,} of them; one of uncommitted results, {written:,}."
        return self.text(20, HEIGHT - 40, words)

    def band_legend(self) -> str:
        """Name the colours of the bands, at the right of the last line."""
        parts, x = [], WIDTH - 20.0
        for words, colour in reversed((("filling", "filling"), ("fired", "fired"), ("closed", "closed"))):
            x -= len(words) * 6.4
            swatch = f'<rect x="{x - 20:.1f}" y="{HEIGHT - 31}" width="15" height="13" rx="2" '
            edge = f'fill="{self.colour[colour]}" stroke="{self.colour["line"]}"/>'
            parts += [swatch + edge, self.text(x, HEIGHT - 20, words, "ink")]
            x -= 34
        parts.append(self.text(x, HEIGHT - 20, "windows:", text_anchor="end"))
        return "".join(parts)


def _apart(words: str) -> str:
    """Set words that run from right to left apart, so that the numbers behind them stay where they are."""
    return _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", words)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
