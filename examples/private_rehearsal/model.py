"""Stands for a language model, so that the example runs offline: it answers by what stands in its prompt."""

from __future__ import annotations

import json
import re

from envace_sdk.models import ScriptedModel
from envace_sdk.models.model import Message, Request

WANTED = ("RIDGEWALK15", "FIRSTFROST")
"""The customer's vouchers, in the order of preference."""
ORDER = "TT-26-04131"
_NOT_HIS = r"Voucher (\w+) is for"


def scripted_model() -> ScriptedModel:
    """Tries the vouchers in order, but for those that its prompt says were refused."""
    return ScriptedModel(_answer)


def _answer(request: Request) -> str:
    messages = request.messages or ()
    refused = {code for message in messages for code in re.findall(_NOT_HIS, message.content)}
    results = [message for message in messages if message.role == "tool"]
    if not results:
        return _calling("get_order", order_id=ORDER)
    if len(results) > 1 and (done := _done(results[-1])):
        return done
    left = [code for code in WANTED if code not in refused]
    gives_up = len(results) > 1 and not re.search(_NOT_HIS, results[-1].content)
    if not left or gives_up:
        return json.dumps({"answer": "I am sorry: no voucher is on the order."})
    return _calling("apply_voucher", order_id=ORDER, voucher_code=left[0])


def _done(result: Message) -> str:
    try:
        order = json.loads(result.content)
    except ValueError:  # an error is told in words
        return ""
    total = order["totals"]["total"]
    return json.dumps({"answer": f"{order['voucher_code']} is on your order; the total is {total} EUR."})


def _calling(tool: str, **arguments: str) -> str:
    return json.dumps({"tool": tool, "arguments": arguments})
