"""Sheet 11: right answers in any form, and the message that each typical wrong one gets."""

from datetime import timedelta

import numpy as np
import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.sheets import crash_and_restore as sheet
from wmviz.times import time_ms

AGAIN = ["south@8:02:55", "north@8:03:10", "north@8:03:25"]

NUMBER = "11"

RIGHT = [
    ("overwritten", sheet.DOCKS.replace(emission="interval", interval="1 h")),
    ("read-again", AGAIN),
    ("read-again", ", ".join(AGAIN)),
    ("read-again", set(AGAIN)),
    ("three-sources", [105, 175, 75]),
    ("three-sources", ("105", "175 parcels", 75.0)),
    ("three-sources", "105, 175, 75"),
    ("three-sources", {"offsets": 105, "starts again": 175, "keeps nothing": 75}),
    ("late-no-more", ["north@9:04:50", "south@9:04:55"]),
    ("late-no-more", {"south@9:04:55", "north@9:04:50"}),
    ("overwritten", sheet.DOCKS.replace(lateness="55.001 s")),
    ("overwritten", sheet.DOCKS.replace(lateness="2 min", late_to="drop")),
    ("overwritten", sheet.DOCKS.replace(lateness="1 h", checkpoints={"interval": "30 s", "mode": "unaligned"})),
    ("overwritten", sheet.DOCKS.replace(bound="2 min")),
    ("checkpoint-interval", "25 s"),
    ("checkpoint-interval", 25_000),
    ("checkpoint-interval", timedelta(seconds=25)),
    ("guard", lambda old, new: new.events >= old.events),
    ("guard", lambda old, new: new.events > old.events),
    ("guard", lambda old, new: not new[1] < old[1]),
    ("guard", lambda old, new: new.events == old.events + 1),
    ("guard", lambda old, new: max(old, new, key=lambda row: row.events) is new),
    ("guard", lambda old, new: np.bool_(new.events - old.events > 0)),
]

WRONG = [
    ("guard", lambda old, new: new.events > 1, "a whole of 5"),
    ("guard", lambda old, new: new.events > 2, "a whole of 5"),
    ("guard", lambda old, new: new.events > 3, "It refuses a correction"),
    ("overwritten", sheet.DOCKS.replace(partitions=2), "no window fires in this run"),
    ("overwritten", sheet.DOCKS.replace(bound="1 d"), "no window fires in this run"),
    ("overwritten", sheet.DOCKS.replace(start=None), "The start of the job is what it is"),
    ("read-again", ["north@8:03:25"], "Of south's 8:02:55 look at the arrival"),
    ("read-again", ["south@8:02:55", "north@8:03:25"], "The savepoint of 8:03:20 is newer, but is not used"),
    ("read-again", [*AGAIN, "north@8:02:50"], "its 30 parcels are in the state"),
    ("read-again", [*AGAIN, "south@8:03:45"], "but only once"),
    ("read-again", [*AGAIN, "north@8:04:20"], "when the job runs again"),
    ("read-again", [], "look at the arrival"),
    ("three-sources", [70, 175, 75], "A source with offsets: that is the checkpoint alone"),
    ("three-sources", [100, 175, 75], "A source with offsets: that is the state at the crash"),
    ("three-sources", [135, 175, 75], "the 20 and the 10 count once"),
    ("three-sources", [105, 105, 75], "A source that starts again: the list begins at its first event"),
    ("three-sources", [105, 205, 75], "Only the state of 8:03 is added"),
    ("three-sources", [105, 175, 70], "A source that keeps nothing: 5 parcels come after the restart"),
    ("three-sources", [105, 175, 105], "what came since the checkpoint is lost"),
    ("three-sources", [105, 3, 75], "3 is too few"),
    ("late-no-more", ["north@9:04:50"], "What does south's 9:04:55 meet?"),
    ("late-no-more", ["south@9:04:55"], "Right after the restore the watermark is at MIN"),
    ("late-no-more", ["south@9:04:40", "north@9:04:50", "south@9:04:55"], "Nobody reads it again"),
    ("late-no-more", ["north@9:04:50", "south@9:04:55", "south@9:04:58"], "has brought the watermark back"),
    ("late-no-more", [], "Right after the restore"),
    ("overwritten", sheet.DOCKS.replace(lateness="55 s"), "just before south@9:04:58 comes: its window is deleted"),
    ("overwritten", sheet.DOCKS.replace(lateness="20 s"), "Not enough: south@9:04:40"),
    ("overwritten", sheet.DOCKS.replace(checkpoints={"interval": "50 s"}), "and the job crash behind it"),
    ("overwritten", sheet.DOCKS.replace(checkpoints={"mode": "unaligned"}), "none of them holds a watermark"),
    ("overwritten", sheet.DOCKS.replace(late_to="drop"), "Where late events go plays no part"),
    ("overwritten", sheet.DOCKS.replace(sink="transactional"), "another sink only writes"),
    ("overwritten", sheet.DOCKS.replace(replay="none"), "the source cannot go back"),
    ("overwritten", sheet.DOCKS.replace(checkpoints=None), "since the beginning"),
    ("overwritten", sheet.DOCKS.replace(happenings=[]), "Machines fail"),
    ("overwritten", sheet.DOCKS.replace(events=[]), "The events are what they are"),
    ("overwritten", sheet.DOCKS.by_server_clock().replace(name="loading-docks"), "With other windows"),
    ("checkpoint-interval", "100 s", "as in the quiet minutes"),
    ("checkpoint-interval", "66 s", "You reckoned with the average"),
    ("checkpoint-interval", "26 s", "lets 26 events be read again. The worst moment counts"),
    ("checkpoint-interval", "24 s", "a longer one does, too: with 24 s it is 24"),
    ("checkpoint-interval", "1 h", "The worst moment counts"),
    ("checkpoint-interval", 0, "longer than 0"),
    ("guard", lambda old, new: new.events > old.events or new.total < 0, "with a total below 0 still overwrites"),
    ("guard", lambda old, new: new.events * 2 > old.events, "a whole of 5"),
    ("guard", lambda old, new: new.events >= old.events - 1, "A larger total is not always"),
    ("guard", lambda old, new: new.events >= old.events and new.total >= old.total, "It refuses a correction"),
    ("guard", lambda old, new: new.total / new.events >= old.total / old.events, "It refuses a correction"),
    ("guard", lambda old, new: new.events != old.events, "It lets everything through"),
    ("guard", lambda old, new: new.total * 2 >= old.total, "a whole of 5"),
    ("guard", lambda old, new: new.events <= old.events, "It refuses a correction"),
    ("guard", lambda old, new: True, "It lets everything through"),
    ("guard", lambda old, new: False, "It refuses a correction"),
    ("guard", lambda old, new: new.total >= old.total, "It refuses a correction"),
    ("guard", lambda old, new: new.events > old.events or new.total > old.total, "A larger total is not always"),
]

UNREAD = [
    ("checkpoint-interval", 40, "whole seconds and their unit"),
    ("read-again", 3),
    ("three-sources", 105),
    ("three-sources", [105, 175], "three numbers"),
    ("three-sources", ["many", 1, 2]),
    ("late-no-more", 2),
    ("overwritten", "lateness"),
    ("overwritten", sheet.DOCKS, "Nothing has changed"),
    ("checkpoint-interval", "often"),
    ("checkpoint-interval", "25.5 s", "whole seconds"),
    ("guard", 5, "without brackets"),
    ("guard", lambda old, new: None, "True or False"),
    ("guard", lambda old: True, "stops with TypeError"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    docks = wmviz.simulate(sheet.DOCKS.replace(happenings=[]))
    assert docks.outcomes().late == {"south@9:04:40", "north@9:04:50", "south@9:04:55", "south@9:04:58"}
    assert docks.seen_watermarks["south@9:04:58"] == time_ms("9:05:54.999")
    assert wmviz.simulate(sheet.DOCKS).totals["north", time_ms("9:00"), time_ms("9:05")] == 4


def test_the_least_lateness_is_exact():
    assert not list(sheet._spoilt(sheet.DOCKS.replace(lateness=55_001)))
    assert list(sheet._spoilt(sheet.DOCKS.replace(lateness=55_000)))


@pytest.mark.parametrize("interval_s", [24, 25, 26, 60, 66, 100, 240, 3_600])
def test_no_longer_interval_does_it(interval_s):
    assert (sheet.most_read_again(interval_s * 1_000) <= sheet.MOST) == (interval_s <= 25)


def test_a_sink_without_a_guard_loses_both_totals():
    trace = wmviz.simulate(sheet.SCANNER)
    assert sheet._guarded(lambda old, new: True, trace) == trace.totals
    assert trace.totals["north", time_ms("9:00"), time_ms("9:05")] == 4
    assert trace.totals["south", time_ms("9:00"), time_ms("9:05")] == 30
