"""Countries, with what goes with each: the locale that makes its names, its codes, currency, clock and telephones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["COUNTRIES", "Country", "find_country"]


@dataclass(frozen=True, slots=True)
class Country:
    """A country whose names are written in Latin letters."""

    locale: str
    name: str
    alpha2: str
    alpha3: str
    currency: str
    timezone: str
    language: str
    phone: str
    """A mask: each # is a digit. Where a range is reserved for fiction, it is that one."""
    latitudes: tuple[float, float]
    longitudes: tuple[float, float]
    weight: int = 0
    """How often a place is put there if nothing says where."""
    cities: tuple[str, ...] = ()
    """Where the locale has those of another country."""


COUNTRIES: Final = (
    Country("en", "United States", "US", "USA", "USD", "America/New_York", "en", "+1-###-555-01##",
            (31.0, 46.0), (-118.0, -77.0), 6),
    Country("en-gb", "United Kingdom", "GB", "GBR", "GBP", "Europe/London", "en", "+44 20 7946 0###",
            (51.0, 54.5), (-3.0, 0.0), 2),
    Country("en-ca", "Canada", "CA", "CAN", "CAD", "America/Toronto", "en", "+1-###-555-01##",
            (43.5, 52.0), (-120.0, -73.0), 2,
            ("Toronto", "Montreal", "Vancouver", "Calgary", "Edmonton", "Ottawa", "Winnipeg", "Quebec City", "Hamilton",
             "Kitchener", "Halifax", "Victoria", "Saskatoon", "Regina", "Kelowna", "Guelph", "Moncton", "Fredericton")),
    Country("en-au", "Australia", "AU", "AUS", "AUD", "Australia/Sydney", "en", "+61 2 5550 ####",
            (-37.0, -28.0), (142.0, 151.0), 1,
            ("Sydney", "Melbourne", "Brisbane", "Perth", "Adelaide", "Canberra", "Hobart", "Darwin", "Newcastle",
             "Geelong", "Cairns", "Toowoomba", "Ballarat", "Bendigo", "Launceston", "Townsville", "Wollongong")),
    Country("de", "Germany", "DE", "DEU", "EUR", "Europe/Berlin", "de",
            "+49 30 23125 ###", (48.0, 53.5), (7.0, 13.5)),
    Country("fr", "France", "FR", "FRA", "EUR", "Europe/Paris", "fr",
            "+33 1 99 00 ## ##", (43.5, 49.5), (0.0, 6.5)),
    Country("es", "Spain", "ES", "ESP", "EUR", "Europe/Madrid", "es",
            "+34 91# ### ###", (37.5, 42.5), (-6.0, 0.0)),
    Country("it", "Italy", "IT", "ITA", "EUR", "Europe/Rome", "it",
            "+39 06 555 ####", (41.0, 45.5), (8.0, 14.0)),
    Country("nl", "Netherlands", "NL", "NLD", "EUR", "Europe/Amsterdam", "nl",
            "+31 20 ### ####", (51.6, 53.0), (4.6, 6.6)),
    Country("nl-be", "Belgium", "BE", "BEL", "EUR", "Europe/Brussels", "nl",
            "+32 2 ### ## ##", (50.5, 51.2), (3.2, 5.5)),
    Country("de-at", "Austria", "AT", "AUT", "EUR", "Europe/Vienna", "de",
            "+43 1 ### ####", (47.0, 48.4), (13.0, 16.4)),
    Country("de-ch", "Switzerland", "CH", "CHE", "CHF", "Europe/Zurich", "de",
            "+41 44 ### ## ##", (46.3, 47.5), (6.5, 9.3)),
    Country("pt", "Portugal", "PT", "PRT", "EUR", "Europe/Lisbon", "pt",
            "+351 21 ### ####", (38.5, 41.5), (-9.0, -7.5)),
    Country("pt-br", "Brazil", "BR", "BRA", "BRL", "America/Sao_Paulo", "pt",
            "+55 11 5550 ####", (-25.0, -8.0), (-50.0, -38.0)),
    Country("es-mx", "Mexico", "MX", "MEX", "MXN", "America/Mexico_City", "es",
            "+52 55 #### ####", (17.5, 25.5), (-103.0, -97.0), 0,
            ("Ciudad de México", "Guadalajara", "Monterrey", "Puebla", "Tijuana", "León", "Querétaro", "Mérida",
             "Toluca", "Cancún", "Oaxaca", "Morelia", "Veracruz", "Chihuahua")),
    Country("sv", "Sweden", "SE", "SWE", "SEK", "Europe/Stockholm", "sv",
            "+46 8 46 500 ##", (56.0, 60.5), (12.5, 18.0)),
    Country("no", "Norway", "NO", "NOR", "NOK", "Europe/Oslo", "no",
            "+47 22 ## ## ##", (58.5, 63.0), (6.0, 11.5)),
    Country("da", "Denmark", "DK", "DNK", "DKK", "Europe/Copenhagen", "da",
            "+45 32 ## ## ##", (55.0, 57.0), (8.5, 12.5)),
    Country("fi", "Finland", "FI", "FIN", "EUR", "Europe/Helsinki", "fi",
            "+358 9 ### ####", (60.2, 63.0), (22.5, 28.0)),
    Country("pl", "Poland", "PL", "POL", "PLN", "Europe/Warsaw", "pl",
            "+48 22 ### ## ##", (50.0, 54.0), (16.0, 23.0)),
)  # fmt: skip

_ALIASES: Final = {"usa": "US", "america": "US", "unitedstatesofamerica": "US", "uk": "GB", "greatbritain": "GB",
                   "england": "GB", "deutschland": "DE", "españa": "ES", "italia": "IT", "holland": "NL",
                   "brasil": "BR", "méxico": "MX"}  # fmt: skip


@lru_cache(maxsize=512)
def find_country(text: str) -> Country | None:
    """The country of a name or code, if it is one of those above."""
    key = "".join(char for char in text.lower() if char.isalpha())
    code = _ALIASES.get(key, "")
    for country in COUNTRIES:
        if code == country.alpha2 or text.strip() in (country.alpha2, country.alpha3):
            return country
        if key in (country.name.lower().replace(" ", ""), country.alpha2.lower(), country.alpha3.lower()):
            return country
    return None
