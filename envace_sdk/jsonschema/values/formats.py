"""Text in a format: how it reads by itself, and as a pattern for where other constraints must hold too."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import jsonschema_rs

from . import phrases
from .codes import CODES, hex_text
from .concepts import concept
from .field import Field, Maker
from .texts import text_for
from .timeline import render

__all__ = ["FORMAT_PATTERNS", "format_text", "has_format"]


@lru_cache(maxsize=64)
def _judge(name: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True, offline=True)


def has_format(name: str, text: str) -> bool:
    """Whether a text is in a format; every text is in one that is not known."""
    try:
        return _judge(name).is_valid(text)
    except ValueError:
        return False


def format_text(field: Field, form: str) -> str | None:
    """A text in the format that fits the field's name as far as it goes; None if the format is not known."""
    make = _MAKERS.get(form)
    if make is None:
        return None
    fitting = text_for(field) if concept(field.name) in _FITTING.get(form, ()) else None
    return fitting if fitting is not None and has_format(form, fitting) else make(field)


_LINKS: Final = ("url", "image url")
_FITTING: Final = {
    "uri": _LINKS,
    "iri": _LINKS,
    "uri-reference": (*_LINKS, "path", "route", "slug"),
    "iri-reference": (*_LINKS, "path", "route"),
}


def _email(field: Field) -> str:
    return field.scene.persona.email


def _base64(field: Field) -> str:
    return base64.b64encode(phrases.sentence(field.random).encode()).decode()


_MAKERS: Final[Mapping[str, Maker]] = {
    "date-time": lambda field: render(field.instant, "date-time"),
    "date": lambda field: render(field.instant, "date"),
    "time": lambda field: render(field.instant, "time"),
    "duration": lambda field: f"PT{field.random.randint(1, 23)}H{field.random.randint(1, 59)}M",
    "email": _email,
    "idn-email": _email,
    "hostname": CODES["domain"],
    "idn-hostname": CODES["domain"],
    "host-name": CODES["domain"],
    "ipv4": CODES["ip"],
    "ip-address": CODES["ip"],
    "ipv6": CODES["ipv6"],
    "uri": CODES["url"],
    "url": CODES["url"],
    "iri": CODES["url"],
    "uri-reference": CODES["route"],
    "iri-reference": CODES["route"],
    "uri-template": lambda field: f"https://{phrases.word(field.random)}.example.com/items/{{id}}",
    "uuid": CODES["uuid"],
    "json-pointer": lambda field: f"/{phrases.word(field.random)}/{field.random.randint(0, 9)}",
    "relative-json-pointer": lambda field: f"{field.random.randint(0, 3)}/{phrases.word(field.random)}",
    "regex": lambda field: f"^{phrases.word(field.random)}[0-9]+$",
    "byte": _base64,
    "base64": _base64,
    "binary": _base64,
    "phone": CODES["phone"],
    "color": CODES["hex color"],
    "password": lambda field: phrases.word(field.random).capitalize() + hex_text(field.random, 6),
    "ulid": lambda field: "01" + "".join(field.random.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=24)),
}

_DAY: Final = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
_TIME: Final = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-](0[0-9]|1[0-2]):[0-5][0-9])"
_CLOCK: Final = r"[1-9][0-9]*H([1-9][0-9]*M)?|[1-9][0-9]*M([1-9][0-9]*S)?|[1-9][0-9]*S"
_BYTE: Final = r"(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_LABEL: Final = r"[a-z]([a-z0-9-]*[a-z0-9])?"
_SEGMENT: Final = r"[A-Za-z0-9._~-]+"
_URI: Final = rf"(https?://{_LABEL}(\.{_LABEL})+(/{_SEGMENT})*/?|[a-z]+:/?{_SEGMENT}(/{_SEGMENT})*/?)"
_REFERENCE: Final = rf"^({_URI}|/?{_SEGMENT}(/{_SEGMENT})*)$"
_EMAIL: Final = rf"^[a-zA-Z0-9]([a-zA-Z0-9+_-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]+)*@{_LABEL}(\.{_LABEL})*\.[a-z][a-z]+$"

FORMAT_PATTERNS: Final[Mapping[str, str]] = {
    "date-time": rf"^{_DAY}[Tt]{_TIME}$",
    "date": rf"^{_DAY}$",
    "time": rf"^{_TIME}$",
    "duration": rf"^P([1-9][0-9]*D|([1-9][0-9]*D)?T({_CLOCK})|[1-9][0-9]*W)$",
    "email": _EMAIL,
    "idn-email": _EMAIL,
    "hostname": rf"^{_LABEL}(\.{_LABEL})*$",
    "idn-hostname": rf"^{_LABEL}(\.{_LABEL})*$",
    "ipv4": rf"^{_BYTE}(\.{_BYTE}){{3}}$",
    "ipv6": r"^([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$|^([0-9a-f]{1,4}:){1,3}:[0-9a-f]{1,4}$|^::[0-9a-f]{0,4}$",
    "uri": f"^{_URI}$",
    "iri": f"^{_URI}$",
    "uri-reference": _REFERENCE,
    "iri-reference": _REFERENCE,
    "uri-template": r"^[A-Za-z0-9._~/-]*(\{[a-z]+\}[A-Za-z0-9._~/-]*)*$",
    "uuid": r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$|"
    r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    "json-pointer": r"^(/[A-Za-z0-9_-]*)*$",
    "relative-json-pointer": r"^(0|[1-9][0-9]*)(/[A-Za-z0-9_-]+)*$",
    "regex": r"^[A-Za-z0-9]*$",
}
"""What the common texts in a format look like: narrower than the format, never wider."""
