"""Text in a format: how it reads by itself, and as a pattern for where other constraints must hold too."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import jsonschema_rs

from . import phrases
from .concepts import concept
from .names import words
from .scene import Scene
from .texts import hex_text, text_for, uuid_text
from .timeline import render, stage

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


def format_text(scene: Scene, form: str, name: str) -> str | None:
    """A text in the format that fits the field's name as far as it goes; None if the format is not known."""
    make = _MAKERS.get(form)
    if make is None:
        return None
    fitting = text_for(scene, name) if concept(name) in _FITTING.get(form, ()) else None
    return fitting if fitting is not None and has_format(form, fitting) else make(scene, name)


_FITTING: Final = {
    "email": ("email",),
    "idn-email": ("email",),
    "uri": ("url", "image url"),
    "uri-reference": ("url", "image url", "path", "route", "slug"),
    "iri": ("url", "image url"),
    "iri-reference": ("url", "image url", "path", "route"),
    "hostname": ("domain",),
    "idn-hostname": ("domain",),
    "ipv4": ("ip",),
    "ipv6": ("ipv6",),
    "uuid": ("uuid",),
}


def _instant(form: str) -> Callable[[Scene, str], str]:
    return lambda scene, name: render(scene.timeline.instant(stage(words(name))), form)


def _via(name: str) -> Callable[[Scene, str], str]:
    return lambda scene, _name: text_for(scene, name) or ""


def _base64(scene: Scene, name: str) -> str:
    return base64.b64encode(phrases.sentence(scene.random).encode()).decode()


_MAKERS: Final[dict[str, Callable[[Scene, str], str]]] = {
    "date-time": _instant("date-time"),
    "date": _instant("date"),
    "time": _instant("time"),
    "duration": lambda scene, name: f"PT{scene.random.randint(1, 23)}H{scene.random.randint(1, 59)}M",
    "email": _via("email"),
    "idn-email": _via("email"),
    "hostname": _via("domain"),
    "idn-hostname": _via("domain"),
    "ipv4": _via("ip"),
    "ipv6": _via("ipv6"),
    "ip-address": _via("ip"),
    "host-name": _via("domain"),
    "uri": _via("url"),
    "url": _via("url"),
    "uri-reference": _via("route"),
    "iri": _via("url"),
    "iri-reference": _via("route"),
    "uri-template": lambda scene, name: f"https://{phrases.word(scene.random)}.example.com/items/{{id}}",
    "uuid": lambda scene, name: uuid_text(scene.random),
    "json-pointer": lambda scene, name: f"/{phrases.word(scene.random)}/{scene.random.randint(0, 9)}",
    "relative-json-pointer": lambda scene, name: f"{scene.random.randint(0, 3)}/{phrases.word(scene.random)}",
    "regex": lambda scene, name: f"^{phrases.word(scene.random)}[0-9]+$",
    "byte": _base64,
    "base64": _base64,
    "binary": _base64,
    "phone": _via("phone"),
    "color": lambda scene, name: "#" + hex_text(scene.random, 6),
    "password": lambda scene, name: phrases.word(scene.random).capitalize() + hex_text(scene.random, 6),
    "ulid": lambda scene, name: "01" + "".join(scene.random.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=24)),
}

_LABEL: Final = r"[a-z]([a-z0-9-]*[a-z0-9])?"
_URI: Final = rf"(https?://{_LABEL}(\.{_LABEL})+(/[A-Za-z0-9._~-]+)*/?|[a-z]+:/?[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*/?)"
FORMAT_PATTERNS: Final = {
    "date-time": r"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]+)?([Zz]|[+-](0[0-9]|1[0-2]):[0-5][0-9])$",
    "date": r"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$",
    "time": r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-](0[0-9]|1[0-2]):[0-5][0-9])$",
    "duration": r"^P([1-9][0-9]*D|([1-9][0-9]*D)?T([1-9][0-9]*H([1-9][0-9]*M)?|[1-9][0-9]*M([1-9][0-9]*S)?|[1-9][0-9]*S)|[1-9][0-9]*W)$",
    "email": rf"^[a-zA-Z0-9]([a-zA-Z0-9+_-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]+)*@{_LABEL}(\.{_LABEL})*\.[a-z][a-z]+$",
    "hostname": rf"^{_LABEL}(\.{_LABEL})*$",
    "ipv4": r"^(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}$",
    "ipv6": r"^([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$|^([0-9a-f]{1,4}:){1,3}:[0-9a-f]{1,4}$|^::[0-9a-f]{0,4}$",
    "uri": rf"^{_URI}$",
    "iri": rf"^{_URI}$",
    "uri-reference": rf"^({_URI}|/?[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)$",
    "iri-reference": rf"^({_URI}|/?[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)$",
    "uri-template": r"^[A-Za-z0-9._~/-]*(\{[a-z]+\}[A-Za-z0-9._~/-]*)*$",
    "uuid": r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$|"
    r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    "json-pointer": r"^(/[A-Za-z0-9_-]*)*$",
    "relative-json-pointer": r"^(0|[1-9][0-9]*)(/[A-Za-z0-9_-]+)*$",
    "regex": r"^[A-Za-z0-9]*$",
}
FORMAT_PATTERNS["idn-email"] = FORMAT_PATTERNS["email"]
FORMAT_PATTERNS["idn-hostname"] = FORMAT_PATTERNS["hostname"]
