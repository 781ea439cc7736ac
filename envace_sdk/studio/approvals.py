"""The queue of approvals: what waits for a person, why, and the person's answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from envace_sdk.errors import ApprovalError, EvidenceError
from envace_sdk.json import Json, Unset
from envace_sdk.ledger import Approval, Ledger
from envace_sdk.ledger.approval import OPEN

from . import shown
from .forms import Form, change, json_object
from .predicted import Predicted
from .studio import Studio
from .timeline import run_link

__all__ = ["routes"]

_VIA: Final = "studio"
_MOST_CLOSED: Final = 50
_LONGEST_COMMENT: Final = 2_000


def routes(studio: Studio) -> list[Route]:
    """The routes of this view."""
    view = _Approvals(studio)
    return [
        Route("/approvals", view.list_),
        Route("/approvals/list", view.queue),
        change("/approvals/{id}/approve", view.approve, studio.keys),
        change("/approvals/{id}/reject", view.reject, studio.keys),
        change("/approvals/{id}/edit", view.edit, studio.keys),
        Route("/approvals/{id}/state", view.state),
        Route("/approvals/{id}", view.show),
    ]


class _Approvals:
    """The endpoints. They block, so they run in threads."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._page = studio.pages.page

    def list_(self, request: Request) -> Response:
        """The queue, as a page that keeps itself up to date."""
        return self._page(request, "approvals.html", **self._queue())

    def queue(self, request: Request) -> Response:
        """The queue alone."""
        return self._page(request, "approvals_queue.html", **self._queue())

    def show(self, request: Request) -> Response:
        """One approval, with all there is to know before one answers."""
        return self._shown(request, 200)

    def state(self, request: Request) -> Response:
        """Where an approval stands; the page is told to show it anew once that is no longer what it shows."""
        found = self._studio.ledger().approvals.get(request.path_params["id"])
        is_news = request.query_params.get("known") != _known(found)
        # No reload, which would send a form anew where the page is the answer to one.
        return Response(status_code=204, headers={"HX-Redirect": f"/approvals/{found.id}"} if is_news else None)

    def approve(self, request: Request, form: Form) -> Response:
        """Allow the action, once."""
        return self._decide(request, form, "approve")

    def reject(self, request: Request, form: Form) -> Response:
        """Forbid the action."""
        return self._decide(request, form, "reject")

    def edit(self, request: Request, form: Form) -> Response:
        """Ask for the same tool with other arguments: a new approval, which is shown."""
        typed = form.get("arguments", "")
        approvals, name = self._studio.ledger().approvals, request.path_params["id"]
        try:
            arguments = json_object(typed)
        except ValueError as error:
            return self._shown(request, 400, f"The arguments cannot be read: {error}.", typed)
        try:
            made = approvals.edit(name, arguments, by=self._studio.by, comment=_comment(form), via=_VIA)
        except (ApprovalError, EvidenceError) as error:
            return self._shown(request, 409, _sentence(error), typed)
        return RedirectResponse(f"/approvals/{made.id}", status_code=303)

    def _decide(self, request: Request, form: Form, answer: Any) -> Response:
        approvals, name = self._studio.ledger().approvals, request.path_params["id"]
        try:
            approvals.decide(name, answer, by=self._studio.by, comment=_comment(form), via=_VIA)
        except ApprovalError as error:
            return self._shown(request, 409, _sentence(error))
        return RedirectResponse(f"/approvals/{name}", status_code=303)

    def _queue(self) -> dict[str, Any]:
        ledger = self._studio.ledgers.get()
        every = [] if ledger is None else ledger.approvals.select()
        closed = [one for one in reversed(every) if one.state != "pending"]
        return {
            "place": self._studio.ledgers.place,
            "is_there": ledger is not None,
            "waiting": [one for one in every if one.state == "pending"],
            "closed": closed[:_MOST_CLOSED],
            "more": max(0, len(closed) - _MOST_CLOSED),
        }

    def _shown(self, request: Request, status: int, problem: str = "", typed: str | None = None) -> Response:
        ledger, name = self._studio.ledger(), request.path_params["id"]
        try:
            found = ledger.approvals.get(name)
        except ApprovalError as error:
            return self._page(request, "problem.html", 404, title="Not found", said=_sentence(error))
        is_open = found.state in OPEN
        return self._page(
            request,
            "approval.html",
            status,
            one=found,
            run_link=run_link(found.run),
            known=_known(found),
            erased=isinstance(found.arguments, Unset),
            changes=None if found.change is None else shown.changes(found.change),
            # An edited request still carries what was predicted of the other arguments.
            prediction=None if found.replaces else Predicted.of(_detail(found, "prediction")),
            risk_reasons=_reasons(found),
            observed_since=_observed_since(ledger, found) if is_open and found.world is not None else 0,
            typed=_editable(found.arguments) if typed is None else typed,
            problem=problem,
            others=_others(ledger.approvals.pending(), name),
        )


def _others(pending: Sequence[Approval], name: str) -> list[Approval]:
    return [one for one in pending if one.id != name]


def _known(approval: Approval) -> str:
    return f"{approval.state}.{len(approval.decisions)}"


def _observed_since(ledger: Ledger, approval: Approval) -> int:
    return sum(1 for e in ledger.entries(approval.run, kind="observed") if e.at > approval.requested_at)


def _detail(approval: Approval, name: str) -> dict[str, Any]:
    found = approval.details.get(name) if isinstance(approval.details, dict) else None
    return found if isinstance(found, dict) else {}


def _reasons(approval: Approval) -> list[str]:
    found = _detail(approval, "risk").get("reasons")
    return [str(one) for one in found] if isinstance(found, list) else []


def _editable(arguments: Json | Unset) -> str:
    """The arguments as JSON to type over; what cannot be seen stands there as an escape."""
    text = json.dumps({} if isinstance(arguments, Unset) else arguments, ensure_ascii=False, indent=2)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _comment(form: Form) -> str:
    return form.get("comment", "").strip()[:_LONGEST_COMMENT]


def _sentence(error: Exception) -> str:
    said = str(error)
    return f"{said[:1].upper()}{said[1:]}."
