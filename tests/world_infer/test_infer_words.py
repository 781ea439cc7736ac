import pytest

from envace_sdk.world.infer.arguments import arguments_of
from envace_sdk.world.infer.descriptions import tell
from envace_sdk.world.infer.ids import bare, id_noun
from envace_sdk.world.infer.names import read_names
from envace_sdk.world.infer.words import is_plural, participles, plural, segments, singular, spell, split, style_of


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("create_ticket", [("create", "ticket")]),
        ("getTicketByID", [("get", "ticket", "by", "id")]),
        ("listIDs", [("list", "ids")]),
        ("HTTPServerList", [("http", "server", "list")]),
        ("add-pet-record", [("add", "pet", "record")]),
        ("tickets.create", [("tickets",), ("create",)]),
        ("crm__contact_add", [("crm",), ("contact", "add")]),
        ("acme.v1.Contacts.Create", [("acme",), ("v1",), ("contacts",), ("create",)]),
        ("tickets/create", [("tickets",), ("create",)]),
        ("SCREAMING_CASE", [("screaming", "case")]),
        ("kunde_ändern", [("kunde", "ändern")]),
        ("***", []),
    ],
)
def test_names_of_any_style_are_split(name, levels):
    assert segments(name) == levels


PLURALS = """
    category categories, person people, child children, status statuses, address addresses, box boxes, course courses,
    house houses, warehouse warehouses, movie movies, alias aliases, bus buses, quiz quizzes, shelf shelves, case cases,
    expense expenses, database databases, invoice invoices, analysis analyses, key keys, day days, note notes,
    class classes, match matches, size sizes, recipe recipes, menu menus, leaf leaves, page pages, index indices,
    hero heroes, lens lenses, criterion criteria, process processes, cache caches, series series, species species,
    news news, equipment equipment
"""


@pytest.mark.parametrize("pair", [tuple(pair.split()) for pair in PLURALS.split(",")], ids=lambda pair: pair[0])
def test_nouns_have_one_singular_and_one_plural(pair):
    one, many = pair
    assert singular(many) == singular(one) == one
    assert plural(one) == plural(many) == many
    assert is_plural(many) == (one != many)


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("cancel", "cancelled"),
        ("ship", "shipped"),
        ("complete", "completed"),
        ("pay", "paid"),
        ("send", "sent"),
        ("apply", "applied"),
        ("approve", "approved"),
        ("pin", "pinned"),
        ("activate", "active"),
    ],
)
def test_verbs_have_participles(verb, form):
    assert participles(verb)[0] == form


def test_words_are_spelled_in_the_style_that_prevails():
    assert style_of(["dueDate", "ownerId", "a_b", "title"]) == "camel"
    assert [spell(("created", "at"), style) for style in ("snake", "camel", "pascal", "kebab")] == [
        "created_at",
        "createdAt",
        "CreatedAt",
        "created-at",
    ]


# name, verb, noun, whether it speaks of many
NAMES = {
    "verb first": """
        create_ticket create ticket
        list_support_tickets list support.ticket many
        get_ticket_details get ticket
        get_all_tickets list ticket many
        mark_ticket_as_done mark ticket
        lookUpTicket lookup ticket
    """,
    "noun first": """
        orderCreate create order
        ordersList list order many
        orderCancel cancel order
        orderLineAdd add order.line
    """,
    "a namespace and levels": """
        crm__contact_add add contact
        crm__contact_find find contact
        crm__deal_drop drop deal
    """,
    "the thing as a level": """
        acme.v1.ContactsService.Create create contact
        acme.v1.ContactsService.Get get contact
        acme.v1.DealsService.List list deal
    """,
    "a thing called like a verb": """
        list_add add list
        list_get get list
        list_rename rename list
        list_remove remove list
    """,
    "a verb that is a noun beside": """
        create_change create change
        search_changes search change many
        draft_change draft change
    """,
    "all small letters": """
        createnote create note
        getnote get note
        listnotes list note many
    """,
    "no nouns": """
        create create -
        get get -
        list list -
    """,
    "a namespace of every name": """
        shop_create_order create order
        shop_list_orders list order many
        shop_order_close close order
        shop_ping ping -
    """,
    "lists of things, and things called lists": """
        create_task_list create task.list
        list_task_lists list task.list many
        get_user_list get user many
    """,
    "versions and junk": """
        v1_create_order create order
        api_get_order_v2 get order
        create_or_update_order upsert order
    """,
}


@pytest.mark.parametrize("case", NAMES)
def test_names_are_taken_apart_together(case):
    rows = [line.split() for line in NAMES[case].strip().splitlines()]
    found = read_names([row[0] for row in rows], [""] * len(rows))
    for row, name in zip(rows, found, strict=True):
        noun = () if row[2] == "-" else tuple(row[2].split("."))
        assert (name.verb, name.noun, name.plural) == (row[1], noun, "many" in row[3:]), row[0]


def test_a_description_tells_the_verb_and_its_object():
    telling = tell("This tool permanently deletes a support ticket from the desk. Cannot be undone.")
    assert (telling.verb, telling.object) == ("delete", ("support", "ticket"))
    assert tell("Gets the list of commits of a branch").object == ("commit",)
    assert tell("Notion | Create a page").verb == "create"
    assert tell("Reply to a thread").verb == "reply"
    assert tell("").verb == ""


def test_identifiers_say_what_they_identify():
    assert [id_noun(split(name)) for name in ("ticketId", "id", "colour")] == [("ticket",), (), None]
    assert bare(("ticket", "title"), {("ticket",)}) == ("title",)
    assert bare(("ticketid",), {("ticket",)}) == ("id",)
    assert bare(("ticket",), {("ticket",)}) == ("ticket",)


def test_objects_that_only_wrap_are_opened_and_values_stay_whole():
    schema = {
        "type": "object",
        "required": ["input"],
        "properties": {
            "input": {
                "type": "object",
                "required": ["title"],
                "properties": {
                    "title": {"$ref": "#/$defs/title"},
                    "address": {"type": "object", "properties": {"city": {"type": "string"}}},
                    "due": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
                },
            }
        },
        "$defs": {"title": {"type": "string", "description": "Headline"}},
    }
    found = {".".join(a.path): a for a in arguments_of(schema)}
    assert list(found) == ["input.title", "input.address", "input.due"]
    assert found["input.title"].required
    assert found["input.title"].description == "Headline"
    assert found["input.address"].is_object
    assert found["input.due"].types == {"string"}
    assert not found["input.due"].required
