"""What must be true of the file workspace at any time: paths agree with places, dockets are whole, limits are kept."""

from collections import Counter
from datetime import datetime, timedelta

from envace_sdk.world.state import State


def check_house(state: State) -> None:
    areas, members = (dict(state.collection(name).items()) for name in ("areas", "members"))
    folders, files = (dict(state.collection(name).items()) for name in ("folders", "files"))
    for path, folder in folders.items():
        above = path.rpartition("/")[0]
        assert folder["path"] == path
        assert folder["parent"] == (above or None)
        assert folder["parent"] is None or above in folders
        assert folder["area"] == path.split("/")[1]
        assert path.count("/") <= 5
        assert folder["created_by"] in members
    history = Counter()
    for version in state.collection("versions").values():
        history[version["docket"]] += 1
        assert version["characters"] == len(version["content"])
    trash = list(state.collection("trash").values())
    kept = [entry["file"] for entry in trash if entry["status"] == "kept"]
    dockets = [document["docket"] for document in [*files.values(), *kept]]
    assert len(set(dockets)) == len(dockets)
    assert set(history) <= set(dockets)
    for document in [*files.values(), *kept]:
        above, _, name = document["path"].rpartition("/")
        assert document["folder"] == above
        assert document["area"] == above.split("/")[1]
        assert document["kind"] == {"md": "markdown", "txt": "text", "csv": "table"}[name.rpartition(".")[2]]
        assert document["characters"] == len(document["content"]) <= 12000
        assert document["version"] == history[document["docket"]] + 1
        assert document["created_at"] <= document["updated_at"]
        assert {document["created_by"], document["updated_by"]} <= set(members)
        if document["kind"] == "table":
            rows = [row for row in document["content"].split("\n") if row]
            assert len({row.count(",") for row in rows}) == 1, document["path"]
    for path, document in files.items():
        assert document["path"] == path
        assert document["folder"] in folders
    for name, area in areas.items():
        assert sum(f["characters"] for f in files.values() if f["area"] == name) <= area["quota_characters"]
        assert {area["keeper"], *area["editors"], *area["proofreaders"]} <= set(members)
        assert area["keeper"] not in area["editors"]
    for entry in trash:
        until = datetime.fromisoformat(entry["deleted_at"]) + timedelta(days=30)
        assert entry["purge_on"] == until.date().isoformat()
        assert (entry["restored_to"] is None) == (entry["status"] == "kept")
        assert all(entry[name] == entry["file"][name] for name in ("path", "docket", "area", "kind", "characters"))
    locks = [
        f["lock"] for f in files.values() if f["lock"] and datetime.fromisoformat(f["lock"]["until"]) > state.clock
    ]
    assert max(Counter(lock["by"] for lock in locks).values(), default=0) <= 3
    shares = [s for s in state.collection("shares").values() if datetime.fromisoformat(s["expires_at"]) > state.clock]
    for share in shares:
        lasts = datetime.fromisoformat(share["expires_at"]) - datetime.fromisoformat(share["created_at"])
        assert timedelta(days=1) <= lasts <= timedelta(days=30)
        assert not areas[files[share["path"]]["area"]]["confidential"]
    assert max(Counter(s["path"] for s in shares).values(), default=0) <= 4
    assert len({(s["path"], s["recipient"].lower()) for s in shares}) == len(shares)
