import re
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from envace_sdk.errors import StoreError

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"


def test_a_role_with_the_grants_of_the_page_writes_the_ledger_and_cannot_change_it(postgresql_database, open_ledger):
    url = postgresql_database("migrated")
    (grants,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE ROLE agents LOGIN"))
        connection.execute(text(grants))
    ledger = open_ledger(url.replace("//envace@", "//agents@"))
    asked = ledger.approvals.request("r", "refund", {}, action="a")
    ledger.approvals.decide(asked.id, "approve", by="ann")
    ledger.commit("r", "a", approval=asked.id, digest=asked.digest)
    ledger.observed("r", "a", payload=1)
    assert ledger.verify().ok
    for statement in ("ALTER TABLE ledger_entries DISABLE TRIGGER ALL", "UPDATE ledger_entries SET kind = 'note'"):
        with pytest.raises(StoreError, match=r"owner|denied"), ledger.database.writing() as connection:
            connection.execute(text(statement))
    with pytest.raises(StoreError, match="denied"):
        ledger.erase("r", by="agents")
    ledger.close()
    with engine.connect() as connection:
        connection.execute(text("DROP OWNED BY agents"))
        connection.execute(text("DROP ROLE agents"))
    engine.dispose()
