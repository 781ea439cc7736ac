"""Whether a recorded success is one that the tool's own output schema admits."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from envace_sdk.errors import SchemaError
from envace_sdk.jsonschema import compile_schema
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool

__all__ = ["Soundness"]

logger = logging.getLogger(__name__)


class Soundness:
    """Judges each fixture once, when it is first looked at; of those that do not hold, a warning says where they are.

    Clients that validate would refuse such an answer, and every rehearsed success is one they can take.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._judged: dict[int, tuple[Fixture, bool]] = {}

    def holds(self, fixture: Fixture) -> bool:
        """Whether the fixture may be answered with."""
        known = self._judged.get(id(fixture))
        if known is None:
            known = self._judged[id(fixture)] = (fixture, self._judge(fixture))
        return known[1]

    def _judge(self, fixture: Fixture) -> bool:
        tool = self._tools.get(fixture.call.name) if fixture.is_call else None
        if tool is None or tool.output_schema is None or fixture.result.is_error:
            return True
        try:
            validator = compile_schema(tool.output_schema, where=f"{tool.name}.outputSchema")
            violations = validator.violations(fixture.result.value(), limit=3)
        except SchemaError:
            return True
        if violations:
            logger.warning(
                "%s: call %d of recording %r is left out: its result breaks the output schema of %s: %s",
                fixture.file or "fixtures",
                fixture.position + 1,
                fixture.episode,
                tool.name,
                "; ".join(map(str, violations)),
            )
        return not violations
