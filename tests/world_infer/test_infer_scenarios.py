"""Toolsets that do more than the common story: lists in things, life cycles, many at once, pages, declared shapes."""

import pytest


def test_labels_comments_and_states_of_an_issue(client_of):
    call = client_of(
        """
        create_issue(title!, body)
        get_issue(issue_number!: int)
        add_comment(issue_number!: int, body!, author)
        add_label_to_issue(issue_number!: int, label!)
        remove_label_from_issue(issue_number!: int, label!)
        close_issue(issue_number!: int)
        reopen_issue(issue_number!: int)
        list_issues(state: open|closed, label)
        delete_issue(issue_number!: int)
        """
    )
    key = {"issue_number": call("create_issue", title="A")["issue_number"]}
    assert isinstance(key["issue_number"], int)
    call("add_label_to_issue", **key, label="bug")
    call("add_label_to_issue", **key, label="bug")
    assert call("get_issue", **key)["labels"] == ["bug"]
    assert call("list_issues", label="bug")["total"] == 1
    assert call("list_issues", label="docs")["total"] == 0
    call("add_comment", **key, body="hi")
    assert call("get_issue", **key)["comments"] == [{"body": "hi", "author": None}]
    call("remove_label_from_issue", **key, label="bug")
    assert call("get_issue", **key)["labels"] == []
    call("close_issue", **key)
    assert call("list_issues", state="closed")["total"] == 1
    call("reopen_issue", **key)
    assert call("list_issues", state="open")["total"] == 1
    call("delete_issue", **key)
    for tool, more in (("close_issue", {}), ("add_comment", {"body": "x"}), ("add_label_to_issue", {"label": "x"})):
        assert call.error(tool, **key, **more)[0] == "not_found"


def test_comments_that_are_listed_are_things_of_their_own(client_of):
    call = client_of(
        """
        create_post(title!)
        get_post(post_id!)
        add_comment(post_id!, text!)
        list_comments(post_id!)
        delete_comment(comment_id!)
        """
    )
    one, two = (call("create_post", title=title)["post_id"] for title in "ab")
    key = call("add_comment", post_id=one, text="t")["comment_id"]
    assert call("list_comments", post_id=one)["total"] == 1
    assert call("list_comments", post_id=two)["total"] == 0
    call("delete_comment", comment_id=key)
    assert call("list_comments", post_id=one)["total"] == 0


def test_items_in_a_cart(client_of):
    call = client_of(
        """
        create_cart(customer)
        get_cart(cart_id!)
        add_item_to_cart(cart_id!, sku!, quantity: int = 1)
        remove_item_from_cart(cart_id!, sku!)
        """
    )
    key = call("create_cart", customer="a")["cart_id"]
    call("add_item_to_cart", cart_id=key, sku="s", quantity=2)
    call("add_item_to_cart", cart_id=key, sku="t")
    assert call("get_cart", cart_id=key)["items"][0] == {"sku": "s", "quantity": 2}
    call("remove_item_from_cart", cart_id=key, sku="s")
    assert [item["sku"] for item in call("get_cart", cart_id=key)["items"]] == ["t"]


def test_members_of_teams_are_keyed_by_both(client_of):
    call = client_of(
        """
        create_team(name!)
        get_team(team_id!)
        add_member_to_team(team_id!, user_id!, role)
        remove_member_from_team(team_id!, user_id!)
        list_team_members(team_id!)
        """
    )
    one, two = (call("create_team", name=name)["team_id"] for name in "ab")
    call("add_member_to_team", team_id=one, user_id="u", role="lead")
    call("add_member_to_team", team_id=two, user_id="u")
    call("remove_member_from_team", team_id=one, user_id="u")
    assert call("list_team_members", team_id=one)["total"] == 0
    assert call("list_team_members", team_id=two)["total"] == 1


def test_settings_are_one_thing_that_changes(client_of):
    call = client_of("get_settings()\nupdate_settings(theme: light|dark, language)")
    assert call.answer("get_settings") is None
    call("update_settings", theme="dark")
    call("update_settings", language="de")
    assert {"theme": "dark", "language": "de"}.items() <= call("get_settings").items()


def test_what_nobody_makes_is_left_to_the_next_layer(client_of):
    call = client_of("get_customer(customer_id!)\nsearch_customers(query)\nupdate_customer(customer_id!, email)")
    assert call.answer("get_customer", customer_id="c") is None
    assert call.answer("update_customer", customer_id="c", email="e") is None


def test_counts_existence_and_figures(client_of):
    call = client_of(
        """
        add_task(title!, done: bool)
        list_tasks(done: bool)
        count_tasks(done: bool)
        task_exists(task_id!)
        get_task_stats()
        toggle_task(task_id!)
        """
    )
    key = call("add_task", title="a", done=True)["task_id"]
    call("add_task", title="b", done=False)
    assert call("count_tasks", done=True) == {"count": 1}
    assert call("count_tasks") == {"count": 2}
    assert call("task_exists", task_id=key) == {"exists": True}
    assert call("task_exists", task_id="nope") == {"exists": False}
    assert call("get_task_stats")["total"] == 2
    assert call("toggle_task", task_id=key)["done"] is False


def test_declared_shapes_are_kept(client_of):
    call = client_of(
        """
        create_order(sku!, qty!: int, note) => {order!: {id!, sku!, qty!: int, status!: open|shipped}}
        get_order(order_id!) => {order!: {id!, sku!, qty!: int, status!: open|shipped}}
        ship_order(order_id!) => {order!: {id!, sku!, qty!: int, status!: open|shipped}, success!: bool}
        list_orders(status: open|shipped, cursor) => {orders!: [{id!, sku!, status!}], total_count!: int, next_cursor}
        delete_order(order_id!) => {deleted!: bool, id!}
        """
    )
    order = call("create_order", sku="a", qty=1, note="n")["order"]
    assert order == {"id": order["id"], "sku": "a", "qty": 1, "status": "open"}
    assert call("get_order", order_id=order["id"]) == {"order": order}
    shipped = call("ship_order", order_id=order["id"])
    assert shipped == {"order": {**order, "status": "shipped"}, "success": True}
    listed = call("list_orders", status="shipped")
    item = {"id": order["id"], "sku": "a", "status": "shipped"}
    assert listed == {"orders": [item], "total_count": 1, "next_cursor": None}
    assert call("delete_order", order_id=order["id"]) == {"deleted": True, "id": order["id"]}
    assert call.error("get_order", order_id=order["id"])[0] == "not_found"


def test_many_at_once(client_of):
    call = client_of(
        """
        create_items(items!: [{name!, kind}])
        get_items(ids!: [str])
        update_items(ids!: [str], kind!)
        delete_items(ids!: [str])
        list_items(kind)
        get_item(id!)
        """
    )
    made = call("create_items", items=[{"name": "a", "kind": "k"}, {"name": "b"}])["items"]
    ids = [item["id"] for item in made]
    assert [item["name"] for item in made] == ["a", "b"]
    assert [item["name"] for item in call("get_items", ids=ids[:1])["items"]] == ["a"]
    call("update_items", ids=ids, kind="z")
    assert call("list_items", kind="z")["total"] == 2
    call("delete_items", ids=ids[:1])
    assert call.error("get_item", id=ids[0])[0] == "not_found"
    assert call("list_items")["total"] == 1


def test_a_graph_made_and_removed_in_lists(client_of):
    call = client_of(
        """
        create_entities(entities!: [{name!, entityType!, observations!: [str]}])
        create_relations(relations!: [{from!, to!, relationType!}])
        delete_entities(entityNames!: [str])
        delete_relations(relations!: [{from!, to!, relationType!}])
        search_entities(query!)
        open_entities(names!: [str])
        list_relations()
        """
    )
    call("create_entities", entities=[{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}])
    assert call("open_entities", names=["Ada"])["entities"][0]["entityType"] == "person"
    assert call("search_entities", query="tea")["total"] == 1
    relation = {"from": "Ada", "to": "Bob", "relationType": "knows"}
    call("create_relations", relations=[relation])
    assert call("list_relations")["total"] == 1
    call("delete_relations", relations=[relation])
    assert call("list_relations")["total"] == 0
    call("delete_entities", entityNames=["Ada"])
    assert call("search_entities", query="tea")["total"] == 0


def test_pages_and_orders(client_of):
    call = client_of(
        """
        create_note(title!, rank!: int)
        list_notes(page: int = 1, per_page: int = 2, sort_by: title|rank|created, order: asc|desc)
        find_notes(text, max_results: int, cursor)
        get_note(note_id!)
        """
    )
    for rank, title in enumerate("cab"):
        call("create_note", title=title, rank=rank)

    def titles(**arguments):
        return "".join(note["title"] for note in call("list_notes", **arguments)["notes"])

    assert [titles(), titles(page=2), titles(per_page=3, sort_by="title")] == ["ca", "b", "abc"]
    assert titles(per_page=3, sort_by="rank", order="desc") == "bac"
    assert titles(per_page=3, sort_by="created", order="desc") == "bac"
    first = call("find_notes", max_results=2)
    rest = call("find_notes", max_results=2, cursor=first["next_cursor"])
    assert [len(first["notes"]), len(rest["notes"]), rest["next_cursor"]] == [2, 1, None]


def test_descriptions_say_what_is_returned(client_of):
    call = client_of(
        """
        create_job(name!) -- Creates a job. Returns the id of the new job.
        list_jobs() -- Returns an array of jobs.
        find_jobs(q) -- Finds jobs. Returns {"results": [...]}.
        get_job(job_id!)
        """
    )
    made = call("create_job", name="a")
    assert list(made) == ["job_id"]
    assert call("list_jobs") == [call("get_job", **made)]
    assert call("find_jobs", q="a")["results"] == [call("get_job", **made)]


def test_a_thing_is_found_by_its_id_or_its_name(client_of):
    call = client_of(
        """
        create_project(name!, lead)
        get_project(id_or_name!)
        list_projects()
        """
    )
    made = call("create_project", name="P")
    for key in ("P", made["id_or_name"]):
        assert call("get_project", id_or_name=key) == made
    assert call.error("get_project", id_or_name="Q") == ("not_found", "Project 'Q' not found")


def test_a_thing_is_found_by_another_field(client_of):
    call = client_of("create_user(email!)\nget_user(user_id!)\nfind_user_by_email(email!)\ndelete_user(user_id!)")
    key = call("create_user", email="a@x")["user_id"]
    assert call("find_user_by_email", email="a@x")["user_id"] == key
    assert call.error("find_user_by_email", email="b@x") == ("not_found", "User 'b@x' not found")


def test_a_call_may_name_the_field_it_sets(client_of):
    call = client_of(
        "create_contact(name!, phone, city)\nget_contact(contact_id!)\n"
        "set_contact_field(contact_id!, field!: name|phone|city, value!)"
    )
    key = call("create_contact", name="A")["contact_id"]
    call("set_contact_field", contact_id=key, field="city", value="Rome")
    found = call("get_contact", contact_id=key)
    assert (found["city"], found["name"]) == ("Rome", "A")


def test_copies_have_keys_of_their_own(client_of):
    call = client_of("create_form(title!, body)\nduplicate_form(form_id!, title)\nget_form(form_id!)")
    first = call("create_form", title="A", body="b")
    copy = call("duplicate_form", form_id=first["form_id"], title="C")
    assert copy["form_id"] != first["form_id"]
    assert (copy["title"], copy["body"]) == ("C", "b")
    assert call.error("duplicate_form", form_id="x")[0] == "not_found"


def test_a_rename_moves_a_thing_to_its_new_key(client_of):
    call = client_of(
        """
        create_folder(path!, color)
        get_folder(path!)
        move_folder(source!, destination!)
        rename_folder(path!, new_path!)
        """
    )
    call("create_folder", path="/a", color="red")
    call("move_folder", source="/a", destination="/b")
    assert call.error("get_folder", path="/a")[0] == "not_found"
    call("rename_folder", path="/b", new_path="/c")
    assert call("get_folder", path="/c")["color"] == "red"


def test_flags_and_searches_that_include_or_single_them_out(client_of):
    call = client_of(
        """
        create_doc(title!)
        get_doc(doc_id!)
        archive_doc(doc_id!)
        unarchive_doc(doc_id!)
        star_doc(doc_id!)
        list_docs(include_archived: bool, starred_only: bool)
        """
    )
    one, two = (call("create_doc", title=title)["doc_id"] for title in "ab")
    call("archive_doc", doc_id=one)
    assert call("list_docs")["total"] == 1
    assert call("list_docs", include_archived=True)["total"] == 2
    call("unarchive_doc", doc_id=one)
    call("star_doc", doc_id=two)
    assert call("list_docs", starred_only=True)["total"] == 1


def test_numbers_go_up_and_down(client_of):
    call = client_of(
        """
        open_account(owner!, balance: num)
        get_account(account_id!)
        deposit(account_id!, amount!: num)
        withdraw(account_id!, amount!: num)
        adjust_account_balance(account_id!, delta!: num)
        """
    )
    key = call("open_account", owner="a", balance=10)["account_id"]
    call("deposit", account_id=key, amount=5)
    call("withdraw", account_id=key, amount=2)
    call("adjust_account_balance", account_id=key, delta=-1)
    assert call("get_account", account_id=key)["balance"] == 12


def test_things_of_others_are_listed_by_them(client_of):
    call = client_of(
        """
        create_customer(name!)
        get_customer(customer_id!)
        create_invoice(customer_id!, total: num)
        get_invoice(invoice_id!)
        get_customer_invoices(customer_id!)
        list_invoices(customer)
        """
    )
    key = call("create_customer", name="A")["customer_id"]
    call("create_invoice", customer_id=key, total=4)
    call("create_invoice", customer_id="other")
    assert call("get_customer_invoices", customer_id=key)["total"] == 1
    assert call("list_invoices", customer=key)["total"] == 1


def test_tools_named_after_what_they_set(client_of):
    call = client_of(
        """
        create_ticket(title!)
        create_agent(name!)
        get_ticket(ticket_id!)
        assign_agent(ticket_id!, agent_id!)
        unassign_ticket(ticket_id!)
        list_tickets(agent_id)
        list_agents()
        escalate(ticket_id!, level!: int)
        set_priority(ticket_id!, priority!: low|high)
        """
    )
    key = {"ticket_id": call("create_ticket", title="a")["ticket_id"]}
    call("assign_agent", **key, agent_id="g")
    call("set_priority", **key, priority="high")
    call("escalate", **key, level=2)
    assert {"agent_id": "g", "priority": "high", "level": 2}.items() <= call("get_ticket", **key).items()
    assert call("list_tickets", agent_id="g")["total"] == 1


@pytest.mark.parametrize("verb", ["complete", "finish", "mark_done"])
def test_a_flag_that_a_search_knows_is_the_one_a_verb_sets(client_of, verb):
    name = "mark_todo_done" if verb == "mark_done" else f"{verb}_todo"
    call = client_of(f"add_todo(text!)\nget_todo(todo_id!)\nlist_todos(completed: bool)\n{name}(todo_id!)")
    key = call("add_todo", text="a")["todo_id"]
    assert call("list_todos", completed=False)["total"] == 1
    call(name, todo_id=key)
    assert call("list_todos", completed=True)["total"] == 1
