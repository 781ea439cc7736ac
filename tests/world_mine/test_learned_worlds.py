"""What is learned from recordings of an environment answers fresh calls as the environment does."""

import os
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from invented import FEATURES, Invented, invent, record, share
from invented.learning import Lesson, text_of

from envace_sdk.world.mine import learn

DATA = Path(__file__).parent / "data"
SUPPORT = Path(__file__).parents[1] / "support"
HAND_WRITTEN = sorted(path.stem for path in DATA.glob("*.yaml"))
EVERYDAY = ["boats", 0]
FEW, MANY = range(3), range(40)
SURE = 0.9

FLOORS = {
    # How much of the status, and of the values of successful answers, agrees at present, less a little.
    "boats": (0.95, 0.7),
    0: (0.72, 0.58),
}

USUAL = (0.85, 0.8)
CLASSES = {
    # Class of rules: how much of the status, and of the values of successful answers, has to agree.
    **dict.fromkeys(FEATURES, USUAL),
    # What a rule of these says hangs on many entities, or on what few recorded calls show.
    **dict.fromkeys(
        ["aggregate", "in_use", "joined", "moved", "room", "rows", "search", "size", "transfer"], (0.8, 0.65)
    ),
}


@cache
def lesson(seed):
    """Of an environment written by hand, or a random one: some thirty recorded calls for each of its tools."""
    environment = Invented.load(DATA / f"{seed}.yaml") if isinstance(seed, str) else invent(seed)
    return Lesson.of(environment, record(environment, episodes=2 * max(15, len(environment.tools)), calls=15))


@cache
def fresh(seed):
    """Calls that nobody has seen, answered by both worlds."""
    return lesson(seed).compared(episodes=12, calls=15)


def also_nightly(few, all_of_them):
    """Parameters of which those that are not among the few are left to runs by hand."""
    return [one if one in few else pytest.param(one, marks=pytest.mark.nightly) for one in all_of_them]


def by_class(seeds):
    found = defaultdict(list)
    for seed in seeds:
        features = lesson(seed).invented.features
        for one in fresh(seed):
            for name in features[one.tool]:
                found[name].append(one)
    return {name: share(compared) for name, compared in sorted(found.items())}


def confidently_wrong(compared):
    sure = [one for one in compared if one.confidence >= SURE]
    return [one for one in sure if not one.is_right], len(sure)


@pytest.mark.parametrize("seed", also_nightly(EVERYDAY, [*HAND_WRITTEN, *FEW]))
def test_what_has_been_learned_of_an_environment_is_not_lost_again(seed):
    status, values = FLOORS.get(seed, (0.7, 0.5))
    found = share(fresh(seed))
    assert found.status >= status, found
    assert found.values >= values, found


@pytest.mark.parametrize("seed", also_nightly(EVERYDAY, [*HAND_WRITTEN, *FEW]))
def test_no_learned_world_breaks_down(seed):
    assert [str(one) for one in fresh(seed) if one.trouble] == []


@pytest.mark.parametrize("seed", also_nightly(EVERYDAY, [*HAND_WRITTEN, *FEW]))
def test_who_is_sure_is_right_nine_times_in_ten(seed):
    wrong, sure = confidently_wrong(fresh(seed))
    assert len(wrong) <= 0.1 * sure, "\n".join(map(str, wrong[:10]))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [seed for seed in MANY if seed not in FEW])
def test_many_random_environments_never_break_down_and_are_rarely_sure_and_wrong(seed):
    assert [str(one) for one in fresh(seed) if one.trouble] == []
    wrong, sure = confidently_wrong(fresh(seed))
    assert len(wrong) <= 0.1 * sure, "\n".join(map(str, wrong[:10]))


@pytest.mark.nightly
def test_every_class_of_rules_is_learned_in_many_random_environments():
    found = by_class(MANY)
    below = {
        name: str(found[name])
        for name, (status, values) in CLASSES.items()
        if found[name].status < status or found[name].values < values
    }
    assert below == {}


@pytest.mark.parametrize("seed", also_nightly(["pots"], ["pots", 0]))
def test_learning_twice_gives_the_same_text(seed):
    known = lesson(seed)
    assert text_of(learn(known.invented.toolset, known.recorded)) == text_of(known.learned)


PROGRAM = """
import sys
from invented import invent, record
from invented.learning import text_of
from envace_sdk.world.mine import learn
for seed in sys.argv[1:]:
    other = invent(int(seed))
    learn(other.toolset, record(other, episodes=4, calls=12))
environment = invent(1)
sys.stdout.buffer.write(text_of(learn(environment.toolset, record(environment, episodes=8, calls=12))).encode())
"""


def test_what_is_learned_does_not_hang_on_the_hashes_of_a_process_or_on_what_it_learned_before():
    texts = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *others],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(SUPPORT)},
            check=True,
            capture_output=True,
        ).stdout
        for seed, others in (("0", []), ("1", ["2"]), ("4711", []))
    }
    assert len(texts) == 1
    assert len(texts.pop()) > 1000


def test_a_learned_world_answers_the_same_when_the_same_sessions_are_played_again():
    known = lesson(0)
    one, two = fresh(0), known.compared(episodes=12, calls=15)
    assert [(each.got, each.confidence) for each in one] == [(each.got, each.confidence) for each in two]
