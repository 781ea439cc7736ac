"""Names with two verbs, and verbs that mean something else than they mostly do."""

import pytest

from envace_sdk.world.infer import infer

USERS = "create_user(name!, email)\nget_user(user_id!)\nlist_users()\n"
MESSAGES = "send_message(text!, topic)\nget_message(message_id!)\nlist_messages()\n"
FILES = "write_file(path!, content!)\nread_file(path!)\n"


@pytest.mark.parametrize("name", ["find_or_create_user", "get_or_create_user", "fetch_or_create_user", "ensure_user"])
def test_what_is_found_is_not_made_again_nor_changed(name, client_of):
    call = client_of(f"{USERS}{name}(email!, name)")
    one = call(name, email="a@x.org", name="Ada")
    assert call(name, email="a@x.org", name="Eve") == one
    assert call(name, email="b@x.org")["user_id"] != one["user_id"]
    assert call("get_user", user_id=one["user_id"])["name"] == "Ada"
    assert len(call("list_users")["users"]) == 2


def test_one_is_kept_for_each_owner(client_of):
    call = client_of(f"{USERS}get_or_create_cart(user_id!)\nget_cart(cart_id!)")
    first = call("get_or_create_cart", user_id="u1")
    assert call("get_or_create_cart", user_id="u1") == first
    assert call("get_or_create_cart", user_id="u2") != first


@pytest.mark.parametrize("name", ["fetch_and_delete_message", "get_and_remove_message", "read-then-delete-message"])
def test_what_is_fetched_and_deleted_is_shown_and_gone(name, client_of):
    call = client_of(f"{MESSAGES}{name}(message_id!)")
    one = call("send_message", text="hi")["message_id"]
    assert call(name, message_id=one)["text"] == "hi"
    assert call.error("get_message", message_id=one)[0] == "not_found"


def test_find_and_purge_removes_only_what_matches(client_of):
    call = client_of(f"{MESSAGES}find_and_purge_messages(topic) -- Deletes all matching. @destructive")
    for text, topic in (("a", "x"), ("b", "y"), ("c", "x")):
        call("send_message", text=text, topic=topic)
    call("find_and_purge_messages", topic="x")
    assert [found["text"] for found in call("list_messages")["messages"]] == ["b"]
    call("find_and_purge_messages")
    assert call("list_messages")["messages"] == []


def test_what_destroys_is_no_search(tools_of):
    tools = tools_of(f"{MESSAGES}find_messages(topic) @destructive")
    tools[-1].definition["annotations"]["readOnlyHint"] = False
    assert infer(tools).tools["find_messages"].effect == "opaque"


@pytest.mark.parametrize("name", ["append_file", "append_to_file", "file_append"])
def test_text_is_appended_to_what_is_there(name, client_of):
    call = client_of(f"{FILES}{name}(path!, content!)")
    call("write_file", path="/a", content="one")
    call(name, path="/a", content=" two")
    assert call("read_file", path="/a")["content"] == "one two"
    call(name, path="/b", content="new")
    assert call("read_file", path="/b")["content"] == "new"


def test_text_is_put_before_what_is_there(client_of):
    call = client_of(f"{FILES}prepend_file(path!, content!)")
    call("write_file", path="/a", content="one")
    call("prepend_file", path="/a", content="zero ")
    assert call("read_file", path="/a")["content"] == "zero one"


@pytest.mark.parametrize("verb", ["validate", "verify", "check"])
def test_looking_a_thing_over_writes_nothing(verb, client_of):
    call = client_of(
        f"create_order(customer!)\nget_order(order_id!)\nupdate_order(order_id!, customer)\n{verb}_order(order_id!)"
    )
    one = call("create_order", customer="amy")["order_id"]
    before = call.state
    call.answer(f"{verb}_order", order_id=one)
    assert call.state is before


def test_what_is_told_to_be_marked_is_written(tools_of):
    rules = infer(
        tools_of(
            """
            create_order(customer!)
            get_order(order_id!)
            list_orders(status: open|verified)
            verify_order(order_id!) -- Marks the order as verified.
            """
        )
    ).tools
    assert rules["verify_order"].effect == "update"


@pytest.mark.parametrize("name", ["show_hide_widget", "show_or_hide_widget", "enable_disable_widget"])
def test_a_verb_and_its_opposite_set_what_they_are_given(name, client_of):
    call = client_of(f"create_widget(title!)\nget_widget(widget_id!)\n{name}(widget_id!, visible!: bool)")
    one = call("create_widget", title="w")["widget_id"]
    call(name, widget_id=one, visible=False)
    assert call("get_widget", widget_id=one)["visible"] is False


@pytest.mark.parametrize(
    "tool", ["list_item_for_sale(title!, price!: num)", "list_item(title!, price!: num) -- Lists an item for sale."]
)
def test_to_list_for_sale_is_to_make(tool, client_of):
    call = client_of(f"{tool}\nget_item(item_id!)")
    name = tool.partition("(")[0]
    one = call(name, title="Chair", price=3)["item_id"]
    assert call("get_item", item_id=one)["title"] == "Chair"


def test_a_value_is_incremented_in_place(client_of):
    call = client_of("set_value(key!, value!: num)\nget_value(key!)\nlist_keys()\nincrement_value(key!, by: int)")
    call("set_value", key="a", value=4)
    call("increment_value", key="a", by=3)
    assert call("get_value", key="a")["value"] == 7
    call("increment_value", key="a")
    assert call("get_value", key="a")["value"] == 8


@pytest.mark.parametrize(
    ("tool", "status"),
    [("check_in_guest", "checked_in"), ("checkout_guest", "checked_out")],
)
def test_statuses_are_english(tool, status, client_of):
    call = client_of(
        f"create_guest(name!)\nget_guest(guest_id!)\nlist_guests(status)\ndelete_guest(guest_id!)\n{tool}(guest_id!)"
    )
    one = call("create_guest", name="Ito")["guest_id"]
    call(tool, guest_id=one)
    assert call("get_guest", guest_id=one)["status"] == status
