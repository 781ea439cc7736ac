"""The settings of training that the pages show are ones that there are."""

import pytest
import yaml
from documents import ROOT, all_blocks
from envace_sdk.training.run import run_config
from envace_sdk.training.run.settings import load_run_config

RESULTS = ROOT / "benchmarks" / "results"
KEYS = {"preset", "model", "steps", "rollout", "verl", "gate", "warmup"}
BLOCKS = [block for block in all_blocks() if block.language == "yaml" and KEYS & set(yaml.safe_load(block.text))]


def test_pages_show_settings():
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_shown_settings_are_read(block):
    assert run_config(yaml.safe_load(block.text), source=str(block))


@pytest.mark.parametrize("path", sorted(RESULTS.rglob("*.yaml")), ids=lambda path: path.stem)
def test_settings_that_results_were_made_with_are_still_read(path):
    assert load_run_config(path, {}, preset="cpu-small")
