import json
from pathlib import Path
from tempfile import TemporaryDirectory

from envace_sdk import Recording

span = {
    "name": "execute_tool get_order",
    "context": {"trace_id": "0x5b8e", "span_id": "0x01"},
    "start_time": "2026-01-01T09:00:00.000000Z",
    "status": {"status_code": "UNSET"},
    "attributes": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.arguments": '{"order_id": "A1"}',
        "gen_ai.tool.call.result": '{"order_id": "A1", "status": "open"}',
    },
}

folder = TemporaryDirectory()
traces = Path(folder.name) / "traces.jsonl"
traces.write_text(json.dumps(span) + '\n{"name": "execute_tool cut_')

recording = Recording.load(traces)
for episode, calls in recording.episodes.items():
    for call in calls:
        print(episode, call.tool, call.arguments, "->", call.result, "error" if call.is_error else "")
for finding in recording.findings:
    print("left out:", finding.line, finding.message)

recording = Recording()
recording.add("place_order", {"item": "tent"}, {"order_id": "A1", "status": "open"})
recording.add("cancel_order", {"order_id": "A1"}, "Order A1 cancelled")
recording.add("cancel_order", {"order_id": "A1"}, "A1 is cancelled already", is_error=True)
recording.add("get_order", {"order_id": "Z9"}, "No order Z9", is_error=True, episode="another session")
recording.save(Path(folder.name) / "orders.jsonl")
print(recording)
