"""Text for a field, by what the field is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from . import phrases
from .codes import CODES, file_name
from .concepts import concept, is_person
from .field import Field, Maker, one_of
from .names import words
from .numbers import number_for
from .timeline import render

__all__ = ["text_for", "text_of_number"]

_COMPANIES: Final = frozenset({"company", "organization", "organisation", "vendor", "supplier", "merchant", "employer",
                               "manufacturer", "brand", "business", "publisher", "carrier", "bank"})  # fmt: skip
_GOODS: Final = frozenset({"product", "item", "good", "article", "line", "sku"})
_PLACES: Final = frozenset({"city", "place", "location", "destination", "origin", "venue", "town"})
_PROGRAMS: Final = frozenset({"service", "app", "application", "repository", "repo", "package", "module", "cluster",
                              "node", "host", "server", "container", "database", "queue", "bucket"})  # fmt: skip
_STATUSES: Final = one_of("active", "pending", "completed", "open", "in_progress")


def text_for(field: Field) -> str | None:
    """A text that fits the name of its field; None if the name says nothing."""
    make = _MAKERS.get(concept(field.name))
    return None if make is None else make(field)


def text_of_number(field: Field) -> str | None:
    """A number as text, for the fields that hold one so; None if the name says nothing of a number."""
    number = number_for(field, whole=False)
    if number is None:
        return None
    return f"{number:.2f}" if isinstance(number, float) and not number.is_integer() else str(int(number))


def _name(field: Field) -> str:
    """The name of whatever it is that is called so."""
    noun, scene, alone = field.noun, field.scene, len(field.words) == 1
    if (noun and is_person(noun)) or (alone and scene.is_person):
        return scene.persona.full
    for nouns, made in ((_COMPANIES, "company"), (_PLACES, "city"), (frozenset({"country", "nation"}), "country")):
        if noun in nouns:
            return _MAKERS[made](field)
    if noun in {"file", "attachment", "document"}:
        return file_name(field.random)
    if noun in _GOODS:
        return phrases.goods(field.random)
    if noun in _PROGRAMS:
        return f"{phrases.word(field.random)}-{noun}"
    return phrases.label(field.random) if alone else f"{phrases.word(field.random)} {noun}".title()


def _person(field: Field) -> str:
    """Who the object is about, if the field means that; else somebody else."""
    scene = field.scene
    itself = field.words == words(scene.name) or (scene.is_person and field.words[-1] in {"user", "person", "customer"})
    return scene.persona.full if itself else scene.stranger().full


def _status(field: Field) -> str:
    """`state` is a place beside a city, and a stage of work elsewhere."""
    placed = field.scene.fields & {"city", "postal code", "country", "street"}
    return field.scene.state if field.words[-1:] == ("state",) and placed else _STATUSES(field)


def _location(field: Field) -> str:
    scene = field.scene
    return f"{scene.city if field.words[-1:] == ('location',) else scene.another_city()}, {scene.country.name}"


def _address(field: Field) -> str:
    scene = field.scene
    return f"{scene.street}, {scene.city}, {scene.postal_code}, {scene.country.name}"


def _time(field: Field) -> str:
    """Hours and minutes; but when something starts or ends, the day is told too."""
    return render(field.instant, "date-time") if len(field.words) > 1 else render(field.instant, "time")[:5]


_MAKERS: Final[Mapping[str, Maker]] = {
    **CODES,
    "first name": lambda field: field.scene.persona.first,
    "last name": lambda field: field.scene.persona.last,
    "full name": lambda field: field.scene.persona.full,
    "username": lambda field: field.scene.persona.username,
    "email": lambda field: field.scene.persona.email,
    "occupation": lambda field: str(field.scene.fakes.person("en").occupation()),
    "nationality": lambda field: str(field.scene.fakes.person("en").nationality()),
    "person": _person,
    "gender": one_of("female", "male"),
    "city": lambda field: field.scene.city,
    "state": lambda field: field.scene.state,
    "country": lambda field: field.scene.country.name,
    "country code": lambda field: field.scene.country.alpha2,
    "postal code": lambda field: field.scene.postal_code,
    "street": lambda field: field.scene.street,
    "address 2": lambda field: f"Apt {field.random.randint(1, 40)}",
    "address": _address,
    "location": _location,
    "timezone": lambda field: field.scene.country.timezone,
    "language": lambda field: field.scene.country.language,
    "currency": lambda field: field.scene.country.currency,
    "company": lambda field: field.scene.company,
    "brand": lambda field: phrases.word(field.random).capitalize(),
    "department": one_of("Engineering", "Sales", "Support", "Finance", "Operations", "Marketing", "Legal"),
    "industry": one_of("Manufacturing", "Retail", "Education", "Logistics", "Healthcare"),
    "role": one_of("admin", "editor", "viewer", "member"),
    "title": lambda field: phrases.title(field.random),
    "text": lambda field: phrases.sentences(field.random, 2),
    "sentence": lambda field: phrases.sentence(field.random),
    "label": lambda field: phrases.label(field.random),
    "product": lambda field: phrases.goods(field.random),
    "name": _name,
    "tag": one_of(*phrases.TAGS),
    "category": one_of("general", "standard", "premium", "basic", "other"),
    "status": _status,
    "priority": one_of("low", "medium", "high"),
    "type": one_of("standard", "custom", "default"),
    "color": one_of("red", "blue", "green", "black", "white", "gray", "orange", "purple"),
    "unit": one_of("pcs", "kg", "m", "l", "h"),
    "environment": one_of("production", "staging", "development"),
    "platform": lambda field: str(field.scene.fakes.development().os()),
    "browser": one_of("Firefox", "Chrome", "Safari", "Edge"),
    "device": lambda field: str(field.scene.fakes.hardware().phone_model()),
    "method": one_of("GET", "POST", "PUT", "DELETE"),
    "mime": one_of("application/json", "text/plain", "application/pdf", "image/png", "text/csv"),
    "extension": one_of("pdf", "csv", "txt", "png"),
    "license": one_of("MIT", "Apache-2.0", "BSD-3-Clause", "GPL-3.0"),
    "payment method": one_of("credit_card", "bank_transfer", "paypal"),
    "code text": lambda field: f"{phrases.word(field.random)} = {field.random.randint(1, 100)}",
    "query": lambda field: phrases.label(field.random).lower(),
    "log": lambda field: f"{render(field.instant, 'date-time')} INFO {phrases.sentence(field.random)}",
    "date": lambda field: render(field.instant, "date"),
    "instant": lambda field: render(field.instant, "date-time"),
    "time": _time,
    "duration": lambda field: f"{field.random.randint(2, 90)}m",
    "frequency": one_of("daily", "weekly", "monthly"),
    "weekday": one_of("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month name": one_of("January", "March", "May", "July", "September", "November"),
}
