"""How often predictions came true, and how close a twin comes to its recordings: per tool, down to the worst cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from envace_sdk.evaluate.report import AXES, Bin
from envace_sdk.guard.journal import SCORES
from envace_sdk.guard.report import ToolReport, guard_report
from envace_sdk.ledger import Entry, Ledger

from .examined import Examined, pair
from .forms import Form, change
from .studio import Studio
from .timeline import run_link

__all__ = ["routes"]

_MOST_CASES: Final = 50
_SHOWN: Final = ("fidelity", "right", "balanced_status", "structure", "entailed")
"""The axes that the table of tools has room for."""


def routes(studio: Studio) -> list[Route]:
    """The routes of this view."""
    view = _Fidelity(studio)
    return [
        Route("/fidelity", view.overview),
        Route("/fidelity/tool", view.tool),
        Route("/fidelity/exam", view.worst),
        change("/fidelity/hold", view.hold, studio.keys),
    ]


class _Fidelity:
    """The endpoints. They block, so they run in threads."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._page = studio.pages.page

    def overview(self, request: Request) -> Response:
        """Each tool's predictions, and the exam."""
        ledger = self._studio.ledgers.get()
        tools = () if ledger is None else guard_report(ledger).tools
        exam = self._studio.exam
        values = {
            "tools": [one for one in tools if one.record.calls],
            "exam": exam,
            "report": None if exam is None else exam.report,
            "axes": _SHOWN,
        }
        return self._page(request, "fidelity.html", **values)

    def tool(self, request: Request) -> Response:
        """One tool: confidence beside what came, and the predictions that were wrong."""
        ledger, name = self._studio.ledger(), request.query_params.get("name", "")
        found = next(iter(guard_report(ledger, tool=name).tools), None)
        if found is None or not found.record.calls:
            raise HTTPException(404, "No prediction of a tool of that name was scored.")
        wrong = [one for one in ledger.entries(SCORES + name, kind="scored") if not one.body.get("right")]
        wrong.sort(key=_confidence, reverse=True)
        values = {
            "one": found,
            "bins": _bins(found),
            "cases": [_case(ledger, entry) for entry in wrong[:_MOST_CASES]],
            "more": max(0, len(wrong) - _MOST_CASES),
        }
        return self._page(request, "fidelity_tool.html", **values)

    def hold(self, request: Request, form: Form) -> Response:  # noqa: ARG002  as all changes are called
        """Hold the exam, if that was not done yet."""
        self._exam().hold()
        return RedirectResponse("/fidelity", status_code=303)

    def worst(self, request: Request) -> Response:
        """The worst answers of the exam, of one tool or of all."""
        exam, tool = self._exam(), request.query_params.get("tool", "")
        if exam.report is None:
            return RedirectResponse("/fidelity", status_code=303)
        cases = [case for case in exam.report.worst if tool in ("", case.tool)]
        values = {
            "name": exam.name,
            "tool": tool,
            "scores": exam.report.tools.get(tool, exam.report.overall),
            "axes": AXES,
            "bins": [one for one in exam.report.calibration.bins if one.calls] if not tool else [],
            "pairs": [pair(case) for case in cases[:_MOST_CASES]],
            "more": max(0, len(cases) - _MOST_CASES),
        }
        return self._page(request, "fidelity_exam.html", **values)

    def _exam(self) -> Examined:
        if self._studio.exam is None:
            raise HTTPException(404, "The studio was started without --recordings.")
        return self._studio.exam


def _confidence(entry: Entry) -> float:
    """The surer a wrong prediction was, the worse it is."""
    found = entry.body.get("confidence")
    return float(found) if isinstance(found, int | float) else 0.0


def _bins(tool: ToolReport) -> list[Bin]:
    count = len(tool.record.bins)
    return [
        Bin(place / count, calls, total / calls, right / calls)
        for place, (calls, right, total) in enumerate(tool.record.bins)
        if calls
    ]


def _case(ledger: Ledger, entry: Entry) -> dict[str, Any]:
    payload = ledger.payload(entry)
    told = payload.get("differences") if isinstance(payload, Mapping) else None
    run = str(entry.body.get("run", ""))
    observed = None if entry.action is None else ledger.find(run, entry.action, "observed")
    # A page of turns that begins with this action's outcome, where it stands beside the rehearsal.
    link = "" if observed is None else run_link(run, observed.seq - 1)
    return {
        "body": entry.body,
        "confidence": _confidence(entry),
        "at": entry.at,
        "run": run,
        "link": link,
        "differences": [str(one) for one in told] if isinstance(told, list) else [],
    }
