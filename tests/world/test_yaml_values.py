"""YAML whose values are not what they say: every reader refuses it with its own error, which names the file."""

import pytest

from envace_sdk.errors import DynamicsError, FaultError, ToolsetError, WorldError
from envace_sdk.faults import FaultPlan
from envace_sdk.tools.documents import parse_yaml
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.files import read_file
from envace_sdk.yaml import YAMLError, load_yaml

VALUES = [
    "!!int nope",
    "!!int ''",
    "!!float nope",
    "!!bool nope",
    "!!timestamp 99999-01-01",
    "!!timestamp nope",
    "!!binary é",
    "[" * 5000,
    "\ud800",
    "!!python/object:os.system x",
]
DATES = ["2026-02-31", "2026-13-01", "2026-01-01T25:00:00Z", "2026-01-01 10:00:00 +99:99"]


@pytest.mark.parametrize("value", [*VALUES, *DATES], ids=lambda value: ascii(value)[:30])
def test_a_value_that_is_not_what_it_says_is_no_yaml(value, tmp_path):
    text = f"d: {value}"
    with pytest.raises(YAMLError):
        load_yaml(text)
    with pytest.raises(DynamicsError, match=r"rules\.yaml: not YAML"):
        Dynamics.parse(text, "rules.yaml")
    with pytest.raises(FaultError, match=r"plan\.yaml: not YAML"):
        FaultPlan.parse(text, "plan.yaml")
    if value.isprintable():
        path = tmp_path / "seed.yaml"
        path.write_text(text)
        with pytest.raises(WorldError, match=r"seed\.yaml: not YAML"):
            read_file(path)
    if value in VALUES:  # a date is text in a catalogue
        with pytest.raises(ToolsetError, match=r"tools\.yaml: "):
            parse_yaml(text, "tools.yaml")


def test_a_time_that_utc_does_not_have_is_refused(tmp_path):
    path = tmp_path / "seed.yaml"
    path.write_text("d: 0001-01-01T00:00:00+14:00")
    with pytest.raises(WorldError, match=r"seed\.yaml: .*UTC"):
        read_file(path)
