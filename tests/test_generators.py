"""Seeded generators: the same arguments give the same rows, and wrong arguments give a sentence."""

from itertools import pairwise

import pytest

from wmviz.generators import GENERATORS, generate
from wmviz.times import MAX_MS, time_ms


class TestAnyGenerator:
    @pytest.mark.parametrize("spec", [{"generate": "runs", "runners": 50}, {"generate": "steady", "events": 50}])
    def test_the_same_arguments_give_the_same_rows(self, spec):
        assert generate(spec) == generate(dict(spec))

    @pytest.mark.parametrize("spec", [{"generate": "runs", "runners": 50}, {"generate": "steady", "events": 50}])
    def test_another_seed_gives_other_rows(self, spec):
        assert generate(spec) != generate({**spec, "seed": 8})

    @pytest.mark.parametrize("name", GENERATORS)
    def test_rows_are_in_order_of_arrival(self, name):
        arrivals = [row[3] for row in generate({"generate": name})]
        assert arrivals == sorted(arrivals)

    @pytest.mark.parametrize(
        ("spec", "sentence"),
        [
            ({}, "there is no generator None; write one of runs, steady"),
            ({"generate": []}, r"there is no generator \[\]; write one of runs, steady"),
            ({"generate": "rains"}, "there is no generator 'rains'"),
            ({"generate": "runs", "runner": 5}, "generator runs takes no 'runner'; write one of runners, seed"),
            ({"generate": "runs", "runners": "5"}, "runners is '5'; write a whole number"),
            ({"generate": "runs", "runners": True}, "runners is True; write a whole number"),
            ({"generate": "runs", "runners": 0}, "runners is 0; write a number from 1 to 5000000"),
            ({"generate": "steady", "events": 10**9}, "events is 1000000000; write a number from 1 to 5000000"),
            ({"generate": "steady", "keys": -1}, "keys is -1; write a number from 1"),
            ({"generate": "runs", "seed": 1.5}, "seed is 1.5; write a whole number"),
            ({"generate": "runs", "start": "6 am"}, "'6 am' is not a time"),
            ({"generate": "runs", "end": "5:00"}, "end is '5:00'; write a time after the start, '6:00'"),
            ({"generate": "steady", "spacing": "-1 s"}, "spacing and disorder are durations, 0 or more"),
            ({"generate": "steady", "start": MAX_MS - 5}, "leave the 64-bit range; write a start nearer to the epoch"),
        ],
    )
    def test_a_wrong_argument_is_a_sentence(self, spec, sentence):
        with pytest.raises(ValueError, match=sentence):
            generate(spec)

    @pytest.mark.parametrize("lag", [5, None, [1], [[1]], {"a": 1}, [["x", "2 min"]], "lag"])
    def test_a_lag_that_is_no_list_of_pairs_is_a_sentence(self, lag):
        with pytest.raises(ValueError, match="lag is a list of pairs"):
            generate({"generate": "runs", "runners": 1, "lag": lag})

    @pytest.mark.parametrize(
        "lag",
        [
            [],
            [[0.5, "1 s"]],
            [[0.9, "1 s"], [0.5, "2 s"], [1, "3 s"]],
            [[0.5, "2 s"], [1, "1 s"]],
            [[0.5, "-1 s"], [1, "1 s"]],
            [[float("nan"), "1 s"], [1, "2 s"]],
            [[0.5, "1 s"], [2, "2 s"]],
        ],
    )
    def test_a_lag_whose_pairs_do_not_rise_to_one_is_a_sentence(self, lag):
        with pytest.raises(ValueError, match="rising pairs that ends with share 1"):
            generate({"generate": "runs", "runners": 1, "lag": lag})


class TestSteady:
    def test_arrivals_are_evenly_spaced_and_events_at_most_that_old(self):
        rows = generate({"generate": "steady", "events": 200, "spacing": "2 s", "disorder": "5 s", "keys": 3})
        assert [row[3] for row in rows] == [time_ms("6:00") + 2_000 * n for n in range(200)]
        assert all(0 <= arrival - event <= 5_000 for _, _, event, arrival in rows)
        assert {key for key, *_ in rows} == {"k0", "k1", "k2"}

    def test_without_disorder_events_arrive_as_they_happen(self):
        assert all(row[2] == row[3] for row in generate({"generate": "steady", "disorder": 0}))


class TestRuns:
    def test_runners_send_a_kilometre_at_a_time_within_the_morning(self):
        rows = generate({"generate": "runs", "runners": 100, "start": "6:00", "end": "10:00"})
        assert {value for _, value, _, _ in rows} == {1000}
        assert all(time_ms("6:00") <= event < time_ms("10:00") <= MAX_MS for _, _, event, _ in rows)
        by_key = {}
        for key, _, event, _ in sorted(rows, key=lambda row: row[2]):
            by_key.setdefault(key, []).append(event)
        gaps = [b - a for times in by_key.values() for a, b in pairwise(times)]
        assert min(gaps) >= 255_000
        assert max(gaps) <= 495_000

    def test_no_event_arrives_before_it_happens_nor_later_than_the_last_quantile(self):
        rows = generate({"generate": "runs", "runners": 200, "lag": [[0.5, "1 s"], [1, "1 min"]]})
        assert all(0 <= arrival - event <= 60_000 for _, _, event, arrival in rows)
