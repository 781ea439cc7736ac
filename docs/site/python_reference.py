"""The reference of the Python packages: their public names, read from the source without importing it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import griffe
from stage import ROOT

__all__ = ["python_reference"]

_TOPS = {
    "envace_sdk": "envace_sdk",
    "mcp_servers": "envace_sdk.mcp_servers",
    "integrations": "envace_sdk.integrations",
    "training": "envace_sdk.training",
}
"""Folder → the name that it is installed under."""
_MODULES = {
    "envace_sdk.errors",
    "training.advantages",
    "training.config",
    "training.rewards",
    "training.rollout_config",
    "training.rows",
    "training.trainer",
}
"""Modules that are public beside the packages."""
_HEADINGS = {
    "parameters": "Arguments",
    "returns": "Returns",
    "raises": "Raises",
    "yields": "Yields",
    "attributes": "Attributes",
}


def python_reference() -> dict[str, str]:
    """Pages of Markdown by their path in the site: one for each public package, and one that lists them."""
    pages, rows = {}, []
    for package, name in _packages():
        path = f"reference/{name}.md"
        summary = inspect.cleandoc(package.docstring.value).partition("\n\n")[0] if package.docstring else ""
        rows.append((name, " ".join(summary.split())))
        pages[path] = _page(package, name)
    table = "".join(f"| [{name}]({name}.md) | {summary} |\n" for name, summary in sorted(rows))
    trees = "".join(f"{name}\n" for name, _ in sorted(rows))
    pages["reference/python.md"] = (
        "# Python packages\n\nPublic names, from their docstrings. What a package does not list is not public: it may "
        f"change in any release.\n\n| package | |\n|---|---|\n{table}\n```{{toctree}}\n:hidden:\n\n{trees}```\n"
    )
    return pages


def _packages() -> Iterator[tuple[Any, str]]:
    for folder, name in _TOPS.items():
        top = griffe.load(folder, search_paths=[ROOT], resolve_aliases=True, allow_inspection=False)
        waiting = [top]
        while waiting:
            module = waiting.pop()
            waiting += [one for one in module.modules.values() if not one.is_alias]
            if module.exports and (module.is_init_module or module.path in _MODULES):
                yield module, module.path.replace(folder, name, 1)


def _page(package: Any, name: str) -> str:
    text = f"# {name}\n\n{_doc(package)}\n"
    for public in sorted(map(str, package.exports)):
        member = package.members.get(public)
        if member is None:  # lent by another package, at the first use
            text += f"\n## {public}\n\nAs in the package that it comes from.\n"
            continue
        text += f"\n## {public}\n\n" + _member(_target(member), public)
    return text


def _target(member: Any) -> Any:
    try:
        return member.final_target if member.is_alias else member
    except griffe.AliasResolutionError:
        return member


def _member(member: Any, name: str) -> str:
    if member.is_alias:
        return f"From `{member.target_path}`.\n"
    if member.is_module:
        return _doc(member) + "\n"
    text = f"```python\n{_signature(member, name)}\n```\n\n{_doc(member)}\n"
    if not member.is_class:
        return text
    for inner in member.members.values():
        is_shown = not inner.is_alias and not inner.name.startswith("_") and inner.docstring is not None
        if is_shown and inner.is_function:
            text += f"\n```python\n{_signature(inner, inner.name)}\n```\n\n{_doc(inner)}\n"
        elif is_shown and inner.is_attribute:
            text += f"\n**`{_attribute(inner)}`**\n\n{_doc(inner)}\n"
    return text


def _signature(member: Any, name: str) -> str:
    if member.is_class:
        bases = ", ".join(str(base) for base in member.bases)
        shown = member.signature()
        call = f"class {name}({bases})" if bases else f"class {name}"
        return call if shown is None or str(shown) == f"{member.name}()" else f"{call}\n{_wrapped(str(shown))}"
    if member.is_function:
        begin = "async def " if "async" in member.labels else "def "
        return begin + _wrapped(str(member.signature()).replace(member.name, name, 1))
    return _attribute(member)


def _wrapped(signature: str) -> str:
    """A long signature with a line for each argument."""
    if len(signature) <= 88:
        return signature
    depth, start, pieces = 0, 0, []
    for at, character in enumerate(signature):
        depth += (character in "([{") - (character in ")]}")
        is_end = character == ")" and depth == 0
        if (character == "(" and depth == 1) or (character == "," and depth == 1) or is_end:
            pieces.append(signature[start : at if is_end else at + 1].strip())
            start = at if is_end else at + 1
        if is_end:
            break
    first, *arguments = pieces
    return "\n".join([first, *(f"    {one}" for one in arguments), signature[start:]])


def _attribute(member: Any) -> str:
    kind = f": {member.annotation}" if member.annotation is not None else ""
    value = f" = {member.value}" if member.value is not None and len(str(member.value)) <= 60 else ""
    return " ".join(f"{member.name}{kind}{value}".split())


def _doc(member: Any) -> str:
    if member.docstring is None:
        return ""
    text = ""
    for section in member.docstring.parse("google", warnings=False):
        kind = section.kind.value
        if kind == "text":
            text += f"{_shifted(section.value)}\n\n"
        elif kind in _HEADINGS:
            text += f"*{_HEADINGS[kind]}*\n\n" + "".join(f"- {_item(item)}\n" for item in section.value) + "\n"
        elif kind == "admonition":
            text += f"*{section.title}*: {section.value.description}\n\n"
    return text.rstrip() + "\n"


def _item(item: Any) -> str:
    label = getattr(item, "name", "") or (str(item.annotation) if getattr(item, "annotation", None) else "")
    said = " ".join(str(item.description).split())
    return f"`{label}`: {said}" if label else said


def _shifted(text: str) -> str:
    """Headings in a docstring would be headings of the page."""
    return "\n".join(line.replace("#", "\\#", 1) if line.startswith("#") else line for line in text.splitlines())
