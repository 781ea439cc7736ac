import pytest

from envace_sdk.errors import StoreError
from envace_sdk.store import TrainingRuns


@pytest.fixture
def runs(url):
    with TrainingRuns.open(url) as opened:
        yield opened


def test_metrics_come_back_by_step_and_the_newest_by_name(runs):
    run = runs.begin("box", "/runs/a", {"steps": 3}, {})
    runs.add(run, {1: {"reward": 0.25, "loss": -1e-300}})
    runs.add(run, {2: {"reward": 0.5}, 3: {"reward": 0.1}})
    assert runs.curve(run, "reward") == [(1, 0.25), (2, 0.5), (3, 0.1)]
    (found,) = runs.runs()
    assert (found.host, found.directory, found.settings, found.step) == ("box", "/runs/a", {"steps": 3}, 3)
    assert found.latest == {"reward": 0.1, "loss": -1e-300}
    assert found.began_at <= found.updated_at


def test_a_resumed_run_holds_what_its_folder_holds(runs):
    run = runs.begin("box", "/runs/a", {"steps": 3}, {})
    runs.add(run, {1: {"reward": 1.0}, 2: {"reward": 2.0}})
    began = runs.runs()[0].began_at
    assert runs.begin("box", "/runs/a", {"steps": 9}, {1: {"reward": 1.0}}) == run
    (found,) = runs.runs()
    assert (runs.curve(run, "reward"), found.settings, found.began_at) == ([(1, 1.0)], {"steps": 9}, began)


def test_runs_of_another_place_are_others_and_the_last_written_comes_first(runs):
    places = [("box", "/runs/a"), ("box", "/runs/b"), ("other", "/runs/a")]
    numbers = [runs.begin(host, directory, {}, {}) for host, directory in places]
    runs.add(numbers[1], {1: {"reward": 1.0}})
    found = runs.runs()
    assert (found[0].host, found[0].directory) == places[1]
    assert {(one.host, one.directory) for one in found} == set(places)
    assert {one.step for one in found} == {1, None}


def test_a_step_that_is_stored_again_replaces_what_was_stored_of_it(runs):
    run = runs.begin("box", "/runs/a", {}, {1: {"reward": 1.0, "loss": 2.0}})
    other = runs.begin("box", "/runs/b", {}, {1: {"reward": 9.0}})
    runs.add(run, {1: {"reward": 5.0}, 2: {"reward": 2.0}})
    assert (runs.curve(run, "reward"), runs.curve(run, "loss")) == ([(1, 5.0), (2, 2.0)], [])
    assert runs.curve(other, "reward") == [(1, 9.0)]


def test_an_empty_postgresql_is_not_migrated_unasked(postgresql_database):
    url = postgresql_database("template1")
    with pytest.raises(StoreError, match="train runs --migrate"):
        TrainingRuns.open(url)
    TrainingRuns.open(url, migrate=True).close()
    with TrainingRuns.open(url) as opened:
        assert opened.runs() == []
