"""What a field is about, by its name: general vocabulary, never that of one domain."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from .names import singular, words

__all__ = ["concept", "is_off", "is_person", "quantity"]

# The concept, and the names it goes by: as last words of a field's name, longest first.
_TEXTS: Final = {
    "first name": "first name, given name, forename, fname, firstname, givenname",
    "last name": "last name, surname, family name, lname, lastname, familyname",
    "full name": "full name, display name, real name, contact name, customer name, user name full, legal name, fullname, "
    "displayname, author name, owner name, recipient name, sender name, guest name, passenger name, employee name, "
    "cardholder name, account holder",
    "username": "username, user name, login name, login, handle, nickname, screen name, alias",
    "email": "email, mail, email address, mail address, e mail, emailaddress, cc, bcc, reply to",
    "phone": "phone, telephone, mobile, phone number, cell, fax, tel, msisdn, phonenumber, mobile number, contact number",
    "occupation": "job title, occupation, profession, position title, jobtitle",
    "person": "author, assignee, owner, reporter, reviewer, customer, user, creator, manager, recipient, sender, "
    "created by, updated by, assigned to, modified by, approved by, requested by, submitted by, employee, "
    "person, contact, member, attendee, participant, guest, passenger, patient, client, buyer, seller, lead",
    "nationality": "nationality, citizenship",
    "gender": "gender, sex",
    "city": "city, town, municipality, locality",
    "state": "province, region, county, state code, state name, address state",
    "country": "country, country name, nation",
    "country code": "country code, country iso, countrycode, country code alpha2",
    "postal code": "zip, zip code, postal code, postcode, zipcode, post code, postalcode",
    "street": "street, street address, address line 1, address 1, line 1, address line, street name, address1, line1, streetaddress",
    "address 2": "address line 2, address 2, line 2, apartment, apt, suite, unit number, address2, line2",
    "address": "address, full address, mailing address, shipping address, billing address, home address",
    "location": "location, place, venue, destination, origin, site, neighborhood, neighbourhood, district",
    "timezone": "timezone, time zone, tz",
    "language": "language, lang, locale, language code",
    "company": "company, organization, organisation, employer, vendor, supplier, manufacturer, merchant, publisher, "
    "company name, organization name, business name, vendor name, supplier name, merchant name, org, business, carrier, bank, issuer",
    "brand": "brand, make, brand name",
    "department": "department, team, division, team name, department name, squad",
    "url": "url, uri, link, href, website, homepage, webpage, web site, site url, permalink, callback, webhook, repo url",
    "image url": "avatar, image, photo, picture, thumbnail, icon, logo, avatar url, image url, photo url, thumbnail url, "
    "picture url, icon url, logo url, cover, banner",
    "domain": "domain, hostname, host, domain name, server, fqdn",
    "ip": "ip, ip address, ipv4, ip v4, ipaddress, client ip, remote addr",
    "ipv6": "ipv6, ip v6, ipv6 address",
    "mac": "mac, mac address, macaddress",
    "user agent": "user agent, useragent",
    "slug": "slug, permalink slug, url slug",
    "mime": "mime, mime type, content type, media type, mimetype, contenttype",
    "uuid": "uuid, guid, correlation id, trace id, request id, session id, idempotency key",
    "id": "id, identifier, key, ref, reference, uid, oid",
    "number": "number, no, num, serial, serial number, case number, tracking number, order number, account number, invoice number",
    "code": "code, pin, voucher, coupon, coupon code, promo code, promocode, otp, confirmation code, discount code",
    "sku": "sku, product code, item code, part number, article number, mpn",
    "barcode": "barcode, ean, upc, gtin, isbn",
    "token": "token, access token, refresh token, api key, secret, apikey, password, cursor, page token, next page token, "
    "next cursor, continuation token, nonce, signature",
    "hash": "hash, checksum, digest, sha256, fingerprint, etag",
    "commit": "sha, sha1, commit, commit sha, commit id, revision, commit hash",
    "md5": "md5",
    "title": "title, subject, headline, heading, caption, goal, task",
    "text": "description, desc, details, detail, body, content, text, bio, about, abstract, overview, instructions, message body, "
    "answer, explanation, article, html, markdown",
    "sentence": "summary, comment, message, note, reason, question, feedback, remark, snippet, notes, comments, "
    "justification, excerpt, reply, prompt, error message, msg, tagline, review",
    "label": "label, display label, display title, product name, item name, product, item, project, project name, event, "
    "event name, campaign, program, plan name, document, resource name, service name, feature",
    "tag": "tag, keyword, topic, genre, label name",
    "category": "category, group, section, segment, class, classification, kind, category name",
    "status": "status, status name, state, stage, phase, lifecycle",
    "priority": "priority, severity, urgency, importance, impact, risk level, level",
    "type": "type",
    "name": "name",
    "currency": "currency, currency code, ccy",
    "color": "color, colour",
    "hex color": "hex color, color code, hex, hex code, color hex",
    "unit": "unit, uom, unit of measure, units",
    "environment": "environment, env, deployment environment",
    "version": "version, release, api version, semver, app version",
    "platform": "os, platform, operating system",
    "browser": "browser",
    "device": "device, device name, model, model name",
    "method": "method, http method, verb",
    "file name": "file, filename, file name, attachment",
    "path": "path, file path, filepath, directory, folder, dir, dirname, directory path",
    "route": "endpoint, route",
    "branch": "branch, ref name, branch name, head, base",
    "extension": "extension, file extension, ext",
    "duration": "duration, elapsed, uptime, interval, ttl, timeout",
    "frequency": "frequency, recurrence, cadence, periodicity",
    "payment method": "payment method, payment type, paymentmethod",
    "card": "card number, credit card",
    "last four": "last4, last four, last 4",
    "iban": "iban",
    "weekday": "day of week, weekday",
    "month name": "month name",
    "license": "license, licence, license name",
    "role": "role, permission, access level, scope",
    "industry": "industry, sector, vertical",
    "code text": "code snippet, source code, snippet code, query, sql, expression, script",
    "log": "log, logs, output, stdout, stderr",
    "date": "date, day, on, dob, birthday, birthdate, birth date",
    "instant": "at, datetime, date time, timestamp, ts, time stamp, created, updated, modified, deadline, eta, expires, expiry, "
    "expiration, since, until, start time, end time",
    "time": "time, time of day",
}  # fmt: skip

_NUMBERS: Final = {
    "money": "price, amount, total, cost, balance, fee, tax, subtotal, revenue, salary, budget, payment, discount, refund, "
    "value, income, spend, charge, deposit, premium, paid, due, rate amount, credit, debit, limit amount, msrp, wage",
    "count": "count, quantity, qty, num, stock, total count, items, views, likes, stars, followers, clicks, downloads, "
    "comments count, in stock, available, capacity, seats, attempts, retries, occurrences, hits, votes, copies, inventory",
    "page": "page, page number, page index",
    "limit": "limit, page size, per page, max results, top, take, batch size, pagesize",
    "offset": "offset, skip, index, position, rank, order, sequence, seq, idx, sort order, line, row, column, level, depth",
    "percent": "percent, percentage, pct, progress, completion, utilization, humidity, battery, discount percent",
    "share": "probability, score, confidence, ratio, similarity, accuracy, fraction, weight factor, relevance",
    "rate": "rate, tax rate, interest rate, exchange rate, conversion rate",
    "rating": "rating, stars rating, avg rating, average rating",
    "age": "age",
    "year": "year, model year, release year",
    "month": "month",
    "day": "day, day of month",
    "weekday": "day of week",
    "hour": "hour, hours",
    "minutes": "minute, minutes, mins",
    "seconds": "second, seconds, secs, ttl, timeout, expires in, interval",
    "milliseconds": "ms, milliseconds, millis, latency, duration ms, response time, elapsed",
    "duration": "duration",
    "latitude": "lat, latitude",
    "longitude": "lon, lng, long, longitude",
    "altitude": "altitude, elevation",
    "port": "port",
    "weight": "weight, mass",
    "size": "height, width, length, depth, radius, diameter, distance",
    "temperature": "temperature, temp",
    "bytes": "bytes, size, file size, content length, filesize, memory, size bytes",
    "id": "id, identifier, number, no, pid, uid, key",
    "http status": "status code, http status, response code, code",
    "version": "version, revision",
    "postal code": "zip, zip code, postal code",
    "instant": "at, timestamp, ts, created, updated, modified, time, date, epoch, expires, exp, iat, since, until",
    "priority": "priority, severity",
    "speed": "speed, velocity",
    "bedrooms": "bedrooms, bathrooms, rooms, guests, adults, children, floors, nights, passengers",
}  # fmt: skip

_FLAGS_OFF: Final = frozenset(
    [
        "deleted",
        "archived",
        "locked",
        "error",
        "errors",
        "failed",
        "disabled",
        "banned",
        "blocked",
        "expired",
        "cancelled",
        "canceled",
        "closed",
        "hidden",
        "private",
        "draft",
        "readonly",
        "overdue",
        "spam",
        "truncated",
        "more",
        "incomplete",
        "deprecated",
        "muted",
        "fork",
        "dry",
        "dryrun",
        "duplicate",
        "refunded",
        "suspended",
        "flagged",
        "test",
        "force",
        "void",
    ]
)

_PEOPLE: Final = frozenset(
    [
        "user",
        "customer",
        "author",
        "owner",
        "assignee",
        "reporter",
        "reviewer",
        "creator",
        "manager",
        "contact",
        "employee",
        "person",
        "member",
        "attendee",
        "participant",
        "guest",
        "passenger",
        "patient",
        "client",
        "buyer",
        "seller",
        "recipient",
        "sender",
        "profile",
        "driver",
        "student",
        "teacher",
        "agent",
        "staff",
        "candidate",
        "applicant",
        "subscriber",
        "player",
        "artist",
        "doctor",
        "tenant",
        "traveler",
        "traveller",
        "host",
        "beneficiary",
        "holder",
        "friend",
        "follower",
        "lead",
        "admin",
        "operator",
        "signer",
        "parent",
        "child",
        "people",
        "sponsor",
        "speaker",
    ]
)


def _table(source: dict[str, str]) -> dict[tuple[str, ...], str]:
    return {words(name): concept for concept, names in source.items() for name in names.split(", ")}


_TEXT_NAMES: Final = _table(_TEXTS)
_NUMBER_NAMES: Final = _table(_NUMBERS)


@lru_cache(maxsize=4096)
def concept(name: str) -> str:
    """What a text field of that name holds; "" if its name does not tell."""
    return _find(words(name), _TEXT_NAMES)


@lru_cache(maxsize=4096)
def quantity(name: str) -> str:
    """What a number field of that name counts or measures; "" if its name does not tell."""
    found = _find(words(name), _NUMBER_NAMES)
    if not found and words(name)[:1] in (("num",), ("total",), ("n",), ("count",)):
        return "count"
    return found


def _find(parts: tuple[str, ...], names: dict[tuple[str, ...], str]) -> str:
    for length in range(min(3, len(parts)), 0, -1):
        tail = parts[-length:]
        found = names.get(tail) or names.get((*tail[:-1], singular(tail[-1])))
        if found:
            return found
    return ""


def is_off(name: str) -> bool:
    """Whether a flag of that name is usually not set."""
    return bool(_FLAGS_OFF & set(words(name)))


@lru_cache(maxsize=1024)
def is_person(name: str) -> bool:
    """Whether an object of that name is a person."""
    parts = words(name)
    return bool(parts) and (parts[-1] in _PEOPLE or singular(parts[-1]) in _PEOPLE)
