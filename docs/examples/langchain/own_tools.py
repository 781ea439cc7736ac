"""Tools of one's own before the guard: what they are is taken from LangChain, what they do is a guess or a file."""

import tempfile
from pathlib import Path

from envace_sdk.integrations.langchain import GuardedTool
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from envace_sdk import Environment, Toolset
from envace_sdk.errors import ApprovalRequired
from envace_sdk.guard import Guard, parse_policy
from envace_sdk.ledger import Ledger

POLICY = """
rules:
  - name: invoices are read
    tools: get_invoice
    arguments: {invoice_id: {type: string, pattern: "^I-[0-9]+$"}}
    then: commit
"""


@tool
def get_invoice(invoice_id: str) -> str:
    """Look an invoice up."""
    return f"{invoice_id}: 80 EUR"


@tool
def delete_invoice(invoice_id: str) -> str:
    """Delete an invoice."""
    return f"{invoice_id} is deleted"


tools = [get_invoice, delete_invoice]
toolset = Toolset.from_document([convert_to_openai_tool(one) for one in tools], name="billing")
ledger = Ledger.open(Path(tempfile.mkdtemp()) / "ledger.db")
guard = Guard(Environment(toolset), ledger, parse_policy(POLICY))

read, delete = [GuardedTool(one, guard) for one in tools]
print(read.invoke({"invoice_id": "I-1"}))
try:
    delete.invoke({"invoice_id": "I-1"})
except ApprovalRequired as pause:
    print("asked:", pause.payload["tool"], pause.payload["risk"])
ledger.close()
