"""Which actions a rule is about: by tool, server, annotation, argument and condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Final

from envace_sdk.errors import EnvaceError, ExpressionError, PolicyError, SchemaError
from envace_sdk.json import UNSET, Json
from envace_sdk.jsonschema import Validator, compile_schema
from envace_sdk.world.expressions import Expression, Scope, compile_expression

from .bounds import unbounded

if TYPE_CHECKING:
    from .case import Case

__all__ = ["Condition", "Match"]

Condition = str | Callable[["Case"], bool]
"""CEL over `tool`, `server`, `thread`, `annotations`, `args`, `prediction`, `risk`, `record`, `world` and `now`; or a
function."""

_STEPS: Final = 100_000
_WILD: Final = frozenset("*?[")


@dataclass(frozen=True)
class Match:
    """All of it must hold.

    Raises:
        PolicyError: the condition or a schema is wrong; when it is made.
    """

    tools: tuple[str, ...] = ("*",)
    """Patterns with `*`, `?` and `[…]`, any of which the tool's name matches, case and all."""
    servers: tuple[str, ...] = ("*",)
    annotations: Mapping[str, Json] = field(default_factory=dict)
    """What annotations must say, such as `{"readOnlyHint": True}`. They are hints of the server."""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    """By argument, the JSON Schema that its value must satisfy; it must be there."""
    when: Condition | None = None

    def __post_init__(self) -> None:
        _ = self._condition, self._schemas

    @cached_property
    def _condition(self) -> Expression | None:
        if not isinstance(self.when, str):
            return None
        try:
            return compile_expression(self.when)
        except ExpressionError as error:
            raise PolicyError(f"when: {error}") from None

    @cached_property
    def _schemas(self) -> dict[str, Validator]:
        made = {}
        for name, schema in self.arguments.items():
            if not isinstance(schema, Mapping | bool):
                raise PolicyError(f"arguments.{name}: expected a JSON Schema, such as {{maximum: 50}}")
            try:
                made[name] = compile_schema(schema, where=f"arguments.{name}")
            except SchemaError as error:
                raise PolicyError(str(error)) from None
        return made

    def __call__(self, case: Case) -> bool:
        """Whether the rule is about this case.

        Raises:
            PolicyError: the condition cannot be evaluated on it, or is neither true nor false.
        """
        action = case.action
        return (
            _any(self.tools, action.tool)
            and _any(self.servers, action.server)
            and all(case.annotations.get(name, UNSET) == value for name, value in self.annotations.items())
            and all(
                name in action.arguments and schema.is_valid(action.arguments[name])
                for name, schema in self._schemas.items()
            )
            and self._holds(case)
        )

    def names_tool(self) -> bool:
        """Whether every tool is named in full."""
        return bool(self.tools) and not any(_WILD & set(pattern) for pattern in self.tools)

    def missing(self, arguments: Mapping[str, Json]) -> list[str]:
        """What keeps the rule from being explicit about a call with these arguments, in words; [] when it is."""
        found = [] if self.names_tool() else ["it does not name the tool in full"]
        loose = unbounded(self.arguments, arguments)
        if loose:
            found.append(f"it does not bound {', '.join(loose)}")
        return found

    def _holds(self, case: Case) -> bool:
        try:
            if callable(self.when):
                value: Json = self.when(case)
            elif self._condition is not None:
                names = dict(case.names)
                if "record" in self._condition.source:
                    names["record"] = case.record.as_json()
                value = self._condition(Scope(names, case.state, dynamics=case.dynamics, steps=_STEPS))
            else:
                value = True
        except EnvaceError as error:
            raise PolicyError(str(error)) from error
        except Exception as error:
            raise PolicyError(f"the condition failed: {error!r:.200}") from error
        if not isinstance(value, bool):
            raise PolicyError(f"the condition is neither true nor false, but {value!r:.60}")
        return value


def _any(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
