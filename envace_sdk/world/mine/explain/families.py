"""The families of hypotheses, in stages: a stage is asked when those before it have found nothing to believe."""

from __future__ import annotations

from .arithmetic import arithmetic, clipped, deep_arithmetic, features
from .choices import cases, choices, nested, tables
from .concatenation import concatenation, pieces
from .copies import constants, copies, defaults
from .counting import counts
from .dates import dates
from .lists import extensions, literals, pipelines, unions, whole_lists
from .objects import changes, records, removals
from .rewriting import cuts, edits, joins, parts_between, replacements, wrapped
from .solver import Stage
from .truths import truths

__all__ = ["STAGES"]

STAGES: tuple[Stage, ...] = (
    Stage((constants, copies)),
    Stage((features, pieces, whole_lists, defaults), least=2),
    Stage(
        (
            truths,
            arithmetic,
            dates,
            cuts,
            replacements,
            concatenation,
            removals,
            changes,
            records,
            extensions,
            literals,
        ),
        least=2,
    ),
    Stage((unions, pipelines, edits, parts_between, joins, wrapped), least=3),
    Stage((tables, choices), least=4),
    Stage((counts,), least=5),
    Stage((deep_arithmetic, clipped), least=5),
    Stage((cases,), least=7),
    Stage((nested,), least=7),
)
