"""Watermark alignment, boundary by boundary."""

import pytest

from wmviz.engine.alignment import SourceCoordinator, SourceOperatorAlignment, WatermarkAggregator, WatermarkSampler
from wmviz.times import MAX_MS, MIN_MS


class Out:
    def __init__(self):
        self.told = []

    def paused(self):
        self.told.append("paused")

    def resumed(self):
        self.told.append("resumed")

    def splits_paused(self, splits):
        self.told.append(("paused", splits))

    def splits_resumed(self, splits):
        self.told.append(("resumed", splits))


class TestCoordinator:
    def test_the_slowest_source_of_the_group_says_how_far_all_may_go(self):
        group = WatermarkAggregator()
        fast, slow = SourceCoordinator("fast", group, 100), SourceCoordinator("slow", group, 100)
        fast.report(0, 500)
        slow.report(0, 300)
        slow.report(1, 200)
        assert fast.announce() == slow.announce() == 300

    def test_groups_do_not_hold_each_other_back(self):
        one, other = (SourceCoordinator(name, WatermarkAggregator(), 10) for name in "ab")
        one.report(0, 5)
        other.report(0, 900)
        assert (one.announce(), other.announce()) == (15, 910)

    def test_nothing_is_announced_before_the_first_report(self):
        assert SourceCoordinator("s", WatermarkAggregator(), 10).announce() is None

    def test_the_maximum_goes_back_with_a_subtask_that_resumes_behind(self):
        source = SourceCoordinator("s", WatermarkAggregator(), 10)
        source.report(0, MAX_MS)
        source.report(1, 44)
        assert source.announce() == 54
        source.report(0, 20)
        assert source.announce() == 30

    @pytest.mark.parametrize(
        ("watermark_ms", "allowed_ms"), [(MAX_MS - 10, MAX_MS), (MAX_MS - 11, MAX_MS - 1), (MAX_MS, MAX_MS)]
    )
    def test_the_sum_stops_at_the_longest_time(self, watermark_ms, allowed_ms):
        source = SourceCoordinator("s", WatermarkAggregator(), 10)
        source.report(0, watermark_ms)
        assert source.announce() == allowed_ms


class TestSampler:
    @pytest.mark.parametrize(
        ("capacity", "oldest"), [(0, [7, 7, 7, 7]), (1, [MIN_MS, 7, 7, 7]), (3, [MIN_MS, MIN_MS, MIN_MS, 7])]
    )
    def test_the_oldest_sample_follows_after_as_many_samples_as_it_holds(self, capacity, oldest):
        sampler = WatermarkSampler(capacity)
        sampler.latest_ms = 7
        seen = []
        for _ in range(4):
            seen.append(sampler.oldest_ms)
            sampler.sample()
        assert seen == oldest

    def test_a_negative_size_is_refused(self):
        with pytest.raises(ValueError, match="write 0 or more"):
            WatermarkSampler(-1)


class TestReader:
    def reader(self, buffer_size=0):
        out = Out()
        return SourceOperatorAlignment(out, buffer_size), out.told

    def test_at_the_maximum_it_reads_and_above_it_waits(self):
        reader, told = self.reader()
        reader.max_allowed(10)
        reader.watermark(10)
        assert told == []
        reader.watermark(11)
        assert told == ["paused"]
        assert reader.is_waiting

    def test_it_goes_on_when_the_maximum_reaches_its_watermark(self):
        reader, told = self.reader()
        reader.max_allowed(10)
        reader.watermark(12)
        reader.max_allowed(11)
        reader.max_allowed(12)
        assert told == ["paused", "resumed"]

    def test_with_three_samples_it_waits_three_intervals_later(self):
        reader, told = self.reader(3)
        reader.max_allowed(10)
        reader.watermark(11)
        reader.sample()
        reader.sample()
        assert told == []
        reader.sample()
        assert told == ["paused"]

    def test_it_reports_nothing_before_its_first_watermark_and_max_while_idle(self):
        reader, _ = self.reader()
        assert reader.sample() is None
        reader.watermark(5)
        assert reader.sample() == 5
        reader.idle = True
        assert reader.sample() == MAX_MS
        reader.idle = False
        assert reader.finish() == MAX_MS

    def test_a_finished_one_goes_on_to_report_max_and_never_waits(self):
        reader, told = self.reader(buffer_size=0)
        reader.max_allowed(10)
        reader.watermark(11)
        assert told == ["paused"]
        reader.finish()
        assert told == ["paused", "resumed"]
        reader.watermark(MAX_MS)
        reader.max_allowed(5)
        assert reader.sample() == MAX_MS
        assert told == ["paused", "resumed"]

    def test_one_split_pauses_and_the_others_are_read_on(self):
        reader, told = self.reader()
        reader.max_allowed(10)
        reader.split_watermark("a", 11)
        reader.split_watermark("b", 10)
        assert told == [("paused", ["a"])]
        reader.max_allowed(11)
        assert told[1:] == [("resumed", ["a"])]

    def test_an_idle_split_is_judged_when_it_is_active_again(self):
        reader, told = self.reader()
        reader.max_allowed(10)
        reader.split_idle("a", True)
        reader.split_watermark("a", 11)
        assert told == []
        reader.split_idle("a", False)
        assert told == [("paused", ["a"])]
