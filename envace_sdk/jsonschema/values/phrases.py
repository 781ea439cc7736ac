"""Short English texts about work in general: for titles, messages and descriptions."""

from __future__ import annotations

from random import Random
from typing import Final

__all__ = ["KEYS", "TAGS", "goods", "label", "sentence", "sentences", "title", "word"]

_VERBS: Final = ("Review", "Update", "Prepare", "Check", "Plan", "Confirm", "Schedule", "Draft", "Improve", "Replace",
                 "Clean up", "Document", "Follow up on", "Organize", "Finalize", "Investigate")  # fmt: skip
_ADJECTIVES: Final = ("quarterly", "final", "shared", "weekly", "internal", "current", "regional", "annual", "initial",
                      "revised", "monthly", "detailed", "preliminary", "combined", "standard", "priority")  # fmt: skip
_NOUNS: Final = ("report", "proposal", "checklist", "summary", "budget", "schedule", "meeting notes", "inventory",
                 "onboarding guide", "agreement", "presentation", "survey", "timeline", "handbook", "forecast",
                 "request", "backlog", "roadmap", "overview", "audit")  # fmt: skip
_CLAUSES: Final = (
    "The {adjective} {noun} is ready for review.",
    "Please check the {adjective} {noun} before the end of the week.",
    "We discussed the {noun} and agreed on the next steps.",
    "The team asked for changes to the {adjective} {noun}.",
    "Everything needed for the {noun} has been collected.",
    "The {noun} will be shared with everyone once it is approved.",
    "A few details of the {adjective} {noun} still need to be confirmed.",
    "Thanks for the quick response about the {noun}.",
    "The previous version of the {noun} is kept for reference.",
    "No further action is required on the {adjective} {noun}.",
)
TAGS: Final = ("important", "draft", "internal", "review", "archive", "new", "urgent", "shared", "pending", "featured",
               "personal", "team", "follow-up", "reference", "seasonal", "standard")  # fmt: skip
KEYS: Final = ("source", "channel", "region", "group", "note", "label", "origin", "owner", "stage", "batch", "level",
               "team", "topic", "scope", "batch_id", "origin_ref")  # fmt: skip
_WORDS: Final = ("amber", "harbor", "meadow", "summit", "river", "cedar", "beacon", "lantern", "orchard", "granite",
                 "willow", "compass", "horizon", "maple", "copper", "falcon", "prairie", "coral", "juniper",
                 "anchor", "breeze", "canyon", "delta", "ember")  # fmt: skip


_GOODS: Final = ("Desk Lamp", "Water Bottle", "Backpack", "Notebook", "Wireless Mouse", "Office Chair", "Coffee Mug",
                 "Travel Adapter", "Umbrella", "Wall Clock", "Phone Stand", "Rain Jacket", "Tool Box", "Picture Frame",
                 "Bluetooth Speaker", "Storage Basket")  # fmt: skip


def goods(random: Random) -> str:
    """What can be bought: "Compact Desk Lamp"."""
    return (
        f"{random.choice(('Compact', 'Classic', 'Large', 'Foldable', 'Everyday', 'Premium'))} {random.choice(_GOODS)}"
    )


def word(random: Random) -> str:
    """One plain word."""
    return random.choice(_WORDS)


def label(random: Random) -> str:
    """Two or three words, as a thing is called: "Quarterly budget"."""
    return f"{random.choice(_ADJECTIVES)} {random.choice(_NOUNS)}".capitalize()


def title(random: Random) -> str:
    """What is to be done: "Review the quarterly budget"."""
    return f"{random.choice(_VERBS)} the {random.choice(_ADJECTIVES)} {random.choice(_NOUNS)}"


def sentence(random: Random) -> str:
    """One sentence."""
    clause = random.choice(_CLAUSES)
    return clause.format(adjective=random.choice(_ADJECTIVES), noun=random.choice(_NOUNS))


def sentences(random: Random, count: int) -> str:
    """A short paragraph, no sentence of which opens like another."""
    picked = random.sample(_CLAUSES, min(count, len(_CLAUSES)))
    return " ".join(
        clause.format(adjective=random.choice(_ADJECTIVES), noun=random.choice(_NOUNS)) for clause in picked
    )
