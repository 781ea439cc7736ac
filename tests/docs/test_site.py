"""The site's own parts, without its tool: navigation, moved links, and the reference of the command line."""

import importlib.util
import sys

import pytest
import yaml
from documents import ROOT, pages
from shown_commands import every_command

SITE = ROOT / "docs" / "site"
GENERATED = {"reference/cli.md", "reference/python.md"}


def part(name, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(SITE), *sys.path])
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation_once_and_every_entry_is_a_page():
    entries = [one for section in yaml.safe_load((SITE / "nav.yaml").read_text()).values() for one in section]
    found = [path.relative_to(ROOT).as_posix() for one in entries if "*" in one for path in sorted(ROOT.glob(one))]
    found += [one for one in entries if "*" not in one]
    assert len(found) == len(set(found))
    missing = {page for page in pages() if page not in found} - {"README.md"}
    assert not missing, f"docs/site/nav.yaml lacks {sorted(missing)}"
    assert set(found) - set(pages()) == GENERATED


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("README.md", "index.md"),
        ("docs/guard.md", "guard.md"),
        ("examples/gateway/README.md", "source/examples/gateway/README.md"),
    ],
)
def test_a_file_has_its_place_in_the_site(path, there, monkeypatch):
    assert part("stage", monkeypatch).place(path) == there


def test_links_are_moved_with_the_pages_but_not_in_code(tmp_path, monkeypatch):
    part("stage", monkeypatch).stage(tmp_path, {"reference/cli.md": "# C\n", "reference/python.md": "# P\n"})
    assert "](tutorials/serve.md)" in (tmp_path / "index.md").read_text()
    assert "](source/examples/refund_agent/README.md)" in (tmp_path / "langchain.md").read_text()
    assert (tmp_path / "source/examples/refund_agent/README.md").exists()
    assert (tmp_path / "images/studio.png").exists()
    assert "print(order_id, reason, file=file)" in (tmp_path / "tutorials/guard.md").read_text()


def test_the_reference_of_the_command_line_has_the_help_of_every_command(monkeypatch):
    text = part("cli_reference", monkeypatch).cli_reference()
    for words, command in every_command():
        assert f"\n## {' '.join(['envace-sdk', *words])}\n" in text
        for parameter in command.params:
            assert all(option in text for option in parameter.opts if option.startswith("--"))
