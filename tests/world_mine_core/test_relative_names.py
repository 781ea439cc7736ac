"""Names that are relative to where the session is."""

from functools import cache
from random import Random

from small_episodes import understood

from envace_sdk.world.mine.roles import cast_of
from envace_sdk.world.mine.scoping import known_places, scope_names, starting_points
from envace_sdk.world.mine.structure import SESSION
from envace_sdk.world.mine.tracking import Tracker

ROOMS = {"/home": ["attic", "cellar", "hall"], "/home/attic": ["chest"], "/home/hall": ["desk", "stove"]}


def walk(seed, here="/home", length=24):
    """A session that walks through a house, and looks at what is where it stands."""
    random = Random(seed)
    for _ in range(length):
        yield "where", {}, {"place": here}
        yield "where", {}, {"place": here}
        inside = ROOMS.get(here, [])
        if inside and random.random() < 0.6:
            name = random.choice(inside)
            here = f"{here}/{name}"
            yield "enter", {"door": name}, "you go in"
        else:
            here = random.choice(["/home", "/home/hall", "/home/attic"])
            yield "jump", {"to": here}, "you are there"
        yield "where", {}, {"place": here}
        yield "look", {"door": (inside := ROOMS.get(here, ["nothing"]))[0]}, {"door": inside[0], "far": len(here)}


@cache
def house():
    found = understood(*(list(walk(seed)) for seed in range(6)), readers=("where", "look"))
    return found, scope_names(found.structure, found.effects)


def test_going_where_an_argument_leads_from_here_tells_that_its_things_are_named_from_here():
    found, bases = house()
    assert found.effects.sets["enter", SESSION, "place"] == "joinpath(session.place, args.door)"
    (reference,) = found.structure.references_of("enter")
    assert bases == {reference.kind: "session.place"}


def test_things_named_from_here_have_their_paths_as_keys():
    found, bases = house()
    (name,) = bases
    kind = found.structure.kinds[name]
    assert (kind.key, kind.label) == ("path", "door")
    (site,) = found.structure.sites_of("look")
    assert site.join == "joinpath(session.place, item.door)"
    cast = cast_of("look", found.structure, bases, {})
    assert cast.primary.source == "joinpath(session.place, args.door)"


def test_what_is_shown_here_is_not_what_is_called_the_same_elsewhere():
    found, bases = house()
    casts = {tool: cast_of(tool, found.structure, bases, {}) for tool in found.casts}
    tracker = Tracker(found.structure, casts, known_places(bases.values(), casts, found.effects))
    moments = [m for episode in found.episodes for m in tracker.follow(episode)]
    keys = {moment.keys["entity"] for moment in moments if moment.step.tool == "look" and "entity" in moment.keys}
    assert {"/home/attic", "/home/attic/chest", "/home/hall/desk"} <= keys
    assert all(key.startswith("/home") for key in keys)


def test_where_a_session_began_is_told_by_what_it_shows_later():
    sessions = [list(walk(seed)) for seed in range(5)] + [list(walk(9, here="/home/hall"))[1:]]
    found = understood(*sessions, readers=("where", "look"))
    bases = scope_names(found.structure, found.effects)
    points = starting_points(bases.values(), found.structure, found.casts, found.effects, found.episodes)
    assert points["session 000"] == {"place": "/home"}
    assert points["session 005"] == {"place": "/home/hall"}


def test_only_where_the_session_is_stays_known():
    found, bases = house()
    known = known_places(bases.values(), found.casts, found.effects)
    assert set(known.sets) == {("enter", SESSION, "place"), ("jump", SESSION, "place")}
    assert known.spared == {("where", SESSION, "place"), ("look", SESSION, "place")}


def test_names_that_are_whole_stay_so():
    sessions = [[step for n in range(5) for step in [("get", {"pot_id": f"p{n}"}, {"pot_id": f"p{n}", "x": n})] * 2]]
    found = understood(*sessions)
    assert scope_names(found.structure, found.effects) == {}
    assert all(not site.join for site in found.structure.sites_of("get"))
