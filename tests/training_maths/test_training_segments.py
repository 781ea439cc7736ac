from envace_sdk.training.rows import ROLES, Row
from envace_sdk.training.segments import render, split, stream
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import trajectories

FIRST = Row("t", 0, "act", (1, 2), (3, 4), turn=0)
SECOND = Row("t", 0, "rehearse", (1, 2, 3, 4, 5), (6,), turn=1)
THIRD = Row("t", 0, "act", (1, 2, 3, 4, 5, 6), (7, 8), turn=2)


def test_rows_that_extend_each_other_are_one_sequence_with_tagged_segments():
    (sequence,) = stream([THIRD, FIRST, SECOND])
    assert sequence.input_ids == (1, 2, 3, 4, 5, 6, 7, 8)
    assert sequence.roles() == [None, None, "act", "act", None, "rehearse", "act", "act"]
    assert [(segment.start, segment.stop) for segment in sequence.segments] == [(2, 4), (5, 6), (6, 8)]


def test_a_row_whose_context_was_rewritten_begins_a_sequence_of_its_own():
    rewritten = Row("t", 0, "act", (1, 2, 9, 9, 5, 6), (7,), turn=2)
    assert [sequence.input_ids for sequence in stream([FIRST, SECOND, rewritten])] == [
        (1, 2, 3, 4, 5, 6),
        (1, 2, 9, 9, 5, 6, 7),
    ]


def test_trajectories_are_never_joined():
    other = Row("t", 1, "rehearse", SECOND.prompt_ids, (6,))
    assert len(stream([FIRST, other])) == 2


def test_two_answers_to_one_context_are_two_sequences():
    assert len(stream([FIRST, Row("t", 0, "act", (1, 2), (5,), turn=1)])) == 2


def test_roles_with_parameters_of_their_own_share_no_sequence():
    sequences = render([FIRST, SECOND, THIRD], "stream", apart=ROLES)
    assert [{segment.row.role for segment in sequence.segments} for sequence in sequences] == [{"act"}, {"rehearse"}]
    assert [len(sequence) for sequence in sequences] == [8, 6]


def test_a_row_left_out_is_context_of_those_that_follow():
    (sequence,) = stream([FIRST, THIRD])
    assert sequence.roles() == [None, None, "act", "act", None, None, "act", "act"]


def test_split_is_a_sequence_per_row():
    assert [sequence.input_ids for sequence in split([FIRST, SECOND])] == [(1, 2, 3, 4), (1, 2, 3, 4, 5, 6)]


@given(trajectories(), st.sampled_from(["split", "stream"]), st.sampled_from([(), ("act",), ROLES]))
def test_each_row_is_trained_once_in_the_context_it_was_sampled_in(rows, rendering, apart):
    sequences = render(rows, rendering, apart=apart)
    segments = [(sequence, segment) for sequence in sequences for segment in sequence.segments]
    assert sorted(id(segment.row) for _, segment in segments) == sorted(map(id, rows))
    for sequence, segment in segments:
        assert sequence.input_ids[: segment.start] == segment.row.prompt_ids
        assert sequence.input_ids[segment.start : segment.stop] == segment.row.completion_ids


@given(trajectories())
def test_segments_are_in_order_and_do_not_overlap(rows):
    for sequence in stream(rows):
        places = [place for segment in sequence.segments for place in (segment.start, segment.stop)]
        assert places == sorted(places)
        assert places[-1] == len(sequence)
        assert places[0] >= 1


@given(trajectories())
def test_a_stream_never_takes_more_tokens_than_its_rows_apart(rows):
    assert sum(map(len, stream(rows))) <= sum(map(len, split(rows)))
