"""What the fields of one object have in common: whose they are, where, and when."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, Final

from envace_sdk.json import Json

from .concepts import concept, is_person
from .names import words
from .places import COUNTRIES, Country, find_country
from .timeline import Timeline, parse_instant, stage

if TYPE_CHECKING:
    import mimesis

__all__ = ["Fakes", "Persona", "Scene"]

_DOMAINS: Final = ("example.com", "example.org", "example.net")
# An object under one of these names is a part of the one around it, not another thing.
_PARTS: Final = frozenset(
    [
        "address",
        "contact",
        "details",
        "detail",
        "info",
        "information",
        "profile",
        "name",
        "location",
        "billing",
        "shipping",
        "data",
        "attributes",
        "properties",
        "meta",
        "metadata",
        "result",
        "item",
        "payload",
        "body",
        "dates",
        "timestamps",
        "personal",
        "home",
        "work",
    ]
)
_providers = threading.local()


class Fakes:
    """Fake data of one call, drawn from its random numbers alone."""

    def __init__(self, random: Random, clock: datetime) -> None:
        self.random, self.clock = random, clock

    @cached_property
    def _source(self) -> Any:
        from mimesis.random import Random as Source

        source = Source()
        source.seed(self.random.getrandbits(64))
        return source

    def _provider(self, kind: str, locale: str) -> Any:
        """Loading a provider's data takes milliseconds, so each thread keeps what it loaded."""
        kept: dict[tuple[str, str], Any] | None = getattr(_providers, "kept", None)
        if kept is None:
            kept = _providers.kept = {}
        provider = kept.get((kind, locale))
        if provider is None:
            import mimesis
            from mimesis.locales import Locale

            made = getattr(mimesis, kind)
            provider = kept[kind, locale] = made(Locale(locale)) if locale else made()
        provider.random = self._source
        return provider

    def person(self, locale: str) -> mimesis.Person:
        """Names of people."""
        provider: mimesis.Person = self._provider("Person", locale)
        return provider

    def address(self, locale: str) -> mimesis.Address:
        """Streets and cities."""
        provider: mimesis.Address = self._provider("Address", locale)
        return provider

    def finance(self, locale: str) -> mimesis.Finance:
        """Companies."""
        provider: mimesis.Finance = self._provider("Finance", locale)
        return provider

    def text(self) -> mimesis.Text:
        """Colors and the like."""
        provider: mimesis.Text = self._provider("Text", "en")
        return provider

    def internet(self) -> mimesis.Internet:
        """User agents and media types."""
        provider: mimesis.Internet = self._provider("Internet", "")
        return provider

    def development(self) -> mimesis.Development:
        """Systems and licenses."""
        provider: mimesis.Development = self._provider("Development", "")
        return provider

    def hardware(self) -> mimesis.Hardware:
        """Devices."""
        provider: mimesis.Hardware = self._provider("Hardware", "")
        return provider


@dataclass(frozen=True, slots=True)
class Persona:
    """A person, under all the names they go by."""

    first: str
    last: str
    domain: str

    @property
    def full(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}".strip()

    @property
    def email(self) -> str:
        """An address in a domain reserved for examples."""
        return f"{'.'.join(filter(None, (_ascii(self.first), _ascii(self.last)))) or 'user'}@{self.domain}"

    @property
    def username(self) -> str:
        """First letter and last name."""
        return f"{_ascii(self.first)[:1]}{_ascii(self.last)}" or "user"


def _ascii(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return "".join(char for char in plain.lower() if char.isalnum())


class Scene:
    """One object's person, place and time, made up when first asked for and the same from then on.

    What the object already says of itself comes first: an email is made for the name that is given.
    """

    def __init__(
        self,
        fakes: Fakes,
        *,
        name: str = "",
        known: Mapping[str, Json] | None = None,
        fields: Iterable[str] = (),
        within: Scene | None = None,
    ) -> None:
        self.fakes, self.random, self.name = fakes, fakes.random, name
        self.known = {} if known is None else known
        """What it says of itself so far; it may grow while the object is made."""
        self.fields = frozenset(concept(field) for field in fields)
        self.within = within
        self._part = within is not None and bool(set(words(name)) & _PARTS)

    def inner(self, name: str, known: Mapping[str, Json] | None, fields: Iterable[str]) -> Scene:
        """The scene of an object under `name`: the same place and time, and the same person if it is a part of this."""
        return Scene(self.fakes, name=name, known=known, fields=fields, within=self)

    def other(self, name: str) -> Scene:
        """The scene of one thing of many."""
        return Scene(self.fakes, name=name)

    def said(self, about: str) -> str:
        """What the object already says about a concept, as text; "" if nothing."""
        for key, value in self.known.items():
            if isinstance(value, str) and value and concept(key) == about:
                return value
        return ""

    @property
    def is_person(self) -> bool:
        """Whether the object is a person: by its name, or by what a person alone has."""
        return (
            is_person(self.name)
            or bool(self.fields & {"first name", "last name", "occupation", "gender"})
            or ("email" in self.fields and not self.fields & {"company", "title"})
        )

    @cached_property
    def country(self) -> Country:
        """Where it all is."""
        said = self.said("country code") or self.said("country")
        found = find_country(said) if said else None
        if found is not None:
            return found
        if self.within is not None:
            return self.within.country
        return self.random.choices(COUNTRIES, [country.weight for country in COUNTRIES])[0]

    @cached_property
    def persona(self) -> Persona:
        """Whose it is."""
        first, last = self.said("first name"), self.said("last name")
        full, email = self.said("full name"), self.said("email")
        if not full and self.is_person:
            full = self.said("name")
        if full and not (first and last):
            head, _, tail = full.strip().rpartition(" ")
            first, last = first or head or tail, last or (tail if head else "")
        elif email and not (first or last):
            parts = [
                part.capitalize() for part in email.partition("@")[0].replace("_", ".").split(".") if part.isalpha()
            ]
            first, last = (parts[0] if len(parts) > 1 else ""), (parts[-1] if len(parts) > 1 else "")
        elif not (first or last) and self._part and self.within is not None:
            return self.within.persona
        if not (full and first):
            person = self.fakes.person(self.country.locale)
            first, last = first or person.first_name(), last or person.last_name()
        domain = email.rpartition("@")[2] or self.random.choice(_DOMAINS)
        return Persona(first, last, domain)

    def stranger(self) -> Persona:
        """Somebody else."""
        person = self.fakes.person(self.country.locale)
        return Persona(person.first_name(), person.last_name(), self.random.choice(_DOMAINS))

    @cached_property
    def city(self) -> str:
        """A city of the country."""
        said = self.said("city")
        if said:
            return said
        if self.within is not None and self._part and "country" not in self.known:
            return self.within.city
        return self.another_city()

    def another_city(self) -> str:
        """Some city of the country."""
        if self.country.cities:
            return self.random.choice(self.country.cities)
        return str(self.fakes.address(self.country.locale).city())

    @cached_property
    def state(self) -> str:
        """A state, province or region of the country."""
        return self.said("state") or str(self.fakes.address(self.country.locale).state())

    @cached_property
    def street(self) -> str:
        """Street and number."""
        return self.said("street") or str(self.fakes.address(self.country.locale).address())

    @cached_property
    def postal_code(self) -> str:
        """As the country writes them."""
        return self.said("postal code") or str(self.fakes.address(self.country.locale).postal_code())

    @cached_property
    def company(self) -> str:
        """An organization."""
        return self.said("company") or str(self.fakes.finance(self.country.locale).company())

    @cached_property
    def timeline(self) -> Timeline:
        """When things happened to it."""
        known = [
            (stage(words(key)), instant)
            for key, value in self.known.items()
            if (instant := parse_instant(value)) is not None
        ]
        if not known and self._part and self.within is not None:
            return self.within.timeline
        return Timeline(self.random, self.fakes.clock, known)
