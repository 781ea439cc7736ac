import json

import pytest
from examined import episode, report_on

from envace_sdk.errors import FixtureError
from envace_sdk.evaluate.result import Told, Worst, read_result

HELD_OUT = [
    episode("a", ("get", {"id": "N-100"}, {"id": "N-100", "title": "Oat milk"}), ("get", {"id": "N-7"}, "gone", True)),
    episode("b", ("get", {"id": "N-8"}, "no " * 10_000, True)),
]


def report():
    return report_on(HELD_OUT, lambda fixture, call: {"id": "N-100", "title": "Rye"})


def document(worst=30):
    found = report()
    told = {**found.as_json(), "worst": [Worst.of(case).as_json() for case in found.worst(worst)]}
    return {"toolset": "notes", "episodes": 2, "calls": 3, "overlap": 0, "loops": {"closed": [told]}}


def write(tmp_path, value):
    path = tmp_path / "fidelity.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_result_is_read_as_it_was_told(tmp_path):
    result = read_result(write(tmp_path, document()))
    [told] = result.loops["closed"]
    expected = Told.of(report(), 30)
    assert (result.toolset, result.episodes, result.calls) == ("notes", 2, 3)
    assert told.worst == expected.worst
    assert told.overall.fidelity == pytest.approx(expected.overall.fidelity, abs=1e-4)
    assert list(told.tools) == ["get"]
    assert [one.calls for one in told.calibration.bins] == [one.calls for one in expected.calibration.bins]


def test_of_a_very_long_value_the_beginning_is_kept():
    longest = max(len(json.dumps(case.recorded)) for case in Told.of(report(), 30).worst)
    assert 10_000 < longest < 21_000


def test_results_from_before_worst_answers_were_kept_are_read(tmp_path):
    value = document()
    del value["loops"]["closed"][0]["worst"], value["overlap"]
    assert read_result(write(tmp_path, value)).loops["closed"][0].worst == ()


def test_what_is_wrong_is_named_by_its_field(tmp_path):
    value = document()
    value["loops"]["closed"][0]["overall"]["status"] = "good"
    with pytest.raises(FixtureError, match=r"fidelity\.json.*loops\.closed\.0\.overall\.status"):
        read_result(write(tmp_path, value))


@pytest.mark.parametrize("text", ["", "{", "[1]", "3", '{"a": NaN}', "[" * 100_000, '{"toolset": "x", "loops": {}}'])
def test_other_files_are_refused_by_name(tmp_path, text):
    with pytest.raises(FixtureError, match=r"fidelity\.json"):
        read_result(write(tmp_path, text))


def test_a_result_without_a_report_is_refused(tmp_path):
    with pytest.raises(FixtureError, match="no report"):
        read_result(write(tmp_path, {**document(), "loops": {"closed": []}}))
