"""Arguments that ask what a call would do."""

import pytest

from envace_sdk.world.infer import infer

TOOLS = """
create_order(customer!, {flag}: bool)
get_order(order_id!)
list_orders()
update_order(order_id!, customer, {flag}: bool)
delete_order(order_id!, {flag}: bool)
delete_orders(order_ids!: [str], {flag}: bool)
"""


@pytest.mark.parametrize("flag", ["dry_run", "dryRun", "preview", "preview_only", "validate_only", "simulate"])
@pytest.mark.parametrize("by", ["rules alone", "the whole ladder"])
def test_a_dry_run_writes_nothing(flag, by, client_of, ladder_of):
    call = (client_of if by == "rules alone" else ladder_of)(TOOLS.format(flag=flag))
    one = call("create_order", customer="amy")["order_id"]
    before = call("list_orders")
    tried = {flag: True}
    assert call("create_order", customer="bo", **tried)["customer"] == "bo"
    assert call("update_order", order_id=one, customer="bo", **tried)["customer"] == "bo"
    call("delete_order", order_id=one, **tried)
    call("delete_orders", order_ids=[one], **tried)
    assert call.error("delete_order", order_id="none", **tried)[0] == "not_found"
    assert call("list_orders") == before
    assert flag not in str(before)
    call("update_order", order_id=one, customer="bo", **{flag: False})
    assert call("get_order", order_id=one)["customer"] == "bo"
    call("delete_order", order_id=one)
    assert call.error("get_order", order_id=one)[0] == "not_found"


def test_a_dry_run_by_default_is_one_unless_told_otherwise(client_of):
    call = client_of("create_order(customer!)\nget_order(order_id!)\ndelete_order(order_id!, dry_run: bool = true)")
    one = call("create_order", customer="amy")["order_id"]
    call("delete_order", order_id=one)
    call("get_order", order_id=one)
    call("delete_order", order_id=one, dry_run=False)
    assert call.error("get_order", order_id=one)[0] == "not_found"


def test_tools_that_only_look_need_no_such_rule(tools_of):
    assert infer(tools_of("create_order(customer!)\nlist_orders(preview: bool)")).tools["list_orders"].unless is None
