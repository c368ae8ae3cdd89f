"""The catalogue: every scenario loads, keeps to the schema, and shows what its line promises, to the millisecond."""

import json

import jsonschema
import pytest

import wmviz
from wmviz import catalogue
from wmviz.scenario import Scenario, ScenarioError, json_schema
from wmviz.times import time_ms

HOUR_6 = ("6:00", "7:00")


@pytest.fixture(scope="module")
def leaderboard():
    return wmviz.simulate(wmviz.scenario("leaderboard"))


@pytest.fixture(scope="module")
def busy():
    return wmviz.scenario("busy-saturday")


def firings(trace, key, window):
    start_ms, end_ms = map(time_ms, window)
    found = [f for f in trace.all_firings if f.key == key and f.window == (start_ms, end_ms)]
    return [(f.nth, f.value, f.watermark_ms, f.at_ms) for f in found]


class TestFiles:
    def test_the_schema_is_the_one_that_the_code_gives(self, root):
        text = (root / "wmviz/catalogue/scenario.schema.json").read_text(encoding="utf-8")
        assert json.loads(text) == json_schema(), "write it again: json.dumps(json_schema(), indent=2)"

    @pytest.mark.parametrize("name", wmviz.scenarios())
    def test_each_file_keeps_to_the_schema_and_has_a_line_on_what_to_look_at(self, name, root):
        data = json.loads((root / f"wmviz/catalogue/{name}.json").read_text(encoding="utf-8"))
        jsonschema.validate(data, json_schema())
        assert data["name"] == name
        assert data["about"].endswith(".")

    @pytest.mark.parametrize("name", wmviz.scenarios())
    def test_each_is_read_back_as_it_was_saved(self, name, tmp_path):
        scenario = wmviz.scenario(name)
        scenario.save(tmp_path / "it.json")
        assert Scenario.load(tmp_path / "it.json") == scenario

    @pytest.mark.parametrize(
        "wrong",
        [
            {"bond": "2 min"},
            {"strategy": "perfect"},
            {"bound": 1.5},
            {"window": {"type": "hopping"}},
            {"window": {"sise": "1 h"}},
            {"events": [["r9", 1000]]},
            {"events": [{"key": "r9", "value": 1}]},
            {"events": {"seed": 7}},
        ],
    )
    def test_the_schema_rejects_what_the_loader_refuses(self, wrong):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, json_schema())
        with pytest.raises(ScenarioError):
            Scenario.from_json(wrong)

    @pytest.mark.parametrize("name", wmviz.scenarios())
    def test_the_page_on_both_engines_has_each(self, name, root):
        page = (root / "docs/comparison.md").read_text(encoding="utf-8")
        assert f"| {name} |" in page or f"| {name}-sample |" in page, "write it again: make matrix"
        assert "**no**" not in page

    def test_the_list_says_of_each_what_to_look_at(self):
        assert "leaderboard " in repr(wmviz.scenarios())
        assert wmviz.scenario("two-inputs").about in repr(wmviz.scenarios())
        assert f"<td style='text-align: left; vertical-align: top'>{wmviz.scenario('two-inputs').title}</td>" in (
            wmviz.scenarios()._repr_html_()
        )

    def test_an_unknown_name_is_a_sentence_with_the_nearest(self):
        with pytest.raises(ScenarioError, match=r"there is no scenario 'leaderbord' .* did you mean 'leaderboard'\?"):
            wmviz.scenario("leaderbord")
        with pytest.raises(ScenarioError, match="there is alignment-after-source, "):
            catalogue.scenario("")


class TestLeaderboard:
    def test_newest_event_7_01_59_999_does_not_fire_the_6_am_window(self, leaderboard):
        before = [row for row in leaderboard if row.at_ms < time_ms("7:03:10")]
        assert max(row.value for row in before if row.kind == wmviz.trace.Kind.WATERMARK) == time_ms("6:59:59.998")
        assert not [row for row in before if row.kind == wmviz.trace.Kind.FIRED]

    def test_newest_event_7_02_00_000_does_with_the_watermark_at_6_59_59_999(self, leaderboard):
        for key, total in [("r9", 2500), ("r4471", 2000), ("r12", 2000), ("r7", 1000)]:
            assert firings(leaderboard, key, HOUR_6)[0] == (1, total, time_ms("6:59:59.999"), time_ms("7:03:10"))

    def test_an_event_at_6_56_is_on_time_at_watermark_6_59_59_998(self, leaderboard):
        assert leaderboard.seen_watermarks["r12@6:56"] == time_ms("6:59:59.998")
        assert "on time" in str(leaderboard.explain("r12@6:56")) or "not late" in str(leaderboard.explain("r12@6:56"))

    def test_it_is_late_but_counted_at_7_02_59_999_and_the_window_fires_again(self, leaderboard):
        assert leaderboard.seen_watermarks["r4471@6:56"] == time_ms("7:02:59.999")
        assert firings(leaderboard, "r4471", HOUR_6)[1:] == [(2, 3000, time_ms("7:02:59.999"), time_ms("7:09"))]

    def test_it_goes_to_the_side_output_at_7_19_59_999(self, leaderboard):
        assert leaderboard.seen_watermarks["r12@6:58"] == time_ms("7:19:59.998")
        assert firings(leaderboard, "r12", HOUR_6)[1:] == [(2, 2500, time_ms("7:19:59.998"), time_ms("7:22:10"))]
        late = leaderboard.late.to_dict("records")
        assert late == [
            {
                "event": "r7@6:56",
                "key": "r7",
                "event_time_ms": time_ms("6:56"),
                "watermark_ms": time_ms("7:19:59.999"),
                "at_ms": time_ms("7:24"),
            }
        ]
        assert leaderboard.dropped.empty

    def test_the_state_of_the_6_am_window_is_deleted_at_7_19_59_999(self, leaderboard):
        cleaned = [row for row in leaderboard if row.kind == wmviz.trace.Kind.CLEANED]
        at_6 = [row for row in cleaned if row.subject.window.start_ms == time_ms("6:00")]
        assert {row.subject.key for row in at_6} == {"r9", "r4471", "r12", "r7"}
        assert {leaderboard.watermark_at(row.row) for row in at_6} == {time_ms("7:19:59.999")}

    def test_the_badge_goes_to_r4471_by_event_time_and_to_r9_by_the_clock_of_the_server(self, leaderboard):
        def winner(totals):
            at_6 = {key: value for (key, start, _), value in totals.items() if start == time_ms("6:00")}
            return max(at_6, key=at_6.get), at_6

        name, totals = winner(leaderboard.totals)
        assert (name, totals) == ("r4471", {"r9": 2500, "r4471": 3000, "r12": 2500, "r7": 1000})
        clock = wmviz.simulate(wmviz.scenario("leaderboard").by_server_clock())
        assert winner(clock.totals) == ("r9", {"r9": 2500, "r4471": 2000, "r12": 1000, "r7": 1000})

    def test_the_list_of_the_seed_job_ends_with_the_final_watermark_and_nothing_is_late(self):
        seed = Scenario.of(
            events=[["r4471", 1000, "6:30"], ["r4471", 1000, "6:56"], ["r9", 1000, "7:05"]],
            bound="2 min",
            end_of_input="7:05",
        )
        firings_of = [(f.key, f.value, f.watermark_ms) for f in wmviz.simulate(seed).all_firings]
        assert firings_of == [("r4471", 2000, time_ms("7:02:59.999")), ("r9", 1000, 2**63 - 1)]


class TestPriceFeed:
    def test_the_second_event_belongs_to_the_earlier_minute_although_it_comes_second(self):
        trace = wmviz.simulate(wmviz.scenario("price-feed"))
        first, second = trace.all_firings[:2]
        assert first.window == second.window == (time_ms("10:00"), time_ms("10:01"))
        assert (first.value, first.watermark_ms) == ((10200 + 10240) // 2, time_ms("10:01:02.999"))
        assert (second.value, second.watermark_ms) == ((10200 + 10240 + 10220) // 3, time_ms("10:01:02.999"))
        assert "gold@10:00:58" in second.event_ids

    def test_late_prices_correct_the_average_until_10_01_29_999_and_then_go_to_the_side_output(self):
        trace = wmviz.simulate(wmviz.scenario("price-feed"))
        assert trace.seen_watermarks["gold@10:00:47"] == time_ms("10:01:09.999")
        assert trace.seen_watermarks["gold@10:00:59.999"] == time_ms("10:01:29.998")
        assert [nth for nth, *_ in firings(trace, "gold", ("10:00", "10:01"))] == [1, 2, 3, 4]
        assert trace.late["event"].tolist() == ["gold@10:00:20"]
        assert trace.late["watermark_ms"].tolist() == [time_ms("10:01:29.999")]


class TestHalfHourZone:
    def test_windows_run_from_half_past_to_half_past_in_that_zone(self):
        scenario = wmviz.scenario("half-hour-zone")
        starts = {f.window.start_ms for f in wmviz.simulate(scenario).all_firings}
        assert time_ms("2026-10-17T06:30+05:30") in starts
        assert all(start % 3_600_000 == 0 for start in starts)

    def test_an_offset_of_half_an_hour_mends_it(self):
        scenario = wmviz.scenario("half-hour-zone").replace(window={"offset": "30 min"})
        starts = {f.window.start_ms for f in wmviz.simulate(scenario).all_firings}
        assert time_ms("2026-10-17T06:00+05:30") in starts
        assert all(start % 3_600_000 == 1_800_000 for start in starts)


class TestBusySaturday:
    def test_it_has_22_000_runners(self, busy):
        assert 21_000 <= len({event.key for event in busy.events}) <= 22_000
        assert len(busy.events) > 100_000

    @pytest.mark.parametrize(("minutes", "share"), [(2, 0.97), (20, 0.995)])
    def test_the_lag_is_the_one_of_the_story(self, busy, minutes, share):
        within = sum(event.arrival_time_ms - event.event_time_ms <= minutes * 60_000 for event in busy.events)
        assert within / len(busy.events) == pytest.approx(share, abs=0.001)

    def test_a_few_take_hours(self, busy):
        lags = [event.arrival_time_ms - event.event_time_ms for event in busy.events]
        assert 3_600_000 < max(lags) <= 3 * 3_600_000

    def test_far_fewer_than_the_3_percent_beyond_the_bound_are_late(self, busy):
        trace = wmviz.simulate(busy, trace="results")
        late = sum(1 for _ in trace.outcomes().late)
        beyond = sum(event.arrival_time_ms - event.event_time_ms > 120_000 for event in busy.events)
        assert 0 < late < beyond / 5


class TestManyInputs:
    def test_a_quiet_partition_lets_no_window_fire_until_an_idle_timeout_leaves_it_out(self):
        quiet = wmviz.scenario("quiet-partition")
        assert len(wmviz.simulate(quiet).firings) == 0
        mended = wmviz.simulate(quiet.replace(idle_timeout="1 min"))
        assert len(mended.firings) == 5
        assert mended.all_firings[0].watermark_ms == time_ms("7:00:59.999")

    def test_a_subtask_without_a_partition_lets_no_window_fire_until_it_is_idle_or_gone(self):
        spare = wmviz.scenario("spare-subtask")
        assert len(wmviz.simulate(spare).firings) == 0
        assert len(wmviz.simulate(spare.replace(subtasks=1)).firings) == 3
        assert len(wmviz.simulate(spare.replace(idle_timeout="1 min")).firings) == 3

    def test_with_a_timeout_of_1_s_the_slow_input_loses_its_next_events(self):
        bet = wmviz.scenario("idle-bet")
        trace = wmviz.simulate(bet)
        assert {f.key for f in trace.all_firings} == {"r4471", "r7", "r9"}
        assert trace.outcomes().late == {"r9@6:02", "r9@6:03", "r9@6:04"}
        waiting = wmviz.simulate(bet.replace(idle_timeout=None))
        assert len(waiting.firings) == 0
        assert len(waiting.late) == 0

    def test_a_session_that_has_fired_and_grows_fires_again_as_another_row_of_the_sink(self):
        trace = wmviz.simulate(wmviz.scenario("workout-sessions"))
        of_runner = [(f.window.start_ms, f.window.end_ms, f.value) for f in trace.all_firings if f.key == "r4471"]
        assert of_runner == [
            (time_ms("6:00"), time_ms("6:16"), 2000),
            (time_ms("6:00"), time_ms("6:35"), 4000),
        ]
        assert sum(value for (key, *_), value in trace.totals.items() if key == "r4471") == 6000
        assert trace.outcomes().late == {"r9@6:04"}
        assert "Session [6:00, 6:16) of r4471 becomes part of [6:00, 6:35)" in str(trace.explain("r4471@6:00"))


class TestDaylightSaving:
    NIGHT_RUN = "r4471@2026-10-25 23:30"
    SUNDAY = (time_ms("2026-10-25T00:00+02:00"), time_ms("2026-10-26T00:00+01:00"))

    def day_of(self, trace, event):
        return {firing.window for firing in trace.all_firings if event in firing.event_ids}

    def test_sunday_has_25_hours_and_counts_the_run_at_23_30_and_both_runs_at_2_30(self):
        trace = wmviz.simulate(wmviz.scenario("daylight-saving"))
        assert self.day_of(trace, self.NIGHT_RUN) == {self.SUNDAY}
        assert self.SUNDAY[1] - self.SUNDAY[0] == 25 * 3_600_000
        assert self.day_of(trace, "r9@2026-10-25 02:30") == self.day_of(trace, "r12@2026-10-25 02:30") == {self.SUNDAY}
        assert trace.late["event"].tolist() == ["r12@2026-10-25 21:15"]

    def test_days_at_a_fixed_offset_put_the_run_at_23_30_into_monday(self):
        fixed = wmviz.scenario("daylight-saving").replace(window={"zone": None, "offset": "-2 h"})
        ((start_ms, _),) = self.day_of(wmviz.simulate(fixed), self.NIGHT_RUN)
        assert start_ms == time_ms("2026-10-25T23:00+01:00") < time_ms("2026-10-25T23:30+01:00")

    def test_flink_says_in_a_sentence_why_it_is_not_replayed(self):
        with pytest.raises(wmviz.flink.FlinkError, match=r"local time .*Europe/Berlin.* SQL only"):
            wmviz.flink.run(wmviz.scenario("daylight-saving"))
