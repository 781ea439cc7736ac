"""From created to gone, on toolsets of many domains and naming styles that come with nothing but their definitions."""

import json

import pytest

# Each story: the tools, how the created thing is asked for (`id`, a dotted path), and what is done with it.
STORIES = {
    "support tickets, snake case, a noun that differs between tools": {
        "tools": """
            create_ticket(subject!, body, priority: low|normal|urgent = normal, tags: [str]) -- Opens a support ticket.
            list_support_tickets(status: open|pending|solved, priority: low|normal|urgent, tag, limit: int = 25)
            get_ticket_details(ticket_id!) -- All there is to know about a ticket.
            update_ticket_status(ticket_id!, status!: open|pending|solved)
            edit_ticket(ticket_id!, subject, body, tags: [str])
            remove_ticket(ticket_id!)
        """,
        "id": "ticket_id",
        "create": ("create_ticket", {"subject": "Printer on fire", "priority": "urgent", "tags": ["hw"]}),
        "other": {"subject": "Reset password"},
        "get": "get_ticket_details",
        "update": ("edit_ticket", {"subject": "Printer is out"}),
        "list": "list_support_tickets",
        "filters": [{"priority": "urgent"}, {"tag": "hw"}],
        "delete": "remove_ticket",
    },
    "contacts, namespaced noun-verb, wrapped input": {
        "tools": """
            crm__contact_add(input!: {fullName!, emailAddress!, companyName, tags: [str]})
            crm__contact_find(contactRef!)
            crm__contact_modify(contactRef!, patch!: {fullName, emailAddress, companyName})
            crm__contacts_query(filter: {companyName, tag}, page: int, pageSize: int)
            crm__contact_erase(contactRef!)
        """,
        "id": "contactRef",
        "create": (
            "crm__contact_add",
            {"input": {"fullName": "Ada", "emailAddress": "a@x.org", "companyName": "Acme"}},
        ),
        "other": {"input": {"fullName": "Bob", "emailAddress": "b@x.org", "companyName": "Brix"}},
        "get": "crm__contact_find",
        "update": ("crm__contact_modify", {"patch": {"fullName": "Ada L."}}),
        "list": "crm__contacts_query",
        "filters": [{"filter": {"companyName": "Acme"}}],
        "delete": "crm__contact_erase",
    },
    "services, dotted Pascal case": {
        "tools": """
            acme.v1.ContractsService.CreateContract(Title!, Party!, ValueEur: num, SignedOn: date)
            acme.v1.ContractsService.GetContract(ContractID!)
            acme.v1.ContractsService.UpdateContract(ContractID!, Title, Party, ValueEur: num)
            acme.v1.ContractsService.ListContracts(Party, MinValueEur: num, SignedAfter: date, PageSize: int, PageToken)
            acme.v1.ContractsService.DeleteContract(ContractID!)
        """,
        "id": "ContractID",
        "create": (
            "acme.v1.ContractsService.CreateContract",
            {"Title": "Supply", "Party": "Nord", "ValueEur": 900.5, "SignedOn": "2026-03-01"},
        ),
        "other": {"Title": "Lease", "Party": "Sued", "ValueEur": 10, "SignedOn": "2025-01-01"},
        "get": "acme.v1.ContractsService.GetContract",
        "update": ("acme.v1.ContractsService.UpdateContract", {"ValueEur": 1200}),
        "list": "acme.v1.ContractsService.ListContracts",
        "filters": [{"Party": "Nord"}, {"MinValueEur": 500}, {"SignedAfter": "2026-01-01"}],
        "delete": "acme.v1.ContractsService.DeleteContract",
    },
    "recipes, kebab case, irregular plurals": {
        "tools": """
            add-category(name!, colour)
            browse-categories(colour, q)
            show-category(slug!)
            rename-category(slug!, new-name!)
            drop-category(slug!)
        """,
        "id": "slug",
        "create": ("add-category", {"name": "Soups", "colour": "red"}),
        "other": {"name": "Cakes", "colour": "brown"},
        "get": "show-category",
        "update": ("rename-category", {"new-name": "Broths"}, {"name": "Broths"}),
        "list": "browse-categories",
        "filters": [{"colour": "red"}, {"q": "broth"}],
        "delete": "drop-category",
    },
    "no nouns at all": {
        "tools": """
            create(text!, mood: good|bad)
            get(id!)
            update(id!, text, mood: good|bad)
            list(mood: good|bad)
            delete(id!)
        """,
        "id": "id",
        "create": ("create", {"text": "hello", "mood": "good"}),
        "other": {"text": "bye", "mood": "bad"},
        "get": "get",
        "update": ("update", {"text": "hello again"}),
        "list": "list",
        "filters": [{"mood": "good"}],
        "delete": "delete",
    },
    "bookings of tables, made by a tool named after the table": {
        "tools": """
            book_table(guest_name!, party_size!: int, when!: time, area: patio|hall)
            list_reservations(from: time, to: time, area: patio|hall, min_party_size: int)
            get_reservation(confirmation_code!)
            amend_reservation(confirmation_code!, party_size: int, when: time)
            cancel_reservation(confirmation_code!)
        """,
        "id": "confirmation_code",
        "create": (
            "book_table",
            {"guest_name": "Ito", "party_size": 6, "when": "2026-05-01T19:00:00Z", "area": "patio"},
        ),
        "other": {"guest_name": "Roy", "party_size": 2, "when": "2026-04-01T19:00:00Z", "area": "hall"},
        "get": "get_reservation",
        "update": ("amend_reservation", {"when": "2026-05-02T20:00:00Z"}),
        "list": "list_reservations",
        "filters": [{"from": "2026-04-15T00:00:00Z"}, {"area": "patio"}, {"min_party_size": 3}],
        "delete": "cancel_reservation",
    },
    "books by ISBN, which the caller gives": {
        "tools": """
            registerBook(isbn!, title!, author, copies: int = 1)
            lookupBook(isbn!)
            changeBook(isbn!, title, author, copies: int)
            searchBooks(text, author)
            withdrawBook(isbn!)
        """,
        "id": "isbn",
        "create": ("registerBook", {"isbn": "978-1", "title": "Dune", "author": "Herbert"}),
        "other": {"isbn": "978-2", "title": "Emma", "author": "Austen"},
        "get": "lookupBook",
        "update": ("changeBook", {"copies": 4}),
        "list": "searchBooks",
        "filters": [{"text": "dune"}, {"author": "Herbert"}],
        "delete": "withdrawBook",
    },
    "a key-value store": {
        "tools": """
            set_value(key!, value!, ttl: int)
            get_value(key!)
            list_keys(prefix)
            delete_key(key!)
        """,
        "id": "key",
        "create": ("set_value", {"key": "a/1", "value": "x"}),
        "other": {"key": "b/1", "value": "y"},
        "get": "get_value",
        "update": ("set_value", {"value": "z"}),
        "list": "list_keys",
        "filters": [{"prefix": "a/"}],
        "delete": "delete_key",
    },
    "issues with integer numbers within a project": {
        "tools": """
            issues/open(project_key!, title!, body, labels: [str], assignee)
            issues/read(project_key!, number!: int)
            issues/edit(project_key!, number!: int, title, body, assignee)
            issues/list(project_key!, label, assignee, state: open|closed)
            issues/purge(project_key!, number!: int)
        """,
        "id": "number",
        "with": {"project_key": "CORE"},
        "create": ("issues/open", {"project_key": "CORE", "title": "Crash", "labels": ["bug"], "assignee": "kim"}),
        "other": {"project_key": "CORE", "title": "Docs", "assignee": "lou"},
        "get": "issues/read",
        "update": ("issues/edit", {"title": "Crash on save"}),
        "list": "issues/list",
        "list_with": {"project_key": "CORE"},
        "filters": [{"label": "bug"}, {"assignee": "kim"}],
        "delete": "issues/purge",
    },
    "flat lower case": {
        "tools": """
            addperson(name!, born: date, city)
            getperson(personid!: int)
            updateperson(personid!: int, name, city)
            listpeople(city)
            deleteperson(personid!: int)
        """,
        "id": "personid",
        "create": ("addperson", {"name": "Eve", "born": "1990-02-03", "city": "Oslo"}),
        "other": {"name": "Max", "city": "Rome"},
        "get": "getperson",
        "update": ("updateperson", {"city": "Bergen"}),
        "list": "listpeople",
        "filters": [{"city": "Bergen"}],
        "delete": "deleteperson",
    },
    "REST verbs from an OpenAPI document": {
        "tools": """
            post_devices(body!: {serialNumber!, model!, online: bool})
            get_devices(model, online: bool, sort: str, per_page: int, page: int)
            get_devices_by_id(deviceId!: uuid)
            patch_devices_by_id(deviceId!: uuid, body!: {model, online: bool})
            delete_devices_by_id(deviceId!: uuid)
        """,
        "id": "deviceId",
        "create": ("post_devices", {"body": {"serialNumber": "S1", "model": "M", "online": True}}),
        "other": {"body": {"serialNumber": "S2", "model": "N", "online": False}},
        "get": "get_devices_by_id",
        "update": ("patch_devices_by_id", {"body": {"model": "M2"}}),
        "list": "get_devices",
        "filters": [{"model": "M2"}, {"online": True}],
        "delete": "delete_devices_by_id",
    },
    "notes in files, verbs of writing": {
        "tools": """
            write_note(path!, content!) -- Writes a note, replacing what was there.
            read_note(path!) -- Returns the content of a note.
            find_notes(contains) -- Notes whose text contains something.
            append_to_note(path!, content!)
            trash_note(path!)
        """,
        "id": "path",
        "create": ("write_note", {"path": "a.md", "content": "milk"}),
        "other": {"path": "b.md", "content": "bread"},
        "get": "read_note",
        "update": ("write_note", {"content": "oat milk"}),
        "list": "find_notes",
        "filters": [{"contains": "oat"}],
        "delete": "trash_note",
    },
    "memberships, verbs the lexicon has not": {
        "tools": """
            enlistVolunteer(data!: {nickname!, skills: [str], region!}) -- Adds a volunteer to the roster.
            volunteerProfile(volunteerId!) -- Shows one volunteer.
            volunteersOverview(region, skill) -- Lists volunteers.
            reviseVolunteer(volunteerId!, changes!: {region, skills: [str]}) -- Updates the given fields.
            dismissVolunteer(volunteerId!) -- Removes a volunteer for good.
        """,
        "id": "volunteerId",
        "create": ("enlistVolunteer", {"data": {"nickname": "Zed", "skills": ["sql"], "region": "north"}}),
        "other": {"data": {"nickname": "Yan", "region": "south"}},
        "get": "volunteerProfile",
        "update": ("reviseVolunteer", {"changes": {"skills": ["sql", "go"]}}),
        "list": "volunteersOverview",
        "filters": [{"region": "north"}, {"skill": "go"}],
        "delete": "dismissVolunteer",
    },
    "shipments, free objects": {
        "tools": """
            new_shipment(fields!: obj) -- Creates a shipment record from the given fields.
            shipment_info(shipment!) -- Looks up a shipment by its id.
            shipments(filter: obj) -- All shipments, or those whose fields equal the filter's.
            change_shipment(shipment!, fields!: obj) -- Merges the given fields into the shipment.
            void_shipment(shipment!) -- Deletes a shipment.
        """,
        "id": "shipment",
        "create": ("new_shipment", {"fields": {"to": "Kyoto", "kg": 3}}),
        "other": {"fields": {"to": "Lima", "kg": 9}},
        "get": "shipment_info",
        "update": ("change_shipment", {"fields": {"kg": 4}}),
        "list": "shipments",
        "filters": [{"filter": {"to": "Kyoto"}}],
        "delete": "void_shipment",
    },
}


def _with_key(path, identity, arguments):
    """The arguments with the identity at a dotted path."""
    steps = path.split(".")
    found = json.loads(json.dumps(arguments))
    place = found
    for step in steps[:-1]:
        place = place.setdefault(step, {})
    place[steps[-1]] = identity
    return found


@pytest.mark.parametrize("name", STORIES)
def test_what_is_created_lives_until_it_is_deleted(name, client_of, naive):
    story = STORIES[name]
    call = client_of(story["tools"])
    tool, first = story["create"]
    path, around = story["id"], story.get("with", {})
    made = call(tool, **first)
    assert naive.holds(made, first)
    one = naive.find_id(made, path.split(".")[-1])
    two = naive.find_id(call(tool, **story["other"]), path.split(".")[-1])
    assert one != two
    key, other = _with_key(path, one, around), _with_key(path, two, around)
    assert naive.holds(call(story["get"], **key), first)
    assert naive.holds(call(story["get"], **other), story["other"])

    tool, changes, *expected = story["update"]
    seen = expected[0] if expected else changes
    call(tool, **_with_key(story.get("update_id", path), one, {**around, **changes}))
    assert naive.holds(call(story["get"], **key), seen)
    assert call(story["get"], **key) == call(story["get"], **key)
    assert naive.holds(call(story["get"], **other), story["other"])

    everything = call(story["list"], **story.get("list_with", {}))
    values = [value for _, value in naive.leaves(everything)]
    assert one in values
    assert two in values
    assert naive.holds(everything, seen)
    for narrow in story["filters"]:
        values = [v for _, v in naive.leaves(call(story["list"], **story.get("list_with", {}), **narrow))]
        assert one in values, narrow
        assert two not in values, narrow

    gone = {**_with_key(story.get("delete_id", path), one, around), **story.get("delete_with", {})}
    call(story["delete"], **gone)
    outcome, error = call.error(story["get"], **key)
    assert outcome == "not_found"
    assert str(one) in error
    assert call.error(story["delete"], **gone)[0] == "not_found"
    values = [value for _, value in naive.leaves(call(story["list"], **story.get("list_with", {})))]
    assert one not in values
    assert two in values
