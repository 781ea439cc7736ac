import asyncio
import json

from envace_sdk.errors import ToolCallError
from envace_sdk.inprocess import RehearsedTools

tools = RehearsedTools.load("retail", seed=3)
order_id = next(iter(tools.state.collection("orders")))
customer_id = next(iter(tools.state.collection("customers")))


async def main() -> None:
    get_order = tools["get_order"]
    order = await get_order(order_id=order_id)
    print(order["order_id"], order["status"])

    functions = tools.openai()  # or tools.openai("responses")
    arguments = json.dumps({"order_id": order_id})
    call = {"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": arguments}}
    message = await functions.execute(call)
    print(len(functions.specs), "functions; answered:", json.loads(message["content"])["status"])


asyncio.run(main())

tools.switch_faults("read-only")
update_contact = tools.sync("update_contact")
try:
    update_contact(customer_id=customer_id, email="new@example.com")
except ToolCallError as error:
    print(error)

print([(call.call.name, call.rehearsal.outcome) for call in tools.calls])
