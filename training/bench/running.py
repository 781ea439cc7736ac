"""A benchmark, run: items in batches to the model, answers to the checker, all of it written down."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from envace_sdk.errors import TrainingError
from envace_sdk.models import ChatModel

from .asking import Answer, Asking, Item, ask
from .bfcl import Bfcl
from .report import BenchReport, CategoryReport

__all__ = ["run_bfcl"]


async def run_bfcl(
    model: ChatModel,
    asking: Asking,
    categories: Sequence[str],
    *,
    limit: int | None = None,
    seed: int = 0,
    batch: int = 32,
    folder: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda name, done, of: None,  # noqa: ARG005
) -> BenchReport:
    """Evaluate a model on categories of BFCL.

    Args:
        model: the model.
        asking: how it is asked.
        categories: their names.
        limit: items of each, drawn by the seed; None for all.
        seed: of the draw.
        batch: how many the model is asked at once.
        folder: where answers, the checker's findings and the report are written; None: nowhere.
        progress: told the category, how many of its items are answered, and of how many.

    Raises:
        TrainingError: the package is missing, a category is not there, or the folder cannot be written.
        ModelError: the model cannot be run.
    """
    bfcl = Bfcl()
    drawn = {name: bfcl.items(name, limit, seed) for name in categories}
    reports = []
    with tempfile.TemporaryDirectory() as spare:
        place = Path(spare) if folder is None else folder
        for name, items in drawn.items():
            begin = time.perf_counter()
            answers = await _answers(model, asking, items, batch, partial(progress, name))
            seconds = time.perf_counter() - begin
            if folder is not None:
                _write(folder / "answers" / f"{name}.jsonl", "".join(map(_line, answers)))
            reports.append(_scored(bfcl, name, answers, place / "score", seconds))
    report = BenchReport(
        f"bfcl-eval {bfcl.version}",
        model.name,
        asking.form.name,
        asking.style,
        asking.sampling.temperature,
        asking.sampling.max_tokens,
        limit,
        seed,
        reports,
    )
    if folder is not None:
        _write(folder / "report.json", json.dumps(report.as_json(), indent=1, ensure_ascii=False) + "\n")
    return report


async def _answers(
    model: ChatModel, asking: Asking, items: Sequence[Item], batch: int, progress: Callable[[int, int], None]
) -> list[Answer]:
    found: list[Answer] = []
    for first in range(0, len(items), batch):
        found += await ask(model, asking, items[first : first + batch])
        progress(len(found), len(items))
    return found


def _scored(bfcl: Bfcl, name: str, answers: Sequence[Answer], folder: Path, seconds: float) -> CategoryReport:
    problems = Counter(answer.problem for answer in answers)
    # No answer is a wrong answer, also where an answer without calls would be right.
    given = [answer for answer in answers if answer.problem != "failed"]
    correct, errors = 0, dict[str, int]()
    if given:
        score = bfcl.score(name, given, folder)
        correct, errors = score.correct, dict(score.errors)
    return CategoryReport(
        name,
        correct,
        len(answers),
        problems["malformed"],
        problems["cut off"],
        problems["failed"],
        errors,
        sum(answer.tokens or 0 for answer in answers),
        seconds,
    )


def _line(answer: Answer) -> str:
    calls = [{"tool": call.name, "arguments": dict(call.arguments)} for call in answer.calls]
    shown = {"id": answer.id, "text": answer.text, "calls": calls, "problem": answer.problem, "why": answer.why}
    return json.dumps({name: value for name, value in shown.items() if value}, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise TrainingError(f"{path}: cannot be written: {error.strerror or error}") from error
