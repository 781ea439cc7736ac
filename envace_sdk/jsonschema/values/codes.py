"""Identifiers, codes and addresses on the net. None of them is anybody's: ranges reserved for examples are used."""

from __future__ import annotations

import uuid
from random import Random
from typing import Final

from . import phrases
from .field import Field

__all__ = ["CODES", "file_name", "hex_text", "host", "slug", "uuid_text"]

_BASE36: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_CODE: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_DIGITS: Final = "0123456789"
_DOCUMENTATION: Final = ("203.0.113", "198.51.100", "192.0.2")


def _some(random: Random, alphabet: str, count: int) -> str:
    return "".join(random.choices(alphabet, k=count))


def hex_text(random: Random, count: int) -> str:
    """Random hexadecimal digits."""
    return f"{random.getrandbits(4 * count):0{count}x}"


def uuid_text(random: Random) -> str:
    """A random UUID (version 4)."""
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def slug(random: Random) -> str:
    """`quarterly-budget`."""
    return phrases.label(random).lower().replace(" ", "-")


def host(random: Random) -> str:
    """A host name in a domain reserved for examples."""
    return f"{phrases.word(random)}.example.{random.choice(('com', 'org', 'net'))}"


def file_name(random: Random) -> str:
    """`quarterly-budget.pdf`."""
    return f"{slug(random)}.{random.choice(('pdf', 'csv', 'txt', 'png', 'docx'))}"


def _id(field: Field) -> str:
    noun = field.noun
    return f"{noun[:3]}_{_some(field.random, _BASE36, 8)}" if noun else _some(field.random, _BASE36, 10)


def _number(field: Field) -> str:
    noun = field.noun
    digits = _some(field.random, _DIGITS[1:], 1) + _some(field.random, _DIGITS, 5)
    return f"{noun[:3].upper()}-{digits}" if noun else digits


def _barcode(field: Field) -> str:
    digits = [field.random.randint(0, 9) for _ in range(12)]
    check = -sum(digit * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10
    return "".join(map(str, [*digits, check]))


def _phone(field: Field) -> str:
    mask = field.scene.country.phone
    # No group of digits begins with 0 or 1.
    digits = (str(field.random.randint(0 if before.isdigit() or before == "#" else 2, 9)) for before in " " + mask)
    return "".join(digit if char == "#" else char for char, digit in zip(mask, digits, strict=False))


def _ipv6(field: Field) -> str:
    return f"2001:db8::{field.random.randint(1, 0xFFFF):x}:{field.random.randint(1, 9)}"


def _path(field: Field) -> str:
    return f"/{phrases.word(field.random)}/{phrases.word(field.random)}/{file_name(field.random)}"


CODES: Final = {
    "id": _id,
    "number": _number,
    "uuid": lambda field: uuid_text(field.random),
    "code": lambda field: _some(field.random, _CODE, 6),
    "sku": lambda field: f"{_some(field.random, _CODE[:24], 3)}-{field.random.randint(1000, 9999)}",
    "barcode": _barcode,
    "token": lambda field: hex_text(field.random, 32),
    "hash": lambda field: hex_text(field.random, 64),
    "commit": lambda field: hex_text(field.random, 40),
    "md5": lambda field: hex_text(field.random, 32),
    "version": lambda field: ".".join(str(field.random.randint(0, top)) for top in (4, 12, 20)),
    "card": lambda _field: "4242 4242 4242 4242",
    "last four": lambda field: _some(field.random, _DIGITS, 4),
    "iban": lambda field: f"DE{field.random.randint(10, 98)}5001051754{field.random.randint(10**7, 10**8 - 1)}",
    "phone": _phone,
    "url": lambda field: f"https://{host(field.random)}/{slug(field.random)}",
    "image url": lambda field: f"https://{host(field.random)}/images/{hex_text(field.random, 8)}.png",
    "domain": lambda field: host(field.random),
    "ip": lambda field: f"{field.random.choice(_DOCUMENTATION)}.{field.random.randint(1, 254)}",
    "ipv6": _ipv6,
    "mac": lambda field: "00:00:5e:00:53:" + hex_text(field.random, 2),
    "user agent": lambda field: str(field.scene.fakes.internet().user_agent()),
    "slug": lambda field: slug(field.random),
    "route": lambda field: f"/{phrases.word(field.random)}/{phrases.word(field.random)}",
    "path": _path,
    "file name": lambda field: file_name(field.random),
    "branch": lambda field: f"feature/{phrases.word(field.random)}-{phrases.word(field.random)}",
    "hex color": lambda field: "#" + hex_text(field.random, 6),
}
