"""Arguments by which a call asks what it would do, without doing it: `dry_run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import cel
from .arguments import Argument
from .words import bag

if TYPE_CHECKING:
    from .reading import Reading
    from .scene import Scene

__all__ = ["is_trial", "tried_by"]

_TRIALS = bag(
    "dry_run dryrun is_dry_run preview preview_only validate_only validation_only simulate simulate_only simulation "
    "only_validate only_preview check_only what_if whatif noop no_op"
)


def is_trial(argument: Argument) -> bool:
    """Whether an argument, if true, says that the call shall change nothing."""
    return argument.is_flag and "_".join(argument.words) in _TRIALS


def tried_by(reading: Reading, scene: Scene) -> str | None:
    """The condition under which a call of the tool only tries; None where no argument says so."""
    found = [argument for argument in reading.arguments if is_trial(argument) and not _is_shown(argument, scene)]
    conditions = [f"default({cel.argument(a)}, {'true' if a.default is True else 'false'})" for a in found]
    return " || ".join(conditions) or None


def _is_shown(argument: Argument, scene: Scene) -> bool:
    """Whether it is a field of the thing, as an output schema has it."""
    return argument.name in scene.held and scene.shown
