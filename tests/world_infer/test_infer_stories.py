"""From created to gone, on toolsets of many domains and naming styles that come with nothing but their definitions."""

import json
from pathlib import Path

import pytest
import yaml

STORIES = yaml.safe_load((Path(__file__).parents[1] / "data" / "infer_stories.yaml").read_text(encoding="utf-8"))


def _with_key(path, identity, arguments):
    """The arguments with the identity at a dotted path."""
    steps = path.split(".")
    found = json.loads(json.dumps(arguments))
    place = found
    for step in steps[:-1]:
        place = place.setdefault(step, {})
    place[steps[-1]] = identity
    return found


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("by", ["rules alone", "the whole ladder"])
def test_what_is_created_lives_until_it_is_deleted(name, by, client_of, ladder_of, naive):
    story = STORIES[name]
    call = (client_of if by == "rules alone" else ladder_of)(story["tools"])
    ((tool, first),) = story["create"].items()
    path, around = story["id"], story.get("with", {})
    made = call(tool, **first)
    assert naive.holds(made, first)
    one = naive.find_id(made, path.split(".")[-1])
    two = naive.find_id(call(tool, **story["other"]), path.split(".")[-1])
    assert one != two
    key, other = _with_key(path, one, around), _with_key(path, two, around)
    assert naive.holds(call(story["get"], **key), first)
    assert naive.holds(call(story["get"], **other), story["other"])

    ((tool, changes),) = story["update"].items()
    seen = story.get("seen", changes)
    call(tool, **_with_key(story.get("update_id", path), one, {**around, **changes}))
    assert naive.holds(call(story["get"], **key), seen)
    assert call(story["get"], **key) == call(story["get"], **key)
    assert naive.holds(call(story["get"], **other), story["other"])

    everything = call(story["list"], **story.get("list_with", {}))
    values = [value for _, value in naive.leaves(everything)]
    assert one in values
    assert two in values
    assert naive.holds(everything, seen)
    for narrow in story["filters"]:
        values = [v for _, v in naive.leaves(call(story["list"], **story.get("list_with", {}), **narrow))]
        assert one in values, narrow
        assert two not in values, narrow

    gone = {**_with_key(story.get("delete_id", path), one, around), **story.get("delete_with", {})}
    call(story["delete"], **gone)
    outcome, error = call.error(story["get"], **key)
    assert outcome == "not_found"
    assert str(one) in error
    assert call.error(story["delete"], **gone)[0] == "not_found"
    values = [value for _, value in naive.leaves(call(story["list"], **story.get("list_with", {})))]
    assert one not in values
    assert two in values
