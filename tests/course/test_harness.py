"""The engine on a learner's pieces: a right one changes nothing, a wrong one does, a broken one gets a sentence."""

import pytest

import wmviz
from wmviz import course
from wmviz.course.answers import AnswerError
from wmviz.course.harness import _Barriers
from wmviz.engine.barriers import CheckpointBarrier
from wmviz.times import MIN_MS

LEADERBOARD = wmviz.scenario("leaderboard")
INPUTS = wmviz.scenario("return-from-idle-channel")
BARRIERS = wmviz.scenario("barrier-alignment")


def is_late(end_ms, lateness_ms, watermark_ms):
    return end_ms - 1 + lateness_ms <= watermark_ms


class Valve:
    """Flink's rule, once more and in other words."""

    def __init__(self, channels):
        self.newest = [MIN_MS] * channels
        self.idle = [False] * channels
        self.left_out = [False] * channels
        self.out = MIN_MS

    def counted(self):
        channels = zip(self.newest, self.idle, self.left_out, strict=True)
        return [ms for ms, idle, left_out in channels if not idle and not left_out]

    def through(self, ms):
        if ms <= self.out:
            return None
        self.out = ms
        return ms

    def on_watermark(self, channel, watermark_ms):
        if self.idle[channel]:
            return None
        self.newest[channel] = max(self.newest[channel], watermark_ms)
        if self.newest[channel] >= self.out:
            self.left_out[channel] = False
        counted = self.counted()
        return self.through(min(counted)) if counted else None

    def on_idle(self, channel):
        held = self.newest[channel] == self.out
        self.idle[channel] = True
        if all(self.idle):
            return self.through(max(self.newest)) if held else None
        counted = self.counted()
        return self.through(min(counted)) if held and counted else None

    def on_active(self, channel):
        self.idle[channel] = False
        self.left_out[channel] = self.newest[channel] < self.out


class Minimum(Valve):
    """Leaves out nobody."""

    def on_active(self, channel):
        self.idle[channel] = False


class Aligned:
    """Blocks until all barriers are there."""

    def __init__(self, channels):
        self.channels, self.seen = channels, set()

    def on_barrier(self, channel, checkpoint_id):
        self.seen.add(channel)
        if len(self.seen) < self.channels:
            return "block"
        self.seen.clear()
        return "snapshot"


def same(trace, scenario):
    return trace.outcomes() == wmviz.simulate(scenario).outcomes()


@pytest.mark.parametrize("name", ["leaderboard", "sliding-gaps", "price-feed", "written-twice"])
def test_the_right_lateness_rule_changes_nothing(name):
    scenario = wmviz.scenario(name)
    assert same(course.run_with(is_late, scenario, "lateness"), scenario)


@pytest.mark.parametrize(
    "rule",
    [
        lambda end_ms, lateness_ms, watermark_ms: end_ms - 1 <= watermark_ms,
        lambda end_ms, lateness_ms, watermark_ms: end_ms + lateness_ms <= watermark_ms,
        lambda end_ms, lateness_ms, watermark_ms: False,
    ],
)
def test_a_wrong_lateness_rule_changes_the_results(rule):
    assert not same(course.run_with(rule, LEADERBOARD, "lateness"), LEADERBOARD)


@pytest.mark.parametrize(
    "name", ["return-from-idle-channel", "spare-subtask", "two-inputs", "finished-input", "idle-bet"]
)
def test_the_right_valve_changes_nothing(name):
    scenario = wmviz.scenario(name)
    assert same(course.run_with(Valve, scenario, "valve"), scenario)


def test_a_valve_that_leaves_out_nobody_holds_the_clock():
    assert not same(course.run_with(Minimum, INPUTS, "valve"), INPUTS)


def test_the_right_barrier_handler_changes_nothing():
    own = course.run_with(Aligned, BARRIERS, "barriers")
    assert same(own, BARRIERS)
    assert own.table().to_dict("list") == wmviz.simulate(BARRIERS).table().to_dict("list")


@pytest.fixture
def gate():
    """Give a handler as the engine has it, and what it asks for."""
    asked = []

    class Out:
        def __getattr__(self, name):
            return lambda *given: asked.append((name, *given))

    return _Barriers(Aligned, 3, Out()), asked


def test_a_newer_barrier_lets_go_of_what_was_blocked_for_an_older_one(gate):
    handler, asked = gate
    handler.process_barrier(CheckpointBarrier(1), 0)
    handler.process_barrier(CheckpointBarrier(2), 1)
    assert asked == [("block_consumption", 0), ("resume_consumption", 0), ("block_consumption", 1)]


def test_a_handler_is_not_asked_about_a_checkpoint_that_was_cancelled(gate):
    handler, asked = gate
    handler.process_barrier(CheckpointBarrier(1), 0)
    handler.process_cancellation(1, 1)
    handler.process_barrier(CheckpointBarrier(1), 2)
    assert asked == [("block_consumption", 0), ("resume_consumption", 0)]


class Hasty(Aligned):
    """Takes the snapshot at the first barrier and forgets the others."""

    def on_barrier(self, channel, checkpoint_id):
        return "snapshot" if super().on_barrier(channel, checkpoint_id) == "block" else "pass"


def test_a_barrier_handler_that_does_not_wait_counts_twice_or_loses():
    crash = BARRIERS.replace(happenings=[{"what": "crash", "at": BARRIERS.events[-1].arrival_time_ms + 1}])
    right, hasty = wmviz.simulate(crash), course.run_with(Hasty, crash, "barriers")
    assert len(hasty) != len(right)


def start(timestamp_ms, offset_ms, size_ms):
    return timestamp_ms - (timestamp_ms - offset_ms) % size_ms


@pytest.mark.parametrize("name", ["leaderboard", "sliding-gaps", "half-hour-zone", "price-feed"])
def test_the_right_start_of_a_window_changes_nothing(name):
    scenario = wmviz.scenario(name)
    own = course.run_with(start, scenario, "window start")
    assert same(own, scenario)
    assert own.table().to_dict("list") == wmviz.simulate(scenario).table().to_dict("list")


@pytest.mark.parametrize("window", [{"offset": "20 min"}, {"type": "sliding", "size": "50 min", "slide": "20 min"}])
def test_the_right_start_follows_offsets_and_slides(window):
    scenario = LEADERBOARD.replace(window=window)
    assert same(course.run_with(start, scenario, "window start"), scenario)


@pytest.mark.parametrize("name", ["sliding-gaps", "half-hour-zone"])
def test_a_wrong_start_of_a_window_changes_the_results(name):
    scenario = wmviz.scenario(name)
    assert not same(course.run_with(lambda at_ms, *_: at_ms, scenario, "window start"), scenario)


def test_a_start_that_is_far_off_gives_no_windows_without_end():
    far = course.run_with(lambda *_: 10**15, wmviz.scenario("sliding-gaps"), "window start")
    assert not far.all_firings


def needed(times_ms, size_ms):
    newest_ms = times_ms[0]
    for at_ms in times_ms:
        yield max(newest_ms - (at_ms - at_ms % size_ms + size_ms) + 1, 0)
        newest_ms = max(newest_ms, at_ms)


BUOYS = course.given("5.least-for-all").replace(bound="1 min")


@pytest.mark.parametrize("scenario", [BUOYS, BUOYS.replace(late_to="drop"), BUOYS.replace(bound="2 min 1 ms")])
def test_the_right_smallest_bounds_change_nothing(scenario):
    own = course.run_with(needed, scenario, "smallest bounds")
    assert same(own, scenario)
    assert own.table().to_dict("list") == wmviz.simulate(scenario).table().to_dict("list")


@pytest.mark.parametrize("off_ms", [-1, 1])
def test_smallest_bounds_that_are_off_by_a_millisecond_change_the_results(off_ms):
    edge = BUOYS.replace(bound=BUOYS.bound_ms + (off_ms > 0))  # the edge of reef's 7:19:10
    own = course.run_with(lambda *given: [max(ms + off_ms, 0) for ms in needed(*given)], edge, "smallest bounds")
    assert not same(own, edge)


class Empty:
    def __init__(self, channels):
        pass


@pytest.mark.parametrize(
    ("own", "piece", "sentence"),
    [
        (3, "lateness", "Give the function itself"),
        (lambda *_: None, "lateness", "is_late gives nothing so far. Let it return True or False."),
        (lambda: True, "lateness", "is_late stops with TypeError"),
        (Valve(2), "valve", "Give the class itself"),
        (Empty, "valve", "The class has no method on_watermark."),
        (Empty, "barriers", "The class has no method on_barrier."),
        (3, "window start", "Give the function itself"),
        (3, "smallest bounds", "Give the function itself"),
        (needed, "smallest bounds", "workout-sessions does not fit"),
        (lambda *_: "6:00", "window start", "start gives '6:00'. A start is a whole number of milliseconds."),
        (Valve, "lock", "There is no piece 'lock'; there are: generator, lateness, valve, barriers, window start, "),
    ],
)
def test_what_cannot_run_gets_a_sentence(own, piece, sentence):
    fitting = {"barriers": BARRIERS, "lateness": LEADERBOARD, "smallest bounds": wmviz.scenario("workout-sessions")}
    scenario = fitting.get(piece, INPUTS)
    with pytest.raises(AnswerError) as caught:
        course.run_with(own, scenario, piece)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("name", ["workout-sessions", "daylight-saving"])
def test_a_start_needs_windows_on_a_grid_of_utc(name):
    with pytest.raises(AnswerError, match=f"{name} has no windows on a grid of UTC"):
        course.run_with(start, wmviz.scenario(name), "window start")


def test_a_watermark_that_goes_back_gets_a_sentence():
    class Last(Empty):
        def on_watermark(self, channel, watermark_ms):
            return watermark_ms

        def on_idle(self, channel):
            return None

        on_active = on_idle

    with pytest.raises(AnswerError, match=r"on_watermark gives 6:54:59.999 after 7:04:59.999. A watermark never goes"):
        course.run_with(Last, INPUTS, "valve")


def test_what_is_neither_block_nor_snapshot_gets_a_sentence():
    class Odd(Empty):
        def on_barrier(self, channel, checkpoint_id):
            return None

    with pytest.raises(AnswerError, match=r'on_barrier gives None. Let it return "block", "snapshot" or "pass"'):
        course.run_with(Odd, BARRIERS, "barriers")
