"""What the HTTP API takes and gives, and its OpenAPI document."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import models_json_schema

from envace_sdk.json import Json

__all__ = ["Decide", "Decided", "Observe", "ObservedAnswer", "Problem", "document"]

_Name = Annotated[str, Field(max_length=1000)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Decide(_Model):
    """A tool call that is about to be made."""

    tool: Annotated[str, Field(min_length=1, max_length=1000)]
    arguments: dict[str, Any] = Field(default_factory=dict, description="Those that the model chose.")
    thread: _Name = Field("", description="The conversation: the run of the ledger in which the call is kept.")
    task: _Name = Field("", description="New in every turn of the conversation, the same when it is resumed.")
    call_id: _Name | None = Field(
        None, description="Your id of the call. With it, the same call again is the same action, executed once."
    )
    annotations: dict[str, Any] | None = Field(
        None, description="What the server says of its tool; default: as in the toolset."
    )
    context: dict[str, Any] = Field(default_factory=dict, description="What a person should know besides.")
    begin: bool = Field(
        True, description="Whether the call follows at once if it may. If not, it is judged and no permit is given."
    )


class Decided(_Model):
    """What is to become of it. Execute it only where `permit` is given, and then say what came of it."""

    verdict: Literal["commit", "block", "ask", "revise", "done", "in_doubt"] = Field(
        description="done: it was executed before, `result` is what came of it. in_doubt: it may have been; look at "
        "the real system."
    )
    action: str = Field(description="Its identity in the ledger.")
    permit: str | None = Field(None, description="The right to execute it, once. Pass it to /v1/observe.")
    reasons: list[str] = Field(default_factory=list)
    risk: Literal["low", "medium", "high"] | None = None
    prediction: dict[str, Any] | None = Field(None, description="What was rehearsed: nothing of it has happened.")
    approval: str | None = Field(None, description="With ask, what a person must approve.")
    arguments: dict[str, Any] | None = Field(None, description="With revise, what a person wants instead, if anything.")
    result: dict[str, Any] | None = Field(None, description="With done, the recorded result.")


class Observe(_Model):
    """What came of a call that had a permit: just one of the other members."""

    permit: str
    result: Any = Field(None, description="What the tool answered: a result of MCP, or any JSON.")
    error: str | None = Field(None, description="The tool ran, and answered with this error.")
    not_executed: str | None = Field(None, description="It never ran, for this reason: the permit is given back.")
    lost: str | None = Field(None, description="Nobody knows, for this reason: the call stays in doubt.")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        given = {"result", "error", "not_executed", "lost"} & self.model_fields_set
        if len(given) != 1:
            raise ValueError("expected just one of result, error, not_executed and lost")
        if "result" not in given and getattr(self, next(iter(given))) is None:
            raise ValueError(f"{next(iter(given))}: expected text")
        return self


class ObservedAnswer(_Model):
    """What stands in the ledger now."""

    action: str
    status: Literal["observed", "not_started", "in_doubt"]
    evidence: dict[str, Any] | None = Field(None, description="The label of an observed result.")
    score: dict[str, Any] | None = Field(None, description="How the prediction compares with it.")


class Problem(_Model):
    """Why a request was not answered. A call that was not decided on must not be executed."""

    error: str
    ok: Literal[False] | None = Field(None, description="Said of requests that were refused before they were read.")


_MODELS: Final = (Decide, Decided, Observe, ObservedAnswer, Problem)


def document(server: str) -> dict[str, Json]:
    """The OpenAPI 3.1 document of the API."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in _MODELS], ref_template="#/components/schemas/{model}"
    )
    approval: dict[str, Json] = {
        "type": "object",
        "description": "An approval as the ledger has it.",
        "properties": {
            "id": {"type": "string"},
            "state": {"enum": ["pending", "approved", "rejected", "edited", "expired", "stale", "used"]},
            "tool": {"type": "string"},
            "digest": {"type": "string"},
        },
        "required": ["id", "state", "tool", "digest"],
    }
    one = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"Guard of {server}",
            "version": version("envace-sdk"),
            "description": "Ask before each tool call, and say afterwards what came of it.",
        },
        "security": [{"bearer": []}],
        "paths": {
            "/v1/decide": {
                "post": _operation("decide", "Judge a call, and take the right to execute it.", Decide, Decided)
            },
            "/v1/observe": {"post": _operation("observe", "Say what came of a call.", Observe, ObservedAnswer)},
            "/v1/approvals/{id}": {
                "parameters": [one],
                "get": {
                    "operationId": "approval",
                    "summary": "Where an approval stands.",
                    "responses": {
                        "200": _json({"$ref": "#/components/schemas/Approval"}, "As it is now."),
                        **_problems(),
                    },
                },
            },
        },
        "components": {
            "schemas": {**definitions["$defs"], "Approval": approval},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(name: str, summary: str, takes: type[_Model], gives: type[_Model]) -> dict[str, Json]:
    return {
        "operationId": name,
        "summary": summary,
        "requestBody": {"required": True, **_json(_ref(takes))},
        "responses": {"200": _json(_ref(gives), gives.__doc__ or ""), **_problems()},
    }


def _problems() -> dict[str, Json]:
    said = {
        "400": "The request is wrong.",
        "401": "There is no valid bearer token.",
        "404": "There is no such permit or approval.",
        "413": "The request is too large.",
        "503": "The guard or its ledger failed: do not execute the call.",
    }
    return {status: _json(_ref(Problem), why) for status, why in said.items()}


def _json(schema: dict[str, Json], description: str | None = None) -> dict[str, Json]:
    content: dict[str, Json] = {"content": {"application/json": {"schema": schema}}}
    return content if description is None else {"description": description, **content}


def _ref(model: type[_Model]) -> dict[str, Json]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
