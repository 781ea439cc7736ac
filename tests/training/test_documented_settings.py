"""The settings of training that the pages show are ones that there are."""

import pytest
import yaml
from documents import all_blocks
from envace_sdk.training.run import run_config

from envace_sdk.cli.train_commands import train

KEYS = {"preset", "model", "steps", "rollout", "verl", "gate", "warmup"}
BLOCKS = [block for block in all_blocks() if block.language == "yaml" and KEYS & set(yaml.safe_load(block.text))]


def test_pages_show_settings():
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_shown_settings_are_read(block):
    assert run_config(yaml.safe_load(block.text), source=str(block))


def test_every_preset_that_a_page_names_is_one():
    assert train.name == "train"
    for name in ("cpu-small", "gpu-24gb", "gpu-80gb", "node-8x80gb"):
        assert run_config({"preset": name})
