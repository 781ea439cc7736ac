"""The families of hypotheses, in stages: a stage is asked when those before it have found nothing to believe."""

from __future__ import annotations

from .arithmetic import arithmetic, deep_arithmetic, features
from .concatenation import concatenation, pieces
from .copies import constants, copies, defaults
from .lists import extensions, literals, pipelines, unions, whole_lists
from .objects import records
from .solver import Family
from .truths import truths

__all__ = ["STAGES"]

STAGES: tuple[tuple[Family, ...], ...] = (
    (constants, copies),
    (features, pieces, whole_lists, defaults),
    (truths, arithmetic, concatenation, records, extensions, literals),
    (unions, pipelines),
    (deep_arithmetic,),
)
