"""Toolsets in the habits of other languages and frameworks, from created to gone."""

import pytest

REST = "tickets_post(title!, queue)\ntickets_id_get(id!)\ntickets_id_patch(id!, title, queue)\ntickets_get(queue, page: int)\ntickets_id_delete(id!)"  # noqa: E501
STYLES = {
    "paths as names": (REST, "id", {"title": "T", "queue": "a"}, {"queue": "b"}, {"queue": "b"}),
    "methods and paths": (
        "POST /tickets(title!, queue)\nGET /tickets/{id}(id!)\nPATCH /tickets/{id}(id!, queue)\nGET /tickets(queue)\n"
        "DELETE /tickets/{id}(id!)",
        "id",
        {"title": "T", "queue": "a"},
        {"queue": "b"},
        {"queue": "b"},
    ),
    "versions and rare verbs": (
        "v2_ticket_new(title!, queue)\nv2_ticket_read(ticket!)\nv2_ticket_write(ticket!, title, queue)\n"
        "v2_ticket_enum(queue)\nv2_ticket_kill(ticket!)",
        "ticket",
        {"title": "T", "queue": "a"},
        {"queue": "b"},
        {"queue": "b"},
    ),
    "fields of a graph of types": (
        "ticketCreate(input!: {title!, queue})\nticket(id!)\nticketUpdate(id!, input!: {title, queue})\n"
        "tickets(first: int, after, filter: {queue})\nticketDelete(id!)",
        "id",
        {"input": {"title": "T", "queue": "a"}},
        {"input": {"queue": "b"}},
        {"filter": {"queue": "b"}},
    ),
    "shouted and abbreviated": (
        "BP_CREATE(PARTNER_NAME!, CITY) -- Create a partner\nBP_GETDETAIL(PARTNER!) -- Read a partner\n"
        "BP_CHANGE(PARTNER!, CITY) -- Change one\nBP_GETLIST(CITY) -- List partners\nBP_DELETE(PARTNER!)",
        "PARTNER",
        {"PARTNER_NAME": "N", "CITY": "a"},
        {"CITY": "b"},
        {"CITY": "b"},
    ),
    "short verbs of a shell": (
        "mk_ticket(title!, sev: int)\nsh_ticket(tid!) -- Show a ticket\nupd_ticket(tid!, title, sev: int)\n"
        "ls_tickets(sev: int)\nrm_ticket(tid!)",
        "tid",
        {"title": "T", "sev": 1},
        {"sev": 2},
        {"sev": 2},
    ),
    "which one, and new values": (
        "brew_recipe(label!, style) -- Start a new recipe.\ninspect_recipe(which!)\n"
        "tweak_recipe(which!, new_label, new_style)\nrecipes_overview(by_style)\n"
        "toss_recipe(which!) -- Throw a recipe away for good.",
        "which",
        {"label": "L", "style": "a"},
        {"new_style": "b"},
        {"by_style": "b"},
    ),
    "a field by its name": (
        "spawn_worker(label!, zone)\nworker_status(target!)\nset_worker_field(target!, field!, value!: any)\n"
        "enumerate_workers(with_zone)\nterminate_worker(target!)",
        "target",
        {"label": "L", "zone": "a"},
        {"field": "zone", "value": "b"},
        {"with_zone": "b"},
    ),
    "operators in argument names": (
        "enter_claim(claimant!, amount!: num, status: new|paid)\nview_claim(ident!)\n"
        "revise_claim(ident!, amount: num, status: new|paid)\nsearch_claims(status__eq, amount__gte: num)\n"
        "drop_claim(ident!)",
        "ident",
        {"claimant": "C", "amount": 5, "status": "new"},
        {"status": "paid"},
        {"status__eq": "paid", "amount__gte": 5},
    ),
    "filters called filters": (
        "lodge_complaint(subject!, created_by)\npull_complaint(reference!)\n"
        "edit_complaint(reference!, subject, state: open|done)\ncomplaints_list(state_filter, created_by)\n"
        "scrub_complaint(reference!) -- Removes it.",
        "reference",
        {"subject": "S", "created_by": "me"},
        {"state": "done"},
        {"state_filter": "done", "created_by": "me"},
    ),
    "what is not wanted": (
        "add_lead(name!, stage: cold|warm)\nget_lead(lead_id!)\nupdate_lead(lead_id!, stage: cold|warm)\n"
        "list_leads(exclude_stage, not_name)\ndelete_lead(lead_id!)",
        "lead_id",
        {"name": "N", "stage": "cold"},
        {"stage": "warm"},
        {"exclude_stage": "cold", "not_name": "M"},
    ),
    "made by a step, as elimination says": (
        "dispatch_job(name!, lane) -- Dispatches a job. Returns the job's number.\njob_info(number!: int)\n"
        "alter_job(number!: int, lane)\njobs(lane)\njob_remove(number!: int)",
        "number",
        {"name": "N", "lane": "a"},
        {"lane": "b"},
        {"lane": "b"},
    ),
    "no nouns, rare verbs": (
        "jot(body!, topic) -- Jot down a note.\nrecall(note_id!) -- Recall one note.\n"
        "amend(note_id!, topic) -- Amend a note.\nsurvey(topic) -- Lists notes.\nbin(note_id!) -- Bin a note.",
        "note_id",
        {"body": "B", "topic": "a"},
        {"topic": "b"},
        {"topic": "b"},
    ),
    "entities": (
        "saveEntityBook(entity!: {title!, shelf}) -- Persist a new book.\nfindBookById(id!: int)\n"
        "mergeBook(id!: int, entity!: {title, shelf})\nfindAllBooks(shelf)\ndeleteBookById(id!: int)",
        "id",
        {"entity": {"title": "T", "shelf": "a"}},
        {"entity": {"shelf": "b"}},
        {"shelf": "b"},
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_thing_lives_from_created_to_gone_whatever_the_style(style, client_of, naive):
    text, key, made, changes, match = STYLES[style]
    call = client_of(text)
    create, get, update, find, delete = call.tools
    one, two = (naive.find_id(call(create, **made), key) for _ in range(2))
    assert naive.holds(call(get, **{key: one}), made)
    call(update, **{key: one}, **changes)
    values = [value for _, value in naive.leaves(call(find, **match))]
    assert one in values
    assert two not in values
    call(delete, **{key: one})
    assert call.error(get, **{key: one})[0] == "not_found"
    values = [value for _, value in naive.leaves(call(find))]
    assert one not in values
    assert two in values


def test_where_all_tools_work_is_no_thing_that_they_work_on(client_of):
    call = client_of(
        """
        vcs_status(repo_path!) -- Shows the working tree status
        vcs_diff(repo_path!, target!) -- Shows differences
        vcs_add(repo_path!, files!: [str]) -- Adds file contents to the staging area
        vcs_reset(repo_path!) -- Unstages all staged changes @destructive
        vcs_log(repo_path!) -- Shows the commit logs
        vcs_show(repo_path!, revision!) -- Shows the contents of a commit
        """
    )
    assert {rule.effect for rule in call.dynamics.tools.values()} == {"opaque"}


def test_a_text_to_be_run_names_nothing(client_of):
    call = client_of(
        """
        read_query(query!) -- Execute a SELECT query
        write_query(query!) -- Execute an INSERT, UPDATE, or DELETE query
        list_tables()
        describe_table(table_name!)
        """
    )
    assert call.dynamics.tools["write_query"].effect == call.dynamics.tools["read_query"].effect == "opaque"


def test_what_is_destructive_removes_nothing_that_no_tool_makes(client_of):
    call = client_of("browser_navigate(url!) -- Go there @destructive\nbrowser_close()")
    assert call.dynamics.tools["browser_navigate"].effect == "opaque"
