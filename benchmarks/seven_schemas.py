"""Seven schemas that together use what tool schemas use."""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMAS"]

SCHEMAS: dict[str, dict[str, Any]] = {
    "S1 $defs recursive + prefixItems": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 40},
                    "size": {"type": "integer", "minimum": 0},
                    "position": {
                        "type": "array",
                        "prefixItems": [
                            {"type": "number", "minimum": -90, "maximum": 90},
                            {"type": "number", "minimum": -180, "maximum": 180},
                            {"enum": ["exact", "approximate"]},
                        ],
                        "items": False,
                        "minItems": 2,
                    },
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 4},
                    "parent": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                },
                "required": ["name", "position", "children"],
                "additionalProperties": False,
            }
        },
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}, "depth": {"type": "integer", "minimum": 1, "maximum": 9}},
        "required": ["tree"],
    },
    "S2 oneOf + unevaluatedProperties": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"id": {"type": "string", "minLength": 4}, "created_at": {"type": "string", "format": "date-time"}},
        "required": ["id", "kind"],
        "oneOf": [
            {
                "properties": {
                    "kind": {"const": "card"},
                    "last4": {"type": "string", "pattern": "^[0-9]{4}$"},
                    "brand": {"enum": ["visa", "mastercard", "amex"]},
                },
                "required": ["last4", "brand"],
            },
            {
                "properties": {
                    "kind": {"const": "bank"},
                    "iban": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$"},
                },
                "required": ["iban"],
            },
            {
                "properties": {"kind": {"const": "cash"}, "amount": {"type": "number", "multipleOf": 0.01, "minimum": 0}},
                "required": ["amount"],
            },
        ],
        "unevaluatedProperties": False,
    },
    "S3 formats + look-around pattern": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "email": {"type": "string", "format": "email"},
            "website": {"type": "string", "format": "uri"},
            "host": {"type": "string", "format": "hostname"},
            "ip": {"anyOf": [{"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}]},
            "created_at": {"type": "string", "format": "date-time"},
            "birthday": {"type": "string", "format": "date"},
            "opens": {"type": "string", "format": "time"},
            "lasts": {"type": "string", "format": "duration"},
            "at": {"type": "string", "format": "json-pointer"},
            "rule": {"type": "string", "format": "regex"},
            "link": {"type": "string", "format": "uri-reference"},
            "password": {"type": "string", "pattern": "^(?=.*[A-Z])(?=.*[a-z])(?=.*[0-9])(?!.*(.)\\1\\1)[A-Za-z0-9!?]{10,16}$"},
            "handle": {"type": "string", "pattern": "^(?!.*--)(?!-)[a-z0-9-]+(?<!-)$", "minLength": 3, "maxLength": 20},
        },
        "required": ["id", "email", "website", "host", "ip", "created_at", "birthday", "opens", "lasts", "at", "rule",
                     "link", "password", "handle"],
        "additionalProperties": False,
    },
    "S4 draft-07 if/then, contains, uniqueItems": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"line": {
            "type": "object",
            "properties": {
                "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
                "quantity": {"type": "integer", "minimum": 1, "maximum": 99},
                "gift": {"type": "boolean"},
            },
            "required": ["sku", "quantity", "gift"],
        }},
        "type": "object",
        "properties": {
            "country": {"enum": ["US", "CA", "DE"]},
            "postal_code": {"type": "string"},
            "tags": {"type": "array", "items": {"enum": ["new", "sale", "fragile", "heavy", "cold"]}, "uniqueItems": True,
                     "minItems": 2, "contains": {"const": "fragile"}},
            "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}, "minItems": 1,
                      "contains": {"properties": {"gift": {"const": True}}}},
            "size": {"type": "array", "items": [{"type": "number", "exclusiveMinimum": 0}, {"enum": ["cm", "in"]}],
                     "additionalItems": False, "minItems": 2},
            "express": {"type": "boolean"},
        },
        "required": ["country", "postal_code", "tags", "lines"],
        "if": {"properties": {"country": {"const": "US"}}},
        "then": {"properties": {"postal_code": {"pattern": "^[0-9]{5}(-[0-9]{4})?$"}}, "required": ["state"]},
        "else": {"properties": {"postal_code": {"minLength": 5}}, "not": {"required": ["state"]}},
        "dependencies": {"express": ["phone"], "phone": {"properties": {"phone": {"type": "string", "minLength": 7}}}},
    },
    "S5 boolean schemas, not, patternProperties": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "anything": True,
            "never": False,
            "level": {"type": "integer", "minimum": 0, "maximum": 5, "not": {"enum": [0, 3]}},
            "state": {"type": "string", "not": {"anyOf": [{"const": ""}, {"pattern": "^x-"}]}, "maxLength": 12},
            "value": {"not": {"type": ["object", "array", "null"]}},
        },
        "patternProperties": {"^x-[a-z]+$": {"type": "string", "minLength": 2}, "_count$": {"type": "integer", "minimum": 0}},
        "additionalProperties": False,
        "propertyNames": {"maxLength": 16},
        "required": ["anything", "level", "state", "value"],
        "minProperties": 6,
    },
    "S6 mutual recursion, root $ref": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/expression",
        "$defs": {
            "expression": {"oneOf": [{"$ref": "#/$defs/literal"}, {"$ref": "#/$defs/operation"}]},
            "literal": {
                "type": "object",
                "properties": {"value": {"type": ["number", "string", "boolean"]}},
                "required": ["value"],
                "additionalProperties": False,
            },
            "operation": {
                "type": "object",
                "properties": {
                    "operator": {"enum": ["and", "or", "not"]},
                    "operands": {"$ref": "#/$defs/operands"},
                },
                "required": ["operator", "operands"],
                "additionalProperties": False,
            },
            "operands": {"type": "array", "items": {"$ref": "#/$defs/expression"}, "minItems": 1, "maxItems": 3},
        },
    },
    "S7 plain issue": {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 1},
            "title": {"type": "string", "minLength": 1, "maxLength": 120},
            "body": {"type": ["string", "null"]},
            "state": {"enum": ["open", "closed"]},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
            "assignee": {
                "type": "object",
                "properties": {"login": {"type": "string"}, "email": {"type": "string", "format": "email"}},
                "required": ["login"],
            },
            "comments": {"type": "integer", "minimum": 0},
            "created_at": {"type": "string", "format": "date-time"},
            "updated_at": {"type": "string", "format": "date-time"},
        },
        "required": ["id", "title", "state", "created_at"],
    },
}  # fmt: skip
