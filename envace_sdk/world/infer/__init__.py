"""Dynamics from definitions alone: what tools do, inferred from their names, descriptions, arguments and siblings.

General CRUD verbs, id-like names and JSON types are all it goes by; it knows no domain. The steps: `names` and
`reading` take each tool apart; `groups` and `merging` find which tools are about the same thing; `keys` and `fields`
find how such things are told apart and what is known of them; `effects` decides what each tool does; the other
modules write the rules.
"""

from __future__ import annotations

from .inference import infer

__all__ = ["infer"]
