"""The report on a run: one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

from envace_sdk.errors import EnvaceError
from envace_sdk.files import write_whole

from ..metrics import read_metrics
from .job import Job
from .plots import Points, plot

__all__ = ["document", "keep_report", "page", "write_report"]

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --dim: #8889; --bad: #d2322d33; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-size: 13px; } svg { width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: currentColor; opacity: .7; } .grid { stroke: var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; } pre { margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12.5px; }
.dim { color: var(--dim); } .bad { background: var(--bad); }
"""

_PLOTS: Final[Mapping[str, tuple[tuple[str, ...], bool]]] = {
    "Success where it is measured": (("eval/success", "eval/reward", "eval/fidelity"), False),
    "Form where it is measured": (("eval/format_act", "eval/format_rehearse"), False),
    "Reward in training": (("reward/act", "reward/rehearse"), True),
    "Success in training": (("success",), True),
    "Form in training": (("format/act", "format/rehearse"), True),
    "Rehearsals that agree with the ladder": (("agreement",), True),
    "Entropy, nats per token": (("act/entropy", "rehearse/entropy"), True),
    "Groups with something to learn from": (("learning_share",), True),
    "Gradient norm": (("grad_norm",), True),
    "How trajectories end": (("ended/answered", "ended/malformed", "ended/truncated"), True),
    "Seconds per step": (("time/rollout_seconds", "time/seconds"), True),
}
_STEPS_SHOWN: Final = 5
_LONGEST: Final = 4000


def write_report(job: Job) -> None:
    """Write `report.html` of what has been done so far."""
    warm, steps = read_metrics(job.warm_directory), read_metrics(job.directory)
    write_whole(job.directory / "report.html", page(job, warm, steps))


def keep_report(job: Job, note: Callable[[str], None]) -> None:
    """The same at a run's end; that it cannot be written is noted, and takes nothing from what the run came to."""
    try:
        write_report(job)
    except (EnvaceError, OSError) as error:
        note(f"{job.directory / 'report.html'} is not written: {error}")


def page(job: Job, warm: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]) -> str:
    """The page.

    Args:
        job: the run.
        warm: metrics of the warm-up, step by step.
        steps: metrics of training.
    """
    title = f"Training on {', '.join(one.toolset for one in job.material.sets)}"
    plots = [plot(name, _curves(steps, names), smooth=smooth) for name, (names, smooth) in _PLOTS.items()]
    plots.append(plot("Loss of the warm-up", _curves(warm, ("loss",)), smooth=True))
    return document(
        title,
        f"<p>{_summary(job, warm, steps)}</p>{_measurements(job, steps)}"
        f'<h2>Curves</h2><div class="plots">{"".join(plots)}</div>'
        f"<h2>Trajectories</h2>{''.join(_samples(job))}"
        f"<h2>Settings</h2><details><summary>All of them</summary><pre>{_settings(job)}</pre></details>",
    )


def document(title: str, body: str) -> str:
    """A page in the style of all reports, that loads nothing and runs nothing.

    Args:
        title: plain text.
        body: HTML, in which what comes from outside is escaped.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def _summary(job: Job, warm: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]) -> str:
    counts = ", ".join(f"{len(job.material.cases[split])} {split}" for split in job.material.cases)
    done = max((values["step"] for values in steps), default=0)
    seconds = sum(
        (values.get("time/seconds") or 0.0) + (values.get("time/rollout_seconds") or 0.0) for values in (*warm, *steps)
    )
    return escape(
        f"{job.config.model}; {counts} tasks; {len(warm)} warm-up updates and {done} of {job.config.steps} steps; "
        f"{seconds / 60:.1f} minutes of rollouts and updates."
    )


def _measurements(job: Job, steps: Sequence[Mapping[str, Any]]) -> str:
    measured = [values for values in steps if any(name.startswith("eval/") for name in values)]
    if not measured:
        return ""
    names = list(dict.fromkeys(name for values in measured for name in values if name.startswith("eval/")))
    head = "".join(f"<th>{escape(name.removeprefix('eval/'))}</th>" for name in names)
    rows = "".join(
        f"<tr><td>{values['step']}</td>"
        + "".join(f"<td>{'' if values.get(name) is None else format(values[name], '.3f')}</td>" for name in names)
        + "</tr>"
        for values in measured
    )
    which = (
        "Validation tasks, of templates that are not trained on"
        if job.material.cases["validation"]
        else "Training tasks, since there are no validation tasks"
    )
    return (
        f"<h2>Measured</h2><p>{which}, with responses from the environment's ladder; fidelity is the policy's own "
        "responses against it.</p>"
        f"<table><thead><tr><th>step</th>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _curves(steps: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, Points]:
    return {
        name.removeprefix("eval/").removeprefix("time/"): [
            (float(values["step"]), float(values[name])) for values in steps if values.get(name) is not None
        ]
        for name in names
    }


def _samples(job: Job) -> Iterable[str]:
    for step, trajectories in reversed(job.samples(_STEPS_SHOWN)):
        for one in trajectories:
            turns = "".join(_turn(turn) for turn in one["turns"])
            said = f"left out: {one['masked']}" if one.get("masked") else "solved" if one["solved"] else "not solved"
            yield (
                f"<details><summary>step {step}: {escape(str(one['task']))} "
                f'<span class="dim">{escape(said)}, reward {one["reward"]:.2f}, {escape(str(one["ending"]))}, '
                f"{escape(str(one.get('answered_by', one['source'])))}</span></summary>{turns}</details>"
            )


def _turn(turn: Mapping[str, Any]) -> str:
    text = turn.get("text") or json.dumps(turn.get("result"), ensure_ascii=False)
    truth = turn.get("truth")
    parts = [f"<b>{escape(turn['role'])}</b><pre>{escape(_cut(text))}</pre>"]
    if turn.get("problem"):
        parts.append(f'<pre class="bad">{escape(_cut(turn["problem"]))}</pre>')
    if truth is not None and turn.get("sampled"):
        shown = json.dumps(truth["value"], ensure_ascii=False)
        parts.append(f'<span class="dim">the ladder ({escape(truth["layer"])})</span><pre>{escape(_cut(shown))}</pre>')
    return "".join(parts)


def _settings(job: Job) -> str:
    return escape(json.dumps(job.config.model_dump(mode="json"), indent=1, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
