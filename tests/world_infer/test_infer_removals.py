"""Which tool removes a thing, when its verb is rare, unknown, or may as well be a step in the thing's life."""

import pytest

NOTES = """
    publish_note(slug!, headline!, body)
    read_note(slug!)
    revise_note(slug!, headline, body)
    browse_notes(text)
"""


@pytest.mark.parametrize(
    "verb",
    ["retract", "rescind", "repeal", "unlist", "delist", "nullify", "annul", "evict", "expel"],
)
def test_a_verb_of_ending_removes_where_nothing_else_does_and_no_status_is_known(client_of, verb):
    call = client_of(f"{NOTES}\n{verb}_note(slug!)")
    call("publish_note", slug="a", headline="A")
    call(f"{verb}_note", slug="a")
    assert call.error("read_note", slug="a")[0] == "not_found"
    assert call("browse_notes")["notes"] == []


@pytest.mark.parametrize(
    "tool",
    [
        "vaporize_note(slug!)",
        "vaporize_note(slug!, reason)",
        "vaporize_note(slug!) -- Permanently erases it.",
        "vaporize_note(slug!) -- It is no more after that. @destructive",
    ],
)
def test_an_unknown_verb_that_takes_the_key_alone_is_the_removal_that_is_missing(client_of, tool):
    call = client_of(f"{NOTES}\n{tool}")
    call("publish_note", slug="a", headline="A")
    call("vaporize_note", slug="a")
    assert call.error("read_note", slug="a")[0] == "not_found"


@pytest.mark.parametrize(
    "others",
    [
        "delete_note(slug!)\nwater_note(slug!)",
        "water_note(slug!)\nfeed_note(slug!)",
        "water_note(slug!) -- Gives the note some water.",
        "water_note(slug!)\nset_note_status(slug!, status!: dry|watered)",
    ],
)
def test_an_unknown_verb_is_no_removal_where_something_speaks_against_it(client_of, others):
    call = client_of(f"{NOTES}\n{others}")
    call("publish_note", slug="a", headline="A")
    call("water_note", slug="a")
    assert call("read_note", slug="a")["headline"] == "A"


def test_a_status_for_the_verb_keeps_the_thing(client_of):
    call = client_of(f"{NOTES.replace('text)', 'text, status: live|retracted)')}\nretract_note(slug!)")
    call("publish_note", slug="a", headline="A")
    call("retract_note", slug="a")
    assert call("read_note", slug="a")["status"] == "retracted"


def test_the_object_that_an_update_wraps_its_fields_in_may_be_in_its_name(client_of):
    call = client_of(
        """
        open_case(subject!, priority: low|high)
        get_case_details(case_ref!)
        update_case_fields(case_ref!, fields!: {subject, priority})
        list_open_cases(priority: low|high)
        purge_case(case_ref!)
        """
    )
    key = call("open_case", subject="S", priority="low")["case_ref"]
    call("update_case_fields", case_ref=key, fields={"priority": "high"})
    assert call("get_case_details", case_ref=key)["priority"] == "high"
    assert len(call("list_open_cases", priority="high")["cases"]) == 1
    call("purge_case", case_ref=key)
    assert call.error("get_case_details", case_ref=key)[0] == "not_found"


@pytest.mark.parametrize(
    ("removal", "taking_back"),
    [
        ("delete_doc(doc_id!) -- Soft-deletes a document.", ""),
        ("delete_doc(doc_id!) -- Moves a document to the trash.", "undelete_doc(doc_id!)"),
        ("delete_doc(doc_id!) -- Deletes a document; it can be restored.", "restore_doc(doc_id!)"),
        ("remove_doc(doc_id!)", "recover_doc(doc_id!)"),
    ],
)
@pytest.mark.parametrize("listing", ["list_docs(folder)", "list_docs(folder, include_deleted: bool)"])
def test_a_soft_removal_hides_the_thing_until_it_is_restored(client_of, removal, taking_back, listing):
    call = client_of(f"create_doc(title!, folder)\nget_doc(doc_id!)\n{listing}\n{removal}\n{taking_back}")
    key = call("create_doc", title="T", folder="f")["doc_id"]
    call(removal.partition("(")[0], doc_id=key)
    assert call("list_docs")["docs"] == []
    assert call("get_doc", doc_id=key)["deleted"] is True
    if "include" in listing:
        assert [doc["doc_id"] for doc in call("list_docs", include_deleted=True)["docs"]] == [key]
    if taking_back:
        call(taking_back.partition("(")[0], doc_id=key)
        assert [doc["deleted"] for doc in call("list_docs")["docs"]] == [False]


def test_a_removal_for_good_is_one_even_where_things_can_be_restored(client_of):
    call = client_of(
        """
        create_doc(title!)
        get_doc(doc_id!)
        delete_doc(doc_id!) -- Permanently deletes a document.
        archive_doc(doc_id!)
        restore_doc(doc_id!)
        """
    )
    key = call("create_doc", title="T")["doc_id"]
    call("delete_doc", doc_id=key)
    assert call.error("get_doc", doc_id=key)[0] == "not_found"
