"""Text for a field, by what the field is about."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from random import Random
from typing import Final

from . import phrases
from .concepts import concept, is_person
from .names import singular, words
from .scene import Scene
from .timeline import render, stage

__all__ = ["hex_text", "text_for", "uuid_text"]

_BASE36: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_CODE: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_COMPANIES: Final = frozenset({"company", "organization", "organisation", "vendor", "supplier", "merchant", "employer",
                               "manufacturer", "brand", "business", "publisher", "carrier", "bank"})  # fmt: skip
_PLACES: Final = frozenset({"city", "place", "location", "destination", "origin", "venue", "town"})


def letters(random: Random, alphabet: str, count: int) -> str:
    """Random characters of an alphabet."""
    return "".join(random.choices(alphabet, k=count))


def hex_text(random: Random, count: int) -> str:
    """Random hexadecimal digits."""
    return f"{random.getrandbits(4 * count):0{count}x}"


def uuid_text(random: Random) -> str:
    """A random UUID (version 4)."""
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def text_for(scene: Scene, name: str) -> str | None:
    """A text that fits the name of its field; None if the name says nothing."""
    about = concept(name)
    make = _MAKERS.get(about)
    return None if make is None else make(scene, name)


def _noun(scene: Scene, name: str, skip: int = 1) -> str:
    """What the field identifies: `order_id` an order, `id` in `orders` an order too."""
    parts = words(name)[:-skip] or words(scene.name)
    return singular(parts[-1]) if parts else ""


def _id(scene: Scene, name: str) -> str:
    noun = _noun(scene, name)
    return f"{noun[:3]}_{letters(scene.random, _BASE36, 8)}" if noun else letters(scene.random, _BASE36, 10)


def _number(scene: Scene, name: str) -> str:
    noun = _noun(scene, name)
    digits = letters(scene.random, "123456789", 1) + letters(scene.random, "0123456789", 5)
    return f"{noun[:3].upper()}-{digits}" if noun else digits


def _name(scene: Scene, name: str) -> str:
    about = words(name)[:-1] or words(scene.name)
    noun = singular(about[-1]) if about else ""
    if (noun and is_person(noun)) or (len(words(name)) == 1 and scene.is_person):
        return scene.persona.full
    if noun in _COMPANIES:
        return scene.company
    if noun in _PLACES:
        return scene.city
    if noun in {"file", "attachment", "document"}:
        return _file(scene, name)
    if noun in {"country", "nation"}:
        return scene.country.name
    return phrases.label(scene.random)


def _person(scene: Scene, name: str) -> str:
    return scene.stranger().full if len(words(name)) > 1 or not scene.is_person else scene.persona.full


def _state(scene: Scene, name: str) -> str:
    """`state` is a place beside a city, and a stage of work elsewhere."""
    placed = scene.fields & {"city", "postal code", "country", "street"}
    return scene.state if words(name)[-1:] == ("state",) and placed else _choice(*_STATUSES)(scene, name)


def _file(scene: Scene, name: str) -> str:
    return f"{phrases.label(scene.random).lower().replace(' ', '-')}.{scene.random.choice(('pdf', 'csv', 'txt', 'png', 'docx'))}"


def _slug(scene: Scene, name: str) -> str:
    return phrases.label(scene.random).lower().replace(" ", "-")


def _host(scene: Scene) -> str:
    return f"{phrases.word(scene.random)}.example.{scene.random.choice(('com', 'org', 'net'))}"


def _url(scene: Scene, name: str) -> str:
    return f"https://{_host(scene)}/{_slug(scene, name)}"


def _image(scene: Scene, name: str) -> str:
    return f"https://{_host(scene)}/images/{hex_text(scene.random, 8)}.png"


def _ip(scene: Scene, name: str) -> str:
    # 203.0.113.0/24, 198.51.100.0/24 and 192.0.2.0/24 are reserved for documentation.
    return f"{scene.random.choice(('203.0.113', '198.51.100', '192.0.2'))}.{scene.random.randint(1, 254)}"


def _ipv6(scene: Scene, name: str) -> str:
    return f"2001:db8::{hex_text(scene.random, 4)}:{scene.random.randint(1, 9)}".replace("::0", "::1")


def _mac(scene: Scene, name: str) -> str:
    return "00:00:5e:00:53:" + hex_text(scene.random, 2)


def _phone(scene: Scene, name: str) -> str:
    digits = (str(scene.random.randint(0 if before.isdigit() else 2, 9)) for before in " " + scene.country.phone)
    return "".join(digit if char == "#" else char for char, digit in zip(scene.country.phone, digits, strict=False))


def _sku(scene: Scene, name: str) -> str:
    return f"{letters(scene.random, _CODE[:24], 3)}-{scene.random.randint(1000, 9999)}"


def _barcode(scene: Scene, name: str) -> str:
    digits = [scene.random.randint(0, 9) for _ in range(12)]
    check = -sum(digit * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10
    return "".join(map(str, [*digits, check]))


def _full_address(scene: Scene, name: str) -> str:
    return f"{scene.street}, {scene.city}, {scene.postal_code}, {scene.country.name}"


def _instant(form: str) -> Callable[[Scene, str], str]:
    def make(scene: Scene, name: str) -> str:
        return render(scene.timeline.instant(stage(words(name))), form)

    return make


def _choice(*options: str) -> Callable[[Scene, str], str]:
    return lambda scene, name: scene.random.choice(options)


_STATUSES: Final = ("active", "pending", "completed", "open", "in_progress")


def _money(scene: Scene, name: str) -> str:
    return f"{scene.random.randint(500, 50000) / 100:.2f}"


_MAKERS: Final[dict[str, Callable[[Scene, str], str]]] = {
    "first name": lambda scene, name: scene.persona.first,
    "last name": lambda scene, name: scene.persona.last,
    "full name": lambda scene, name: scene.persona.full,
    "username": lambda scene, name: scene.persona.username,
    "email": lambda scene, name: scene.persona.email,
    "phone": _phone,
    "occupation": lambda scene, name: str(scene.fakes.person("en").occupation()),
    "person": _person,
    "nationality": lambda scene, name: str(scene.fakes.person("en").nationality()),
    "gender": _choice("female", "male"),
    "city": lambda scene, name: scene.city,
    "state": lambda scene, name: scene.state,
    "country": lambda scene, name: scene.country.name,
    "country code": lambda scene, name: scene.country.alpha2,
    "postal code": lambda scene, name: scene.postal_code,
    "street": lambda scene, name: scene.street,
    "address 2": lambda scene, name: f"Apt {scene.random.randint(1, 40)}",
    "address": _full_address,
    "location": lambda scene, name: f"{scene.city}, {scene.country.name}",
    "timezone": lambda scene, name: scene.country.timezone,
    "language": lambda scene, name: scene.country.language,
    "company": lambda scene, name: scene.company,
    "brand": lambda scene, name: phrases.word(scene.random).capitalize(),
    "department": _choice("Engineering", "Sales", "Support", "Finance", "Operations", "Marketing", "Legal"),
    "url": _url,
    "image url": _image,
    "domain": lambda scene, name: _host(scene),
    "ip": _ip,
    "ipv6": _ipv6,
    "mac": _mac,
    "user agent": lambda scene, name: str(scene.fakes.internet().user_agent()),
    "slug": _slug,
    "mime": _choice("application/json", "text/plain", "application/pdf", "image/png", "text/csv"),
    "uuid": lambda scene, name: uuid_text(scene.random),
    "id": _id,
    "number": _number,
    "code": lambda scene, name: letters(scene.random, _CODE, 6),
    "sku": _sku,
    "barcode": _barcode,
    "token": lambda scene, name: hex_text(scene.random, 32),
    "hash": lambda scene, name: hex_text(scene.random, 64),
    "commit": lambda scene, name: hex_text(scene.random, 40),
    "md5": lambda scene, name: hex_text(scene.random, 32),
    "title": lambda scene, name: phrases.title(scene.random),
    "text": lambda scene, name: phrases.sentences(scene.random, 2),
    "sentence": lambda scene, name: phrases.sentence(scene.random),
    "label": lambda scene, name: phrases.label(scene.random),
    "tag": lambda scene, name: scene.random.choice(phrases.TAGS),
    "category": _choice("general", "standard", "premium", "basic", "other"),
    "status": _state,
    "priority": _choice("low", "medium", "high"),
    "type": _choice("standard", "custom", "default"),
    "name": _name,
    "currency": lambda scene, name: scene.country.currency,
    "color": _choice("red", "blue", "green", "black", "white", "gray", "orange", "purple"),
    "hex color": lambda scene, name: "#" + hex_text(scene.random, 6),
    "unit": _choice("pcs", "kg", "m", "l", "h"),
    "environment": _choice("production", "staging", "development"),
    "version": lambda scene, name: ".".join(str(scene.random.randint(0, top)) for top in (4, 12, 20)),
    "platform": lambda scene, name: str(scene.fakes.development().os()),
    "browser": _choice("Firefox", "Chrome", "Safari", "Edge"),
    "device": lambda scene, name: str(scene.fakes.hardware().phone_model()),
    "method": _choice("GET", "POST", "PUT", "DELETE"),
    "file name": _file,
    "path": lambda scene, name: f"/{phrases.word(scene.random)}/{phrases.word(scene.random)}/{_file(scene, name)}",
    "route": lambda scene, name: f"/{phrases.word(scene.random)}/{phrases.word(scene.random)}",
    "branch": lambda scene, name: f"feature/{phrases.word(scene.random)}-{phrases.word(scene.random)}",
    "extension": _choice("pdf", "csv", "txt", "png"),
    "duration": lambda scene, name: f"{scene.random.randint(2, 90)}m",
    "frequency": _choice("daily", "weekly", "monthly"),
    "payment method": _choice("credit_card", "bank_transfer", "paypal"),
    "card": lambda scene, name: "4242 4242 4242 4242",
    "last four": lambda scene, name: f"{scene.random.randint(0, 9999):04}",
    "iban": lambda scene, name: f"DE{scene.random.randint(10, 98)}5001051754{scene.random.randint(10**7, 10**8 - 1)}",
    "weekday": _choice("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month name": _choice("January", "March", "May", "July", "September", "November"),
    "license": _choice("MIT", "Apache-2.0", "BSD-3-Clause", "GPL-3.0"),
    "role": _choice("admin", "editor", "viewer", "member"),
    "industry": _choice("Manufacturing", "Retail", "Education", "Logistics", "Healthcare"),
    "code text": lambda scene, name: f"{phrases.word(scene.random)} = {scene.random.randint(1, 100)}",
    "log": lambda scene, name: (
        f"{render(scene.timeline.instant(6), 'date-time')} INFO {phrases.sentence(scene.random)}"
    ),
    "date": _instant("date"),
    "instant": _instant("date-time"),
    "time": lambda scene, name: render(scene.timeline.instant(stage(words(name))), "time")[:5],
}


def text_of_number(scene: Scene, quantity: str) -> str | None:
    """A number written as text, for the fields that do so."""
    if quantity == "money":
        return _money(scene, "")
    if quantity in {"count", "page", "offset", "age", "rating", "limit", "bedrooms"}:
        return str(scene.random.randint(1, 40))
    if quantity in {"percent", "rate"}:
        return f"{scene.random.randint(1, 99)}%"
    if quantity == "year":
        return str(scene.fakes.clock.year - scene.random.randint(0, 8))
    return None
