"""Arguments that say what a field was: they are no key, and no field."""

import pytest

FILES = "write_file(path!, content!)\nread_file(path!)\ndelete_file(path!)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("old_string", "new_string"), ("old_text", "new_text"), ("oldText", "newText"), ("old_str", "new_str"),
     ("find", "replace")],
)  # fmt: skip
def test_a_text_is_replaced_inside_the_one_that_the_path_names(old, new, client_of):
    call = client_of(f"{FILES}edit_file(path!, {old}!, {new}!, replace_all: bool)")
    call("write_file", path="/a", content="hello hello x")
    call("edit_file", path="/a", **{old: "hello", new: "bye"})
    assert call("read_file", path="/a")["content"] == "bye hello x"
    call("edit_file", path="/a", replace_all=True, **{old: "l", new: "L"})
    assert call("read_file", path="/a")["content"] == "bye heLLo x"
    assert set(call("read_file", path="/a")) & {old, new} == set()
    assert call.error("edit_file", path="/a", **{old: "gone", new: "y"})[0] == "validation_error"
    assert call.error("edit_file", path="/b", **{old: "hello", new: "y"}) == ("not_found", "File '/b' not found")


def test_what_a_field_was_is_neither_key_nor_field(client_of):
    call = client_of(
        """
        create_user(name!, password, email)
        get_user(user_id!)
        change_password(user_id!, old_password!, new_password!)
        update_user_email(user_id!, old_email!, new_email!)
        """
    )
    one = call("create_user", name="Ada", password="a", email="a@x.org")["user_id"]
    call("change_password", user_id=one, old_password="a", new_password="b")
    call("update_user_email", user_id=one, old_email="a@x.org", new_email="b@x.org")
    seen = call("get_user", user_id=one)
    assert (seen["password"], seen["email"]) == ("b", "b@x.org")
    assert not {name for name in seen if name.startswith(("old", "new"))}


def test_an_address_that_no_maker_gives_is_kept_under_its_own_name(client_of):
    call = client_of("create_user(name!)\nget_user(user_id!)\nupdate_user_email(user_id!, old_email!, new_email!)")
    one = call("create_user", name="Ada")["user_id"]
    call("update_user_email", user_id=one, old_email="a@x.org", new_email="b@x.org")
    seen = call("get_user", user_id=one)
    assert seen["email"] == "b@x.org"
    assert not {name for name in seen if name.startswith(("old", "new"))}


@pytest.mark.parametrize(
    ("old", "new"), [("source", "destination"), ("old_path", "new_path"), ("from_path", "to_path")]
)
def test_a_key_that_changes_still_moves_the_thing(old, new, client_of):
    call = client_of(f"{FILES}move_file({old}!, {new}!)")
    call("write_file", path="/a", content="x")
    call("move_file", **{old: "/a", new: "/b"})
    assert call("read_file", path="/b")["content"] == "x"
    assert call.error("read_file", path="/a")[0] == "not_found"
