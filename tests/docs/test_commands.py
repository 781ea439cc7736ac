"""Every command line that a page shows is one that there is."""

import re
import shutil
import subprocess

import click
import pytest
from documents import ROOT, all_blocks, all_commands, code_spans, pages
from shown_commands import check, check_cli, every_option, simple_commands

LANGUAGES = {"bash", "console", "json", "python", "sql", "text", "toml", "yaml"}
FOREIGN = {
    "--api-key", "--enable-lora", "--generation-config", "--weight-transfer-config",  # vLLM
    "--agent-llm",  # tau2
    "--backend", "--local", "--target",  # verl.model_merger
    "--head", "--address",  # ray
    "--index-url",  # pip
}  # fmt: skip


@pytest.mark.parametrize("block", all_blocks(), ids=str)
def test_every_block_says_in_which_language_it_is(block):
    assert block.language in LANGUAGES, f"{block}: {block.language!r} is none of {sorted(LANGUAGES)}"


@pytest.mark.parametrize("command", all_commands(), ids=str)
def test_every_command_can_be_parsed_by_bash_and_by_the_program_that_it_names(command):
    if bash := shutil.which("bash"):
        parsed = subprocess.run([bash, "-n"], input=command.text, capture_output=True, text=True, check=False)
        assert parsed.returncode == 0, parsed.stderr
    check_all(command.text, command.page)


@pytest.mark.parametrize("page", pages())
def test_every_option_in_the_text_is_one_of_ours_or_known_to_be_anothers(page):
    known = every_option() | FOREIGN | options_of_scripts()
    for span in code_spans(page):
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", span):
            assert option in known, f"{page}: `{span}`: no command has {option}"


@pytest.mark.parametrize("page", pages())
def test_every_command_in_the_text_is_one(page):
    for span in code_spans(page):
        if not span.startswith("envace-sdk ") or "|" in span or "<" in span:
            continue
        words = re.sub(r"[…]|\b[A-Z]{2,}\b", "x", span).split()[1:]
        named = []
        for word in words:
            if not re.fullmatch(r"[a-z-]+", word) or word.startswith("-"):
                break
            named.append(word)
        check_cli([*named[:2], "--help"] if named else ["--help"])


def check_all(text, page):
    for words in simple_commands(text):
        check(words, page)


def options_of_scripts():
    files = [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("examples/**/*.py")]
    return {option for file in files for option in re.findall(r'"(--[a-z-]+)"', file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("page", pages())
def test_every_module_that_the_text_names_is_one(page):
    for span in code_spans(page):
        for name in re.findall(r"\benvace_sdk(?:\.[a-z_]\w*)*(?:\.[A-Z]\w*)?", span):
            assert is_there(name.split(".")[1:]), f"{page}: `{span}`: there is no {name}"


def is_there(names):
    """Whether a module of the package has that path, or defines the last name of it."""
    top, below = ROOT / "envace_sdk", names
    if names and (ROOT / names[0]).is_dir() and not (top / names[0]).exists():
        top, below = ROOT / names[0], names[1:]
    path = top.joinpath(*below)
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    for home in (path.parent / "__init__.py", path.parent.with_suffix(".py")):
        if home.exists() and re.search(rf"\b{re.escape(below[-1])}\b", home.read_text(encoding="utf-8")):
            return True
    return False


@pytest.mark.parametrize(
    "wrong",
    [
        "envace-sdk srve --tools retail",
        "envace-sdk serve --tools retail --fault flaky",
        "envace-sdk serve",
        "envace-sdk train --tools retail --steps none",
        "envace-sdk client-config retail --client emacs",
        "envace-sdk client-config retail --client cursor -- --sed 7",
        "envace-sdk client-config --gateway -- --polcy p.yaml -- server",
        "ENVACE_LEDGER=x nice -n 4 envace-sdk approvals lst",
        "accelerate launch -m envace_sdk train --toolz retail",
        "true && python benchmarks/nothing.py",
        "python benchmarks/serve.py --no-such-option",
        "pip install 'envace-sdk[nothing]'",
        "make nothing",
    ],
)
def test_a_command_that_is_none_is_found_out(wrong):
    with pytest.raises((AssertionError, click.UsageError)):
        check_all(wrong, "docs/serving.md")
