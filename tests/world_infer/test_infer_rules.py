"""Single tools among their siblings: effect, collection, key, and what arguments do."""

import pytest

from envace_sdk.world.infer import infer

# Tools, and of some of them: effect, collection, key.
EFFECTS = {
    "a status makes cancelling a change": (
        """
        book_visit(patient!, day!: date)
        get_visit(visit_id!)
        list_visits(status: booked|cancelled|done)
        cancel_visit(visit_id!)
        """,
        {"cancel_visit": "update visits args.visit_id", "book_visit": "create visits -"},
    ),
    "without a status, cancelling removes": (
        """
        book_visit(patient!, day!: date)
        get_visit(visit_id!)
        cancel_visit(visit_id!)
        """,
        {"cancel_visit": "delete visits args.visit_id"},
    ),
    "another tool removes, so cancelling is a change": (
        """
        book_visit(patient!)
        get_visit(visit_id!)
        cancel_visit(visit_id!)
        delete_visit(visit_id!)
        """,
        {"cancel_visit": "update visits args.visit_id", "delete_visit": "delete visits args.visit_id"},
    ),
    "a description decides between senses": (
        """
        open_case(subject!) -- Creates a case.
        close_case(case_id!) -- Permanently deletes the case.
        get_case(case_id!)
        list_cases(status: open|closed)
        """,
        {"open_case": "create cases -", "close_case": "delete cases args.case_id"},
    ),
    "hints decide where words do not": (
        """
        make_thing(name!)
        peruse(thing_id!) @readOnly
        obliviate(thing_id!) @destructive
        frobnicate(a, b)
        """,
        {
            "peruse": "read things args.thing_id",
            "obliviate": "delete things args.thing_id",
            "frobnicate": "opaque - -",
        },
    ),
    "a read-only tool never writes": (
        """
        create_report(title!)
        get_report(report_id!)
        check_report(report_id!) -- Marks nothing. @readOnly
        """,
        {"check_report": "read reports args.report_id"},
    ),
    "one tool for all actions is opaque": (
        "manage_ticket(action!: create|get|update|delete, ticket_id, title)",
        {"manage_ticket": "opaque - -"},
    ),
    "what nobody makes is open, and calculations are opaque": (
        """
        get_weather(city!)
        convert_currency(amount!: num, to!)
        """,
        {"get_weather": "read weathers args.city", "convert_currency": "opaque - -"},
    ),
    "what changes nothing is known for it, where its answer is not": (
        """
        create_ticket(title!, severity: num)
        get_ticket(ticket_id!)
        list_ticket_history(ticket_id!)
        get_ticket_history(ticket_id!) -- Shows what happened to it. @readOnly
        compare_releases(base!, head!)
        estimate_effort(ticket_id!, team!)
        quote_ticket(ticket_id!) -- Works out what it would cost. @readOnly
        run_report(name!)
        """,
        {
            "get_ticket_history": "compute - -",
            "compare_releases": "compute - -",
            "estimate_effort": "compute - -",
            "quote_ticket": "compute - -",
            "run_report": "opaque - -",
        },
    ),
    "what works something out says so in two words": (
        "create_trip(city!)\nget_trip(trip_id!)\ntrip_cost(trip_id!, people!: int) -- Works out what it costs.",
        {"trip_cost": "compute - -"},
    ),
    "what is handed over is not made": (
        """
        search_tools(holder) => {tools!: [{tag!, serial!, holder, place}]}
        hand_over_tool(tag!, holder!) => {tool!: {tag!, serial!, holder, place}} -- Records who has it.
        """,
        {"hand_over_tool": "update tools args.tag"},
    ),
    "a change of a thing that is called by what it takes or sets": (
        """
        place_order(sku!) => {order_id!, sku!, note, coupon_code, total: num}
        get_order(order_id!) => {order_id!, sku!, note, coupon_code, total: num}
        apply_coupon(order_id!, coupon_code!) => {order_id!, sku!, note, coupon_code, total: num}
        set_wrapping(order_id!, ribbon!) => {order_id!, sku!, note, coupon_code, total: num}
        """,
        {"apply_coupon": "update orders args.order_id", "set_wrapping": "update orders args.order_id"},
    ),
    "another thing of a thing is not a change of it": (
        """
        create_order(sku!) => {order_id!, sku!, note, total: num}
        get_order(order_id!) => {order_id!, sku!, note, total: num}
        open_claim(order_id!, text!) => {claim_id!, order_id!, text!}
        get_claim(claim_id!) => {claim_id!, order_id!, text!}
        """,
        {"open_claim": "create claims -", "get_claim": "read claims args.claim_id"},
    ),
    "what answers with a new id makes something": (
        """
        search_permits(person) => {permits!: [{permit_id!, person!, area!}]}
        permit_entry(person!, area!) => {permit!: {permit_id!, person!, area!}} @!readOnly
        run_script(script!, host!) => {run!: {run_id!, script!, host!, outcome}} @!readOnly
        """,
        {"permit_entry": "create permits -", "run_script": "create runs -"},
    ),
    "a tool named after a field": (
        """
        create_ticket(title!, priority: low|high)
        get_ticket(ticket_id!)
        set_ticket_priority(ticket_id!, level!: low|high)
        mark_done(ticket_id!)
        set_owner(ticket_id!, owner!)
        """,
        {
            "set_ticket_priority": "update tickets args.ticket_id",
            "mark_done": "update tickets args.ticket_id",
            "set_owner": "update tickets args.ticket_id",
        },
    ),
    "things are made by a tool of another noun": (
        """
        list_tables(seats: int)
        reserve_table(table_id!, guest!)
        get_reservation(reservation_id!)
        """,
        {"reserve_table": "create reservations -", "list_tables": "search tables -"},
    ),
    "kinds that are each made are different things": (
        """
        create_purchase_order(vendor!)
        create_work_order(site!)
        get_purchase_order(id!)
        get_work_order(id!)
        """,
        {"create_purchase_order": "create purchase_orders -", "get_work_order": "read work_orders args.id"},
    ),
    "what two ids of one thing do is not guessed": (
        """
        open_account(owner!)
        get_account(account_id!)
        transfer(from_account_id!, to_account_id!, amount!: num)
        """,
        {"transfer": "opaque - -"},
    ),
}


@pytest.mark.parametrize("case", EFFECTS)
def test_effects(case, tools_of):
    text, expected = EFFECTS[case]
    dynamics = infer(tools_of(text))
    for name, words in expected.items():
        rule = dynamics.tools[name]
        effect, collection, key = words.split(" ", 2)
        assert (rule.effect, rule.collection or "-", rule.key or "-") == (effect, collection, key), name
        assert rule.reason
        assert 0 < rule.confidence < 1


# Tools; key field or fields, mint, whether the world may hold what this one has not seen.
KEYS = {
    "minted": ("create_x(a!)\nget_x(x_id!)", "x_id", "x_{hex:8}", False),
    "an id that is a number": ("create_x(a!)\nget_x(id!: int)", "id", "{int}", False),
    "a uuid": ("create_x(a!)\nget_x(id!: uuid)", "id", "{uuid}", False),
    "a pattern": ("create_x(a!)\nget_x(ref!: /^TCK-\\d{5}$/)", "ref", "TCK-{n:05}", False),
    "an example": ("create_x(a!)\nget_x(code! # (The code, e.g. INV-2024-0007))", "code", "INV-2024-{n:04}", False),
    "a number as text": ("create_x(a!)\nget_x(x_number!)", "x_number", "{n:06}", False),
    "given by the caller": ("add_book(isbn!, title!)\nget_book(isbn!)", "isbn", "", False),
    "given or not": ("add_page(title!, slug)\nget_page(slug!)", "slug", "page-{n}", False),
    "a name": ("create_tag(name!, colour)\ndelete_tag(tag_name!)", "name", "", False),
    "the noun, described as a name": (
        "create_repo(name!, about)\nget_repo(repo! # Name of the repo)",
        "name",
        "",
        False,
    ),
    "most tools' choice, spelled as the reader does": (
        "create_x(a!)\nget_x(xId!)\nupdate_x(x_id!, a)\ndelete_x(id!)",
        "xId",
        "x_{hex:8}",
        False,
    ),
    "composite": (
        "add_row(table!, data: obj)\nget_row(table!, row_id!: int)\ndelete_row(table!, row_id!: int)",
        ["table", "row_id"],
        "{int}",
        False,
    ),
    "outer ids that not all ask for do not count": (
        "add_comment(post_id!, text!)\nget_comment(post_id!, comment_id!)\ndelete_comment(comment_id!)\n"
        "get_post(post_id!)",
        "comment_id",
        "comment_{hex:8}",
        False,
    ),
    "as the output schema spells it": (
        "create_x(a!) => {id!, a}\nget_x(x_id!) => {id!, a}",
        "id",
        "x_{hex:8}",
        False,
    ),
    "never made": ("get_x(x_id!)\nlist_xs(a)", "x_id", "", True),
}


@pytest.mark.parametrize("case", KEYS)
def test_keys(case, tools_of):
    text, key, mint, is_open = KEYS[case]
    collection = next(iter(infer(tools_of(text)).collections.values()))
    assert (collection.key, collection.mint, collection.open) == (key, mint, is_open)


# A create and a search argument; the filter it becomes: field and operator, or the condition.
FILTERS = {
    "the same name": ("colour", "colour", "colour equals"),
    "qualified by the noun": ("colour", "thing_colour", "colour equals"),
    "an id for short": ("owner_id", "owner", "owner_id equals"),
    "several values": ("colour", "colours: [str]", "colour in"),
    "an element of a list": ("tags: [str]", "tag", "tags has"),
    "from a day": ("due_date: date", "due_after: date", "due_date gte"),
    "to a day": ("due_date: date", "dueBefore: date", "due_date lte"),
    "since it was made": ("title", "created_since: time", "created_at gte"),
    "at least": ("price: num", "min_price: num", "price gte"),
    "at most": ("price: num", "price_lte: num", "price lte"),
    "above": ("price: num", "price_gt: num", "price gt"),
    "part of a text": ("title", "title_contains", "title contains"),
    "free text": ("title", "q", "title contains"),
    "described as partial": ("title", "title # Part of the title; partial match", "title contains"),
    "how a key begins": ("title", "prefix", "thing_id prefix"),
}


@pytest.mark.parametrize("case", FILTERS)
def test_filters(case, tools_of):
    given, asked, expected = FILTERS[case]
    text = f"create_thing({given})\nget_thing(thing_id!)\nlist_things({asked})\nupdate_thing(thing_id!, {given})"
    rule = infer(tools_of(text)).tools["list_things"]
    (narrowing,) = rule.filters.values()
    assert f"{narrowing.field} {narrowing.op}" == expected


def test_free_text_searches_texts_and_lists_of_texts_only(tools_of):
    text = """
    add_doc(title!, body, tags: [str], kind: a|b, due: date, size: int, lines: [{a}])
    find_docs(query)
    get_doc(doc_id!)
    """
    narrowing = infer(tools_of(text)).tools["find_docs"].filters["query"]
    assert [narrowing.field, *narrowing.any_of] == ["title", "body", "tags"]


def test_wrapped_arguments_keep_their_paths(tools_of):
    text = """
    things.make(input!: {title!, ownerId})
    things.fetch(params!: {thingId!})
    things.change(params!: {thingId!}, patch!: {title})
    things.query(filter: {ownerId}, paging: {limit: int, offset: int})
    """
    tools = infer(tools_of(text)).tools
    assert tools["things.make"].take == {"title": "input.title", "ownerId": "input.ownerId"}
    assert tools["things.fetch"].key == "args.params.thingId"
    assert tools["things.change"].take == {"title": "patch.title"}
    assert list(tools["things.query"].filters) == ["filter.ownerId"]
    assert tools["things.query"].limit == "default(args.paging.limit, null)"


def test_arguments_that_only_steer_the_call_are_no_fields(tools_of):
    text = """
    create_x(title!, dry_run: bool, idempotency_key, notify_owner: bool)
    get_x(x_id!, fields: [str])
    list_xs(limit: int)
    """
    dynamics = infer(tools_of(text))
    assert dynamics.tools["create_x"].take == ["title"]
    assert dynamics.tools["list_xs"].filters == {}


def test_quarantined_names_and_hostile_texts_do_no_harm(tools_of):
    (tool,) = tools_of("create_x(a!)")
    tool.definition["description"] = "{{{args}} ' \" \\ \n# yaml: [" * 50
    assert infer([tool]).tools["create_x"].effect == "create"
