"""What entities are called."""

from __future__ import annotations

from .dynamics import CollectionRule

__all__ = ["noun_of"]

_PLURALS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))


def noun_of(name: str, rule: CollectionRule | None = None) -> str:
    """What one entity of a collection is called: the rule's noun, else the collection's name in the singular."""
    if rule is not None and rule.noun:
        return rule.noun
    words = name.replace("_", " ").replace("-", " ").strip() or "entity"
    for plural, singular in _PLURALS:
        if words.endswith(plural) and len(words) > len(plural) + 1:
            return words.removesuffix(plural) + singular
    return words[:-1] if words.endswith("s") and not words.endswith(("ss", "us", "is")) else words
