"""What fields go by: general vocabulary, never that of one domain.

Each line is a concept and the names it has; a field's name ends on one of them, and the longest that fits counts.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FLAGS_OFF", "NUMBERS", "PEOPLE", "TEXTS", "UNITS"]

TEXTS: Final = """
first name: first name, given name, forename, fname, firstname, givenname
last name: last name, surname, family name, lname, lastname, familyname
full name: full name, display name, real name, contact name, customer name, user name full, legal name, fullname,
    displayname, author name, owner name, recipient name, sender name, guest name, passenger name, employee name,
    cardholder name, account holder
username: username, user name, login name, login, handle, nickname, screen name, alias
email: email, mail, email address, mail address, e mail, emailaddress, cc, bcc, reply to
phone: phone, telephone, mobile, phone number, cell, fax, tel, msisdn, phonenumber, mobile number, contact number
occupation: job title, occupation, profession, position title, jobtitle
person: author, assignee, owner, reporter, reviewer, customer, user, creator, manager, recipient, sender, created
    by, updated by, assigned to, modified by, approved by, requested by, submitted by, employee, person, contact,
    member, attendee, participant, guest, passenger, patient, client, buyer, seller, lead
nationality: nationality, citizenship
gender: gender, sex
city: city, town, municipality, locality
state: province, region, county, state code, state name, address state
country: country, country name, nation
country code: country code, country iso, countrycode, country code alpha2
postal code: zip, zip code, postal code, postcode, zipcode, post code, postalcode
street: street, street address, address line 1, address 1, line 1, address line, street name, address1, line1,
    streetaddress
address 2: address line 2, address 2, line 2, apartment, apt, suite, unit number, address2, line2
address: address, full address, mailing address, shipping address, billing address, home address
location: location, place, venue, destination, origin, site, neighborhood, neighbourhood, district
timezone: timezone, time zone, tz
language: language, lang, locale, language code
company: company, organization, organisation, employer, vendor, supplier, manufacturer, merchant, publisher, company
    name, organization name, business name, vendor name, supplier name, merchant name, org, business, carrier, bank,
    issuer
brand: brand, make, brand name
department: department, team, division, team name, department name, squad
url: url, uri, link, href, website, homepage, webpage, web site, site url, permalink, callback, webhook, repo url
image url: avatar, image, photo, picture, thumbnail, icon, logo, avatar url, image url, photo url, thumbnail url,
    picture url, icon url, logo url, cover, banner
domain: domain, hostname, host, domain name, server, fqdn
ip: ip, ip address, ipv4, ip v4, ipaddress, client ip, remote addr
ipv6: ipv6, ip v6, ipv6 address
mac: mac, mac address, macaddress
user agent: user agent, useragent
slug: slug, permalink slug, url slug
mime: mime, mime type, content type, media type, mimetype, contenttype
uuid: uuid, guid, correlation id, trace id, request id, session id, idempotency key
id: id, identifier, key, ref, reference, uid, oid
number: number, no, num, serial, serial number, case number, tracking number, order number, account number, invoice
    number
code: code, pin, voucher, coupon, coupon code, promo code, promocode, otp, confirmation code, discount code
sku: sku, product code, item code, part number, article number, mpn
barcode: barcode, ean, upc, gtin, isbn
token: token, access token, refresh token, api key, secret, apikey, password, cursor, page token, next page token,
    next cursor, continuation token, nonce, signature
hash: hash, checksum, digest, sha256, fingerprint, etag
commit: sha, sha1, commit, commit sha, commit id, revision, commit hash
md5: md5
title: title, subject, headline, heading, caption, goal, task
text: description, desc, details, detail, body, content, text, bio, about, abstract, overview, instructions, message
    body, answer, explanation, article, html, markdown
sentence: summary, comment, message, note, reason, question, feedback, remark, snippet, notes, comments,
    justification, excerpt, reply, prompt, error message, msg, error, warning,  tagline, review
product: product, item, product name, item name, goods
label: display label, display title, project, project name, event, event name, campaign, program, plan name,
    document, resource name, feature
tag: tag, label, keyword, topic, genre, label name
category: category, group, section, segment, class, classification, kind, category name
status: status, status name, state, stage, phase, lifecycle
priority: priority, severity, urgency, importance, impact, risk level, level
type: type
name: name
currency: currency, currency code, ccy
color: color, colour
hex color: hex color, color code, hex, hex code, color hex
unit: unit, uom, unit of measure, units
environment: environment, env, deployment environment
version: version, release, api version, semver, app version
platform: os, platform, operating system
browser: browser
device: device, device name, model, model name
method: method, http method, verb
file name: file, filename, file name, attachment
path: path, file path, filepath, directory, folder, dir, dirname, directory path
route: endpoint, route
branch: branch, ref name, branch name, head, base
extension: extension, file extension, ext
duration: duration, elapsed, uptime, interval, ttl, timeout
frequency: frequency, recurrence, cadence, periodicity
payment method: payment method, payment type, paymentmethod
card: card number, credit card
last four: last4, last four, last 4
iban: iban
weekday: day of week, weekday
month name: month name
license: license, licence, license name
role: role, permission, access level, scope
industry: industry, sector, vertical
code text: code snippet, source code, snippet code, sql, expression, script
log: log, logs, output, stdout, stderr
date: date, day, on, check in, check out, checkin, checkout, dob, birthday, birthdate, birth date
instant: at, last seen, last login, last active, first seen, last used, datetime, date time, timestamp, ts, time
    stamp, created, updated, modified, deadline, eta, expires,
    expiry, expiration, since, until, start time, end time
time: time, time of day
query: query, q, search, search term, search query, keywords
"""
"""What texts are about."""

NUMBERS: Final = """
large money: salary, budget, revenue, income, turnover, annual income, wage, net worth, valuation
money: price, amount, total, cost, balance, fee, tax, subtotal, payment, discount, refund, value, spend, charge,
    deposit, premium, paid, due, rate amount, credit, debit, limit amount, msrp
count: count, quantity, qty, num, stock, total count, items, views, likes, stars, followers, clicks, downloads,
    comments count, in stock, available, capacity, seats, attempts, retries, occurrences, hits, votes, copies,
    inventory
page: page, page number, page index
limit: limit, page size, per page, max results, top, take, batch size, pagesize
offset: offset, skip, index, position, rank, order, sequence, seq, idx, sort order, line, row, column, level, depth
percent: percent, percentage, pct, progress, completion, utilization, humidity, battery, discount percent
share: probability, score, confidence, ratio, similarity, accuracy, fraction, weight factor, relevance
rate: rate, tax rate, interest rate, exchange rate, conversion rate
rating: rating, stars rating, avg rating, average rating
age: age
year: year, model year, release year
month: month
day: day, day of month
weekday: day of week
hour: hour, hours
minutes: minute, minutes, mins
seconds: second, seconds, secs, ttl, timeout, expires in, interval
milliseconds: ms, milliseconds, millis, latency, duration ms, response time, elapsed
duration: duration
latitude: lat, latitude
longitude: lon, lng, long, longitude
altitude: altitude, elevation
port: port
weight: weight, mass
size: height, width, length, depth, radius, diameter, distance
temperature: temperature, temp
bytes: bytes, size, file size, content length, filesize, memory, size bytes
id: id, identifier, number, no, pid, uid, key
http status: status code, http status, response code, code
version: version, revision
postal code: zip, zip code, postal code
instant: at, last seen, last login, last active, first seen, last used, timestamp, ts, created, updated, modified,
    time, date, epoch, expires, exp, iat, since, until
priority: priority, severity
speed: speed, velocity
bedrooms: bedrooms, bathrooms, rooms, guests, adults, children, floors, nights, passengers
"""
"""What numbers count or measure."""

UNITS: Final = """
c celsius cents cm dpi eur f fahrenheit ft g gb gbp ghz hz in inch inches k kb kg km kmh kw kwh l lb lbs liters
litres m mb mbps mg mi ml mm mph oz px rpm sqft sqm tb usd v w
"""
"""What a name may end on after what it measures."""

FLAGS_OFF: Final = """
archived banned blocked canceled cancelled closed deleted deprecated disabled draft dry dryrun duplicate error
errors expired failed flagged force fork hidden incomplete locked more muted overdue private readonly refunded spam
suspended test truncated void
"""
"""What is usually not so."""

PEOPLE: Final = """
admin agent applicant artist assignee attendee author beneficiary buyer candidate child client contact creator
customer doctor driver employee follower friend guest holder host lead manager member operator owner parent
participant passenger patient people person player profile recipient reporter reviewer seller sender signer speaker
sponsor staff student subscriber teacher tenant traveler traveller user
"""
"""Who is a person."""
