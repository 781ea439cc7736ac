"""What the answers are found to be about."""

from small_episodes import understood

from envace_sdk.world.mine.naming import kind_of
from envace_sdk.world.mine.positions import Position
from envace_sdk.world.mine.structure import SESSION, Reference, Site, parts_at, records

POTS = ["p-1", "p-2", "p-3", "p-4", "p-5"]


def pot(key):
    return {"id": key, "glaze": f"glaze of {key}"}


def shown(found, tool):
    return [
        (key, dict(fields))
        for episode in found.episodes
        for step in episode.steps
        if step.tool == tool
        for site in found.structure.sites_of(tool)
        for key, fields in records(site, step)
    ]


def test_an_answer_that_repeats_an_argument_shows_what_that_names():
    found = understood([("get_pot", {"pot_id": key}, pot(key)) for key in POTS * 2], learn=False)
    assert found.structure.sites_of("get_pot") == [Site("get_pot", "", "pots", key="id")]
    assert found.structure.references_of("get_pot") == [Reference("get_pot", "pot_id", "pots")]
    assert (found.structure.kinds["pots"].noun, found.structure.kinds["pots"].key) == ("pot", "id")
    assert shown(found, "get_pot") == [(key, pot(key)) for key in POTS * 2]


def test_an_answer_with_a_key_that_nobody_gave_shows_something_new():
    sessions = [
        [
            step
            for key in POTS
            for step in (("throw_pot", {"clay": "red"}, pot(key)), ("get_pot", {"pot_id": key}, pot(key)))
        ]
    ]
    found = understood(*sessions, learn=False)
    (site,) = found.structure.sites_of("throw_pot")
    assert (site.kind, site.key, site.fresh) == ("pots", "id", True)
    assert not found.structure.sites_of("get_pot")[0].fresh


def test_a_list_shows_each_of_its_records():
    sessions = [[("list_pots", {}, {"pots": [pot(key) for key in POTS], "total": 5})], []]
    sessions[0] += [("get_pot", {"pot_id": key}, pot(key)) for key in POTS]
    found = understood(*sessions, learn=False)
    (site,) = found.structure.sites_of("list_pots")
    assert (site.path, site.kind, site.key, site.many) == ("pots.[]", "pots", "id", True)
    assert shown(found, "list_pots") == [(key, pot(key)) for key in POTS]


def test_a_list_of_keys_shows_the_things():
    sessions = [[("pot_ids", {}, {"pots": POTS}), *(("get_pot", {"pot_id": key}, pot(key)) for key in POTS)]]
    found = understood(*sessions, learn=False)
    (site,) = found.structure.sites_of("pot_ids")
    assert (site.bare, site.key, site.kind) == (True, "id", "pots")
    assert shown(found, "pot_ids") == [(key, {"id": key}) for key in POTS]


def test_a_list_whose_records_nothing_tells_apart_shows_no_things():
    same = [{"id": "p-1", "at": "noon"}, {"id": "p-1", "at": "night"}]
    found = understood([("firings", {}, {"firings": same})] * 6, learn=False)
    assert all(site.kind == SESSION for site in found.structure.sites_of("firings"))


def test_things_are_listed_by_the_last_parts_of_their_paths():
    paths = ["/shed/red.txt", "/shed/blue.txt", "/shed/green.txt", "/shed/grey.txt"]
    listed = {
        "/shed": [{"name": path.rpartition("/")[2], "size": 3} for path in paths],
        "/house": [{"name": "cat", "size": 3}],
        "/yard": [],
    }
    session = [
        ("list_shelf", {"folder": folder}, {"folder": folder, "entries": entries}) for folder, entries in listed.items()
    ] * 4
    session += [("look", {"path": path}, {"path": path, "text": f"about {path}"}) for path in paths * 2]
    found = understood(session, learn=False)
    (site,) = [site for site in found.structure.sites_of("list_shelf") if site.many]
    assert (site.key, site.join) == ("name", "joinpath(args.folder, item.name)")
    (named,) = found.structure.references_of("look")
    (holder,) = found.structure.references_of("list_shelf")
    assert named.kind == holder.kind == site.kind, "what holds files is a file"


def test_an_answer_that_names_nothing_is_about_the_session():
    found = understood([("weather", {}, {"sky": sky, "wind": 3}) for sky in ("grey", "blue", "grey")], learn=False)
    assert found.structure.sites_of("weather") == [Site("weather", "", SESSION)]
    assert shown(found, "weather")[1] == ("", {"sky": "blue", "wind": 3})


def test_an_answer_that_names_nothing_is_about_what_the_call_names():
    sessions = [
        [
            step
            for key in POTS
            for step in (("get_pot", {"pot_id": key}, pot(key)), ("weigh", {"pot_id": key}, {"grams": 7}))
        ]
    ]
    found = understood(*sessions, learn=False)
    (site,) = found.structure.sites_of("weigh")
    assert (site.argument, site.kind) == ("pot_id", "pots")
    assert shown(found, "weigh") == [(key, {"grams": 7}) for key in POTS]


def test_words_that_only_one_tool_takes_are_no_kind_of_thing():
    moods = ["calm", "wild", "glum", "gay"]
    sessions = [[("sing", {"mood": mood}, {"sung": True}), ("sing", {"mood": mood}, {"sung": True})] for mood in moods]
    found = understood(*sessions, learn=False)
    assert set(found.structure.kinds) == {SESSION}
    assert found.structure.references_of("sing") == []


def test_kinds_are_called_after_what_names_their_things():
    def called(*names, taken=()):
        kind = kind_of([Position("look", "in", name) for name in names], [], taken)
        return kind.name, kind.noun, kind.key

    assert called("pot_id") == ("pots", "pot", "pot_id")
    assert called("id", "id", "clay_pot_id") == ("clay_pots", "clay pot", "id")
    assert called("name", "name", "boat") == ("boats", "boat", "name")
    assert called("pot_id", taken={"pots", "pots_2"}) == ("pots_3", "pot", "pot_id")
    assert called("slug") == ("items", "item", "slug")


def test_the_key_is_the_field_under_which_the_things_are_shown():
    positions = [Position("get", "in", "pot_id"), Position("fire", "in", "pot_id"), Position("get", "out", "mark")]
    assert kind_of(positions, [Site("get", "", "", key="mark")], ()).key == "mark"
    assert kind_of(positions, [Site("ls", "[]", "", key="mark", join="joinpath(a, b)")], ()).key == "pot_id"


def test_parts_are_found_through_objects_and_lists():
    value = {"a": [{"b": 1}, {"c": 2}, 3, {"b": 4}]}
    assert parts_at(value, "a.[].b") == [1, 4]
    assert parts_at(value, "") == [value]
    assert parts_at(value, "b.[]") == []
