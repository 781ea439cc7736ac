from envace_sdk.world.state import State
from envace_sdk.world.world import World


def test_a_fork_goes_its_own_way_and_resets_to_where_it_began():
    world = World("main", State())
    world.commit(world.state.put("notes", "1", {"text": "a"}))
    fork = world.fork("try")
    fork.commit(fork.state.put("notes", "1", {"text": "b"}).put("notes", "2", {}))
    assert world.state.get("notes", "1") == {"text": "a"}
    assert len(world.state.collection("notes")) == 1
    fork.reset()
    assert fork.state is world.state
    world.reset()
    assert len(world.state.collection("notes")) == 0


def test_a_snapshot_is_unmoved_by_what_happens_next_and_can_be_restored():
    world = World("main", State())
    taken = world.snapshot()
    world.commit(world.state.put("notes", "1", {}))
    later = world.snapshot()
    world.restore(taken)
    assert world.state is taken
    world.restore(later)
    assert world.state.get("notes", "1") == {}


def test_forks_have_locks_of_their_own():
    world = World("main", State())
    assert world.fork("a").lock is not world.lock
    assert "main" in repr(world)
