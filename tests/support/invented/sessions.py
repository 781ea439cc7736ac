"""Tools of a session: who is logged in, and what is selected; and tools that go by it."""

from __future__ import annotations

from envace_sdk.json import Json

from .draft import Draft, Rule
from .kinds import Kind
from .words import PEOPLE

__all__ = ["add_login", "add_selection"]


def _session(draft: Draft, **fields: Json) -> str:
    """The collection's one document; more of it where there is one."""
    name = "session"
    draft.collections.setdefault(name, {"key": "id", "noun": "session"})
    documents = draft.world.setdefault(name, [{"id": "me"}])
    documents[0] |= fields
    return name


def add_login(draft: Draft) -> None:
    """Log in by name and secret; from then on tools that are added may need it."""
    random = draft.random
    session = _session(draft, user=None)
    who, secret = random.choice([("username", "password"), ("name", "pin"), ("account", "secret"), ("badge", "word")])
    people = [
        {who: name, secret: f"{random.randint(1000, 9999)}", "rank": random.choice(["low", "high"])}
        for name in random.sample(PEOPLE, 3)
    ]
    draft.collections["people"] = {"key": who, "noun": "account"}
    draft.world["people"] = people
    error = draft.refusal("credentials", who=f"{{args.{who}}}")
    rule: Rule = {
        "effect": "update",
        "collection": session,
        "key": "'me'",
        "let": {"person": f"get('people', args.{who})"},
        "requires": [
            {
                "that": f"person != null && person.{secret} == args.{secret}",
                "error": error,
                "status": "permission_error",
            }
        ],
        "set": {"user": f"args.{who}"},
        "returns": random.choice(
            [
                {"text": f"Welcome, {{args.{who}}}"},
                {"object": {"user": f"args.{who}", "rank": "person.rank"}},
                {"object": {"ok": "true"}},
            ]
        ),
    }
    login = draft.add(
        "login",
        "",
        rule,
        {"session", "credentials"},
        takes={who: {"type": "string"}, secret: {"type": "string"}},
        values={who: f"people.{who}", secret: f"find('people', {{'{who}': args.{who}}}).map(p, p.{secret})"},
    )
    draft.openers.append(login)
    unknown = draft.refusal("login")
    draft.gate = ("get('session', 'me').user != null", unknown)
    draft.add(
        "logout",
        "",
        {
            "effect": "update",
            "collection": session,
            "key": "'me'",
            "requires": [{"that": "entity.user != null", "error": unknown, "status": "permission_error"}],
            "set": {"user": "null"},
            "returns": random.choice([{"text": "Bye"}, {"object": {"user": "null"}}]),
        },
        {"session", "login"},
    )
    draft.weights[list(draft.tools)[-1]] = 0.3
    if draft.chance(0.6):
        answer: Rule = {"object": {"user": "entity.user", "logged_in": "entity.user != null"}}
        rule = {"effect": "read", "collection": session, "key": "'me'", "returns": answer}
        draft.add("status", "", rule, {"session", "read", "nullable"})


def add_selection(draft: Draft, kind: Kind) -> None:
    """Select an entity; others go by what is selected."""
    session = _session(draft, current=None, switches=0)
    argument = draft.key_argument(kind)
    rule: Rule = {
        "effect": "update",
        "collection": session,
        "key": "'me'",
        "requires": [
            {
                "that": f"exists('{kind.collection}', args.{argument})",
                "error": draft.refusal("missing", noun=kind.noun, key=f"{{args.{argument}}}"),
                "status": "not_found",
            }
        ],
        "set": {"current": f"args.{argument}", "switches": "entity.switches + 1"},
        "returns": draft.random.choice(
            [
                {"object": {"selected": f"args.{argument}", "switches": "entity.switches"}},
                {"text": f"Now at {{args.{argument}}}"},
            ]
        ),
    }
    selecting = draft.add(
        "select",
        kind.noun,
        rule,
        {"session", "register", "reference"},
        takes={argument: kind.key_schema},
        values={argument: kind.keys},
    )
    draft.openers.append(selecting)
    nothing = {
        "that": "one != null",
        "error": draft.refusal("unselected", noun=kind.noun),
        "status": "conflict",
    }
    chosen = {"one": f"get('{kind.collection}', get('session', 'me').current)"}
    shown = [kind.key, *kind.plain_fields[:2]]
    rule = {
        "effect": "compute",
        "let": chosen,
        "requires": [nothing],
        "returns": {"object": {name: f"one.{name}" for name in shown}},
    }
    draft.add("current", kind.noun, rule, {"session", "implicit", "read"})
    words = [one for one in kind.fields if one.kind in ("text", "word", "integer")]
    if words:
        field = words[0]
        change = {"effect": "update", "collection": kind.collection, "key": "get('session', 'me').current"}
        rule = {
            "effect": "compute",
            "let": chosen,
            "requires": [nothing],
            "also": [{**change, "set": {field.name: f"args.{field.name}"}}],
            "returns": {"object": {kind.key: f"one.{kind.key}", field.name: f"args.{field.name}"}},
        }
        features = {"session", "implicit", "side_effect"}
        draft.add("update", f"current_{kind.noun}", rule, features, takes={field.name: field.schema()})
