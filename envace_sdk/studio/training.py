"""Training runs: curves of several laid over each other, and the trajectories of a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from envace_sdk.evaluate import curves
from envace_sdk.evaluate.curves import Figure, figure

from .studio import Studio
from .trained import FIGURES, MOST_OVERLAID, TrainingRun, find_runs, points, reached

__all__ = ["routes"]


def routes(studio: Studio) -> list[Route]:
    """The routes of this view."""
    view = _Training(studio)
    return [Route("/training", view.list_), Route("/training/samples", view.samples)]


class _Training:
    """The endpoints. They block, so they run in threads."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def list_(self, request: Request) -> Response:
        """The runs, and curves of those that are chosen; of the first where none is."""
        found = find_runs(self._studio.runs)
        chosen = [name for name in request.query_params.getlist("run") if name in found] or list(found)[:1]
        chosen = list(dict.fromkeys(chosen))[:MOST_OVERLAID]
        steps = {name: found[name].steps() for name in chosen}
        rows = [
            {
                "name": name,
                "model": run.model,
                "number": chosen.index(name) if name in chosen else None,
                "is_sampled": name in chosen and bool(run.sampled_steps()),
            }
            for name, run in found.items()
        ]
        last = {name: reached(steps[name]) for name in chosen}
        values = {
            "folders": [str(folder) for folder in self._studio.runs],
            "rows": rows,
            "chosen": chosen,
            "last": last,
            "figures": _figures(steps),
            "width": curves.WIDTH,
            "height": curves.HEIGHT,
            "most": MOST_OVERLAID,
        }
        return self._studio.pages.page(request, "training.html", **values)

    def samples(self, request: Request) -> Response:
        """The trajectories that were kept of a step, by default the last."""
        run = self._run(request.query_params.get("run", ""))
        steps = run.sampled_steps()
        given = request.query_params.get("step", "")
        step = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else None
        if step not in steps:
            step = steps[-1] if steps else None
        values = {
            "run": run.name,
            "steps": steps,
            "step": step,
            "trajectories": [] if step is None else [_trajectory(one) for one in run.samples(step)],
        }
        return self._studio.pages.page(request, "samples.html", **values)

    def _run(self, name: str) -> TrainingRun:
        found = find_runs(self._studio.runs).get(name)
        if found is None:
            raise HTTPException(404, "There is no run of that name here.")
        return found


def _figures(steps: Mapping[str, list[dict[str, Any]]]) -> list[Figure]:
    made = []
    for title, (names, _) in FIGURES.items():
        lines = {}
        for number, (run, found) in enumerate(steps.items()):
            for series, name in enumerate(names):
                label = name if len(steps) == 1 else f"{run}: {name}"
                lines[number, series, label] = points(found, name)
        made.append(figure(title, lines))
    return [one for one in made if one is not None]


def _trajectory(one: Mapping[str, Any]) -> dict[str, Any]:
    """What is shown of a trajectory, whatever the file holds."""
    turns = one.get("turns")
    reward = one.get("reward")
    return {
        "task": str(one.get("task", "")),
        "source": str(one.get("source", "")),
        "ending": str(one.get("ending", "")),
        "masked": str(one.get("masked", "")),
        "answer": str(one.get("answer", "")),
        "solved": one.get("solved") is True,
        "reward": float(reward) if isinstance(reward, int | float) else None,
        "turns": [_turn(turn) for turn in turns if isinstance(turn, Mapping)] if isinstance(turns, list) else [],
    }


def _turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    truth, result = turn.get("truth"), turn.get("result")
    is_sampled = turn.get("sampled") is True
    role = str(turn.get("role", ""))
    return {
        "role": role,
        "shape": "act" if role == "act" else "rehearsed" if is_sampled or isinstance(truth, Mapping) else "observed",
        "is_sampled": is_sampled,
        "text": turn["text"] if isinstance(turn.get("text"), str) else "",
        "result": result.get("value") if isinstance(result, Mapping) else None,
        "problem": str(turn.get("problem", "")),
        "truth": truth if isinstance(truth, Mapping) and is_sampled else None,
    }
