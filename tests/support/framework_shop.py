"""The tools of the guarded shop as plain functions, for any agent framework, and what was really executed."""

from guarded_desk import READS, Action, desk

ANY_REFUND = {
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 9999},
    },
    "then": "commit",
}
FORBIDDEN = {"tools": "refund_order", "then": "block", "reason": "no refunds today"}


class Shop:
    """A guarded desk and its tools. Without rules, reads run and everything else is asked about."""

    def __init__(self, folder, *rules, **options):
        self.desk = desk(folder, *(rules or [READS]), **options)

    @property
    def guard(self):
        return self.desk.guard

    @property
    def executed(self):
        return self.desk.executed

    @property
    def pending(self):
        return self.desk.ledger.approvals.pending()

    async def get_order(self, order_id: str) -> dict:
        """An order."""
        return await self._call("get_order", order_id=order_id)

    async def refund_order(self, order_id: str, amount: float) -> dict:
        """Refund an order."""
        return await self._call("refund_order", order_id=order_id, amount=amount)

    async def set_note(self, order_id: str, note: str) -> dict:
        """Write a note on an order."""
        return await self._call("set_note", order_id=order_id, note=note)

    @property
    def tools(self):
        return [self.get_order, self.refund_order, self.set_note]

    async def _call(self, tool, **arguments):
        result = await self.desk.execute(Action(tool, arguments))
        if result.is_error:
            raise RuntimeError(result.first_text)
        return result.value()

    def approve_all(self, by="ann"):
        for approval in self.pending:
            self.guard.approve(approval.id, by=by)

    def kinds(self, run):
        return [entry.kind for entry in self.desk.ledger.entries(run)]

    @property
    def runs(self):
        return [run for run in self.desk.ledger.runs() if "/" not in run]
