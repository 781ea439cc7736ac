"""Rows for tests of the maths, which need no model."""

from envace_sdk.training.rows import ROLES, Row
from hypothesis import strategies as st


def row(role="act", reward=0.0, *, task="t", sample=0, tokens=1, **more):
    return Row(task, sample, role, (1,), tuple(range(2, 2 + tokens)), reward=reward, **more)


rewards = st.floats(-10, 10, allow_nan=False).map(lambda value: round(value, 3))

rows = st.lists(
    st.builds(
        row,
        role=st.sampled_from(ROLES),
        reward=rewards,
        task=st.sampled_from("xyz"),
        sample=st.integers(0, 3),
        tokens=st.integers(1, 5),
        weight=st.sampled_from([0.0, 1.0, 1.0, 2.5]),
    ),
    max_size=24,
)


@st.composite
def trajectories(draw):
    """Rows of a few trajectories; some prompts extend the turn before, some are new contexts."""
    found = []
    for sample in range(draw(st.integers(1, 3))):
        context = tuple(draw(st.lists(st.integers(3, 9), min_size=1, max_size=4)))
        for turn in range(draw(st.integers(1, 5))):
            if draw(st.booleans()):
                context = tuple(draw(st.lists(st.integers(3, 9), min_size=1, max_size=4)))
            completion = tuple(draw(st.lists(st.integers(3, 9), min_size=1, max_size=3)))
            role = draw(st.sampled_from(ROLES))
            found.append(Row("t", sample, role, context, completion, turn=turn))
            context += completion + tuple(draw(st.lists(st.integers(3, 9), max_size=3)))
    return found
