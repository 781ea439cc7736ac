"""Hidden state is looked for in any recording without a crash, and found the same each time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.world.mine.conditions import Event, chosen_registers, follow, hidden_flags, registers

SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=4)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.builds(
    Event,
    st.sampled_from(["a", "b", "c"]),
    st.dictionaries(st.sampled_from(["x", "y z", "in"]), JSON, max_size=2),
    st.booleans(),
    st.sampled_from(["", "e", "f"]),
    st.sampled_from([{"on": True}, {"on": False}, {"v": "1"}, {"v": "2"}]) | JSON,
)


@settings(deadline=None, max_examples=60)
@given(episodes=st.lists(st.lists(EVENTS, max_size=12), max_size=6))
def test_any_recording_is_looked_through(episodes):
    flags = hidden_flags(episodes)
    found = [*registers(episodes, flags), *chosen_registers(episodes, flags)]
    assert hidden_flags(episodes) == flags
    assert [*registers(episodes, flags), *chosen_registers(episodes, flags)] == found
    for episode in episodes:
        assert len(follow(episode, flags, found)) == len(episode) + 1
