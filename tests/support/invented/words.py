"""The words that invented environments are made of: some say what they mean, some say nothing."""

from __future__ import annotations

__all__ = ["FIELDS", "NOUNS", "PEOPLE", "REFUSALS", "VERBS", "WORDS"]

_WORDS = """
amber basalt cedar delta ember fjord garnet harbor indigo juniper kelp lagoon meadow nectar onyx pepper quartz raven
saffron thistle umber velvet willow yarrow zephyr
"""
WORDS = _WORDS.split()
"""For texts and titles."""

PEOPLE = ["ada", "bruno", "chen", "dalia", "egon", "farah", "goran", "hilde", "imani", "joao", "kemal", "lotte"]

NOUNS = {
    "plain": ["order", "ticket", "parcel", "permit", "sensor", "lesson", "recipe", "contract", "meeting", "invoice"],
    "odd": ["flume", "grommet", "quill", "spindle", "tarn", "wicket", "bobbin", "cairn", "dovetail", "escutcheon"],
}

VERBS: dict[str, dict[str, list[str]]] = {
    "plain": {
        "read": ["get", "fetch", "show", "read"],
        "search": ["list", "find", "search"],
        "create": ["create", "add", "register"],
        "update": ["update", "change", "edit"],
        "delete": ["delete", "remove", "discard"],
        "advance": ["approve", "start", "finish", "reopen", "ship"],
        "grow": ["increase", "top_up", "add_to"],
        "shrink": ["decrease", "take_from", "spend"],
        "append": ["add_entry_to", "attach_to", "tag"],
        "take_off": ["remove_entry_from", "detach_from", "untag"],
        "transfer": ["transfer", "move_between"],
        "total": ["count", "summarize", "total"],
        "login": ["login", "sign_in"],
        "logout": ["logout", "sign_out"],
        "select": ["select", "open", "switch_to"],
        "current": ["current", "show_current"],
        "archive": ["archive", "retire"],
        "rename": ["rename", "move"],
        "compute": ["calculate", "convert", "format"],
        "status": ["session_info", "whoami"],
    },
    "odd": {
        "read": ["peek", "unroll", "behold"],
        "search": ["sift", "comb", "muster"],
        "create": ["forge", "spawn", "lodge", "hatch"],
        "update": ["tweak", "reshape", "dab"],
        "delete": ["scrap", "banish", "melt"],
        "advance": ["nudge", "ripen", "crown", "thaw", "flip"],
        "grow": ["feed", "swell"],
        "shrink": ["drain", "nibble"],
        "append": ["pin", "stitch"],
        "take_off": ["unpin", "unstitch"],
        "transfer": ["pour", "siphon"],
        "total": ["weigh", "gauge"],
        "login": ["knock", "hello"],
        "logout": ["depart", "bye"],
        "select": ["hold", "point_at"],
        "current": ["held", "pointed"],
        "archive": ["bury", "shelve"],
        "rename": ["rechristen", "morph"],
        "compute": ["ponder", "brew", "grind"],
        "status": ["mirror", "pulse"],
    },
}

FIELDS: dict[str, list[str]] = {
    "text": ["title", "label", "note", "summary", "grain"],
    "word": ["category", "region", "colour", "brand", "weft"],
    "integer": ["quantity", "seats", "priority", "level", "rungs"],
    "number": ["price", "weight", "ratio", "score", "heft"],
    "amount": ["balance", "stock", "credit", "reserve", "brim"],
    "tally": ["visits", "changes", "uses", "turns"],
    "flag": ["active", "urgent", "public", "fragile", "waxed"],
    "list": ["tags", "members", "steps", "labels", "knots"],
    "object": ["address", "settings", "place", "frame"],
    "status": ["status", "state", "phase", "mood"],
    "key": ["id", "code", "ref", "number", "handle", "token"],
    "when": ["created_at", "made", "since"],
}

REFUSALS: dict[str, list[str]] = {
    "missing": [
        "{Noun} '{key}' not found",
        "No such {noun}: {key}",
        "E404 {key}",
        "Unknown {noun}",
        "error: {noun} {key} does not exist",
    ],
    "status": [
        "{Noun} {key} is {state}",
        "Cannot do this while the {noun} is {state}",
        "Wrong {field}: {state}",
        "Not allowed now",
    ],
    "short": [
        "Insufficient {field}: {have} available, {asked} requested",
        "Not enough {field}",
        "{Noun} {key} has only {have}",
    ],
    "positive": ["{argument} must be positive", "Invalid {argument}: {asked}", "{argument} must be greater than 0"],
    "full": ["The {noun} is full", "At most {most} {field}, {noun} {key} has them all"],
    "twice": ["'{asked}' is already in {field}", "Duplicate {asked}"],
    "absent": ["'{asked}' is not in {field}", "{Noun} {key} has no {asked}"],
    "login": ["Please log in first", "Not signed in", "401 unauthorized"],
    "credentials": ["Invalid credentials", "Wrong name or secret for {who}"],
    "unselected": ["Nothing is selected", "No current {noun}"],
    "in_use": ["{Noun} {key} is in use", "Still referred to by {many} {others}"],
    "choice": ["{argument} must be one of {choices}", "Bad {argument}: '{asked}'"],
}
"""Wordings of errors. The names in braces are filled in with expressions when a rule is made."""
