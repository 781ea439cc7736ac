import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.guard import Prediction, TrackRecord, WorldDiff
from envace_sdk.guard.scoring import observed_status, score
from envace_sdk.json import UNSET
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.diff import EntityChange

FINE = ToolResult.text("done")


def updated(key="O-1", **fields):
    return EntityChange("updated", "orders", key, fields)


def created(key, collection="cases", **fields):
    return EntityChange("created", collection, key, {name: (UNSET, value) for name, value in fields.items()})


def scored(expected, found, result=FINE, status="success"):
    return score(Prediction(status, WorldDiff(tuple(expected)), confidence=0.7, kind="rehearsal"), result, found)


@pytest.mark.parametrize(
    ("text", "status"),
    [("Order not found", "not_found"), ("Permission denied", "permission_error"), ("rate limit", "rate_limited"),
     ("already exists", "conflict"), ("odd", "validation_error")],
)  # fmt: skip
def test_the_status_of_an_error_is_told_by_its_words(text, status):
    assert observed_status(ToolResult.text(text, is_error=True)) == status
    assert observed_status(ToolResult.text(text)) == "success"


def test_another_status_is_wrong_and_its_change_is_not_compared():
    found = scored([updated(a=(1, 2))], [], ToolResult.text("denied", is_error=True))
    assert (found.status, found.change, found.right) == (False, None, False)
    assert found.differences == ("status permission_error instead of success",)


def test_an_error_in_the_predicted_words_is_of_the_predicted_kind():
    predicted = Prediction("conflict", answer="Sorry, no.", kind="rehearsal")
    assert score(predicted, ToolResult.text("Sorry, no.", is_error=True), []).right
    assert not score(predicted, ToolResult.text("Never.", is_error=True), []).right


def test_a_change_is_compared_field_by_field():
    assert scored([updated(a=(1, 2))], [updated(a=(1, 2))]).change is True
    found = scored([updated(a=(1, 2))], [updated(a=(1, 3))])
    assert (found.change, found.differences) == (False, ("orders/O-1: a became 3, 2 was expected",))
    assert scored([updated(a=(1, 2))], [updated("O-2", a=(1, 2))]).change is False
    assert scored([updated(a=(1, True))], [updated(a=(1, 1))]).change is False


def test_where_nothing_changes_and_nothing_was_expected_to_there_is_nothing_to_compare():
    assert scored([], []).change is None
    assert scored([], [updated(a=(1, 2))]).change is False
    assert scored([updated(a=(1, 2))], []).change is False


def test_ids_of_new_entities_and_moments_are_nobodys_to_foresee():
    expected = [
        created("C-1", id="C-1", at="2026-01-01T09:00:00Z", for_order="O-1"),
        updated(case=(None, "C-1"), seen=("2026-01-01T08:00:00Z", "2026-01-01T09:00:00Z")),
    ]
    found = [
        created("C-77", id="C-77", at="2026-05-05T10:11:12Z", for_order="O-1"),
        updated(case=(None, "C-77"), seen=("2026-01-01T08:00:00Z", "2026-05-05T10:11:12Z")),
    ]
    assert scored(expected, found).right
    found[0] = created("C-77", id="C-77", at="2026-05-05T10:11:12Z", for_order="O-2")
    assert not scored(expected, found).right


def test_a_new_entity_that_stands_there_twice_is_one():
    found = [created("C-1", id="C-1", note="x"), created("C-9", id="C-9", note="x")]
    assert scored([created("C-1", id="C-1", note="x")], found).right


def test_a_new_entity_of_a_kind_that_was_not_expected_is_wrong():
    found = scored([created("C-1", id="C-1")], [created("C-1", id="C-1"), created("M-1", "mails", id="M-1")])
    assert found.differences == ("mails/M-1 was created, which was not expected",)
    assert scored([created("C-1", id="C-1")], [updated(a=(1, 2))]).right is False


scores = st.lists(
    st.fixed_dictionaries(
        {
            "right": st.booleans(),
            "status": st.booleans(),
            "change": st.none() | st.booleans(),
            "confidence": st.floats(0, 1),
        }
    )
)


@given(scores)
def test_the_figures_of_a_record_are_what_their_names_say(found):
    record = TrackRecord.of("x", found)
    assert record.calls == len(found)
    if not found:
        assert (record.accuracy, record.brier, record.calibration_error, record.recent_accuracy) == (None,) * 4
        return
    rights = [each["right"] for each in found]
    assert record.accuracy == pytest.approx(sum(rights) / len(rights))
    assert record.recent_accuracy == pytest.approx(sum(rights[-20:]) / len(rights[-20:]))
    assert record.brier == pytest.approx(sum((e["confidence"] - e["right"]) ** 2 for e in found) / len(found))
    compared = [each["change"] for each in found if each["change"] is not None]
    assert record.change_accuracy == (pytest.approx(sum(compared) / len(compared)) if compared else None)
    assert 0 <= record.calibration_error <= 1


def test_a_perfectly_calibrated_predictor_has_no_calibration_error():
    found = [{"right": number < 7, "confidence": 0.7} for number in range(10)]
    assert TrackRecord.of("x", found).calibration_error == pytest.approx(0.0)


def test_a_record_drifts_when_the_latest_calls_are_worse_than_chance_explains():
    good, bad = {"right": True, "confidence": 1.0}, {"right": False, "confidence": 1.0}
    assert not TrackRecord.of("x", [good] * 40).drifting
    assert not TrackRecord.of("x", [bad] * 40).drifting
    assert not TrackRecord.of("x", [good, bad] * 20).drifting
    assert not TrackRecord.of("x", [good] * 60 + [bad]).drifting
    assert TrackRecord.of("x", [good] * 40 + [bad] * 8).drifting
