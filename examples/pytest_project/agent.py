"""A shop assistant, as small as it gets: it is handed its tools, and knows nothing of where they lead."""

import urllib.request


async def order_status(call_tool, order_id, attempts=3):
    """What to tell a customer who asks for an order; a busy shop is asked again."""
    for _ in range(attempts):
        result = await call_tool("get_order", {"order_id": order_id})
        if not result.is_error:
            return f"Your order {order_id} is {result.structured_content['status'].replace('_', ' ')}."
        text = result.content[0].text
        if "Rate limit" not in text:
            return f"I could not find out: {text}"
    return "The shop is busy, please try again later."


def exchange_rate(currency):
    """Not a tool at all, but a service that somebody left in the code."""
    with urllib.request.urlopen(f"https://rates.example.com/{currency}") as response:
        return float(response.read())
