"""`envace-sdk infer`: write a toolset's dynamics from its definitions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from envace_sdk.tools.toolset import Toolset
    from envace_sdk.world.dynamics import Dynamics, ToolRule

__all__ = ["infer"]

_COLUMNS = ("tool", "effect", "collection", "key", "confidence", "reason")


@click.command(
    epilog="""\b
Examples:
  envace-sdk infer schemas/shop/                     writes schemas/shop/dynamics.yaml
  envace-sdk infer tools.json -o shop.yaml --explain
  envace-sdk infer retail -o -                       prints the file instead
\b
Exit code 3: the file was edited by hand; --force overwrites it.
""",
)
@click.argument("source")
@click.option("-o", "--output", metavar="FILE", help="Where to write; `-` for standard output.")
@click.option("--explain", is_flag=True, help="Also print what the arguments of each tool do.")
@click.option("--force", is_flag=True, help="Overwrite a file that was edited by hand.")
def infer(source: str, output: str | None, explain: bool, force: bool) -> None:
    """Infer what each tool of SOURCE does to the world, and write it as a dynamics file that is yours to edit.

    SOURCE is a folder, a file, a URL or the name of a shipped toolset. The file is `dynamics.yaml` beside the
    folder's or the file's definitions, unless --output says otherwise.
    """
    from envace_sdk.tools import Toolset
    from envace_sdk.world.infer import infer as infer_dynamics
    from envace_sdk.world.infer.file import file_text

    toolset = Toolset.load(source)
    dynamics = infer_dynamics(toolset)
    text = file_text(dynamics)
    path = _path(source, toolset, output)
    if path is None:
        click.echo(text, nl=False)
    else:
        _write(path, text, force=force)
    shown = _table(dynamics) + (_details(dynamics) if explain else "")
    click.echo(shown, err=path is None)
    if path is not None:
        opaque = sum(rule.effect == "opaque" for rule in dynamics.tools.values())
        unknown = f"; {opaque} of them no rule speaks for" if opaque else ""
        click.echo(f"wrote {path}: {len(dynamics.tools)} tools, {len(dynamics.collections)} collections{unknown}")


def _path(source: str, toolset: Toolset, output: str | None) -> Path | None:
    """Where the file goes; None: to standard output."""
    if output == "-":
        return None
    if output is not None:
        return Path(output)
    if toolset.folder is not None:
        return toolset.folder / "dynamics.yaml"
    beside = Path(source)
    return beside.parent / "dynamics.yaml" if beside.is_file() else None


def _write(path: Path, text: str, *, force: bool) -> None:
    from envace_sdk.errors import DynamicsError
    from envace_sdk.world.infer.file import is_untouched

    try:
        if path.exists() and not force and not is_untouched(path.read_text(encoding="utf-8")):
            raise DynamicsError(f"{path} was edited by hand: --force overwrites it, -o writes elsewhere")
        path.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DynamicsError(f"{path}: cannot be written: {error}") from error


def _table(dynamics: Dynamics) -> str:
    from .tools_print import table

    rows: list[dict[str, Any]] = [
        {
            "tool": name,
            "effect": rule.effect,
            "collection": rule.collection or "",
            "key": _key(rule),
            "confidence": f"{rule.confidence:.2f}",
            "reason": rule.reason,
        }
        for name, rule in dynamics.tools.items()
    ]
    return table(rows, _COLUMNS)


def _key(rule: ToolRule) -> str:
    """The arguments that say which entity, without the CEL around them."""
    parts = [] if rule.key is None else [rule.key] if isinstance(rule.key, str) else rule.key
    names = [name for part in parts for name in re.findall(r"args\.([\w.]+)|args\[\"([^\"]+)\"\]", part)]
    return ", ".join(dict.fromkeys(dotted or quoted for dotted, quoted in names))


def _details(dynamics: Dynamics) -> str:
    """Below the table: per tool, what becomes of its arguments."""
    blocks = []
    for name, rule in dynamics.tools.items():
        lines = list(_lines(rule))
        if lines:
            blocks.append(f"\n\n{name}\n" + "\n".join(f"  {line}" for line in lines))
    return "".join(blocks)


def _lines(rule: ToolRule) -> list[str]:
    lines: list[str] = []
    takes = rule.take.items() if isinstance(rule.take, dict) else ((name, name) for name in rule.take)
    if rule.take == "*":
        lines.append("takes  every argument")
    else:
        lines += [f"takes  {field}" + (f" from {source}" if source != field else "") for field, source in takes]
    lines += [] if rule.like is None else [f"copies  {rule.like}"]
    lines += [f"sets  {field} = {value}" for field, value in rule.set.items()]
    lines += [f"appends  {value} to {field}" for field, value in rule.append.items()]
    for argument, narrowing in rule.filters.items():
        fields = ", ".join([narrowing.field, *narrowing.any_of])
        lines.append(f"filters  {argument}: {fields} {narrowing.op}")
    if rule.where is not None:
        lines.append(f"filters  {rule.where}")
    lines += [f"{change.effect}s  {change.collection} each of {change.each}" for change in rule.also if change.each]
    return lines
