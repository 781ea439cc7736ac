"""What general verbs mean to a collection of things, whatever the things are.

A verb may have several senses; a tool's arguments, description and siblings decide between them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from .words import bag, base_verbs

__all__ = ["LOOKS", "Sense", "is_half_nounish", "is_nounish", "known", "leading", "only_computes", "opposite", "senses"]


Sense = Literal[
    "create",  # makes a new entity
    "add",  # makes a new entity, or puts something into a list of one that is there
    "copy",  # makes a new entity from one that is there
    "read",  # answers one
    "search",  # answers many
    "update",  # changes given fields
    "put",  # writes, whether or not it is there
    "state",  # a step of a life cycle: the participle becomes a status
    "flag",  # a yes-no property: the participle becomes a flag
    "end",  # a last step: a status where there are such, else removal
    "increase",
    "decrease",
    "remove",  # takes away an entity, or something from a list of one
    "delete",
    "count",
    "exists",
    "compute",  # derives something that is not kept
]

LOOKS: frozenset[Sense] = frozenset({"read", "search", "count", "exists", "compute"})
"""Senses that change nothing."""

_SENSES: dict[Sense, str] = {
    "create": "create new insert register enroll enrol enlist compose draft make book schedule file log submit issue "
    "place start launch post send publish upload import hire invite reserve record request raise report generate build "
    "provision open plan define declare establish setup introduce capture begin initiate init initialize spawn mint "
    "onboard admit enter signup buy purchase order acquire write save store note reply comment plant produce "
    "instantiate bootstrap found host organize organise arrange allocate propose tell announce broadcast deposit "
    "collect adopt track contribute rent borrow checkout subscribe sign apply nominate prescribe lodge jot ingest "
    "mk mkdir ins cre",
    "add": "add append attach include push prepend reply comment post attach join link enqueue log record track "
    "connect associate bind contribute vote react",
    "copy": "copy clone duplicate fork replicate",
    "read": "get fetch read show view lookup describe retrieve inspect find load display see peek examine access pull "
    "detail details info check open select consult obtain query look track search download watch recall review check",
    "search": "list search query browse find all index filter enumerate scan discover ls dir explore lookup fetch get "
    "show view retrieve read display see pull scan collect report track check lst qry",
    "update": "update edit modify patch change set adjust alter amend correct revise replace overwrite configure move "
    "rename assign unassign reassign reschedule mark transfer relocate toggle put save merge refresh tweak fix extend "
    "renew postpone snooze delay prioritize prioritise reorder rate score escalate promote demote upgrade downgrade "
    "translate relabel retitle rewrite refine customize customise override reclassify recategorize convert migrate "
    "switch adapt link unlink swap enter log record ed upd mod chg",
    "put": "put set save write store upsert overwrite ensure sync remember memorize memorise",
    "state": "open close reopen cancel complete finish resolve approve reject accept decline start stop pause resume "
    "submit publish unpublish activate deactivate confirm ship deliver dispatch return refund pay hold release suspend "
    "deploy restart begin end fail pass review verify validate acknowledge ack escalate process fulfill fulfil settle "
    "expire revert rollback void retire withdraw terminate launch execute abort archive restore undelete recover "
    "unarchive sign send receive check-in check-out checkin checkout reinstate discharge admit solve conclude issue "
    "lend borrow renew block unblock quarantine",
    "flag": "archive unarchive star unstar pin unpin flag unflag lock unlock enable disable mute unmute favorite "
    "favourite unfavorite hide unhide watch unwatch follow unfollow subscribe unsubscribe complete uncomplete verify "
    "bookmark like unlike block unblock feature ban unban freeze unfreeze done finish check uncheck tick untick read "
    "activate deactivate publish unpublish suspend acknowledge",
    "end": "cancel close void retire terminate withdraw revoke decommission expire discontinue abort dismiss end "
    "finish archive return release unsubscribe leave retract rescind repeal annul nullify abolish unlist delist evict "
    "expel oust dissolve relinquish",
    "increase": "increase increment raise bump deposit credit top-up restock",
    "decrease": "decrease decrement reduce lower debit deduct consume spend",
    "remove": "remove detach unassign unlink untag unlabel disconnect dissociate disassociate pop take unset exclude "
    "eject kick clear unbind",
    "delete": "delete remove drop destroy erase purge discard unregister deregister trash del rm kill wipe dispose "
    "eliminate forget scrap uninstall expunge clear unbook teardown throw nuke obliterate prune unset strike cross "
    "unenroll unenrol disenroll flush scratch bin recycle rem toss ditch dump zap",
    "count": "count tally total number",
    "exists": "exists exist has is contains",
    "compute": "calculate compute convert validate estimate render run execute evaluate analyze analyse summarize "
    "summarise translate compare predict forecast simulate parse format compile test ping echo export print diff "
    "suggest recommend preview quote wait sleep login logout authenticate authorize think plan solve help manage "
    "handle process do perform use call invoke sync train",
}

_PURE = bag(
    "calculate compute estimate evaluate analyze analyse summarize summarise compare predict forecast simulate parse "
    "diff suggest recommend preview quote"
)
"""Verbs of reckoning: whatever they are about, it is not changed. (Others that derive something, such as `run` and
`process`, may change much on the way.)"""

_NOUNISH = bag(
    "order list book issue file log note post record schedule view report message index archive tag label star "
    "pin track query check invoice release transfer plan store register watch document place open draft request "
    "review sort filter comment reply host guest stock charge refund address contact email text call ship table "
    "test run build close share link rate vote like follow hire rent lease offer quote bid block group import "
    "export upload download backup restore trade purchase read show set put save drop find total number count "
    "score flag hold end launch issue details detail info all file process deposit credit debit sign mint fork "
    "clone pull push use access load feature lock host plant trash bin patch play train dispatch lookup scan "
    "search browse dir summary deploy exit entry promote cross strike top lower bump found project form object "
    "model study work print format sync wait sleep help forecast estimate test diff preview merge switch swap "
    "duplicate draft tally cancel state status"
) - bag("list search find open close set put read show cancel save drop all")
"""Verbs that are also common names of things: they are the verb of a name only where nothing else in it is one."""

_HALF_NOUNISH = bag("list set open search show read find all view close put save drop cancel")
"""Usually the verb, but not against a clearer one at the other end of the name."""

_OPPOSITES = {
    "reopen": "close",
    "deactivate": "activate",
    "disable": "enable",
    "unarchive": "archive",
    "restore": "archive",
    "resume": "pause",
}


def _table() -> dict[str, tuple[Sense, ...]]:
    table: dict[str, list[Sense]] = {}
    for sense, words in _SENSES.items():
        for word in words.split():
            table.setdefault(word, []).append(sense)
    for found in table.values():
        if "end" in found:  # a last step is weighed first: it may be a status or a removal
            found.sort(key=lambda sense: sense in {"state", "flag"})
    for word, order in _ORDERS.items():
        table[word] = list(order)
    return {word: tuple(dict.fromkeys(found)) for word, found in table.items()}


_ORDERS: dict[str, tuple[Sense, ...]] = {
    "withdraw": ("decrease", "end", "state"),
    "find": ("search", "read"),
    "query": ("search", "read"),
    "search": ("search", "read"),
    "list": ("search",),
    "get": ("read", "search"),
    "open": ("create", "state", "read"),
    "set": ("update", "put"),
    "save": ("put", "create", "update"),
    "write": ("put", "create"),
    "store": ("create", "put"),
    "put": ("put", "update"),
    "check": ("read", "search", "flag", "compute"),
    "post": ("create", "add"),
    "reply": ("add", "create"),
    "comment": ("add", "create"),
    "cancel": ("end", "state"),
    "close": ("end", "state"),
    "remove": ("delete", "remove"),
    "clear": ("delete", "remove"),
    "archive": ("flag", "state", "end"),
    "track": ("create", "add", "read", "search"),
    "report": ("create", "search"),
    "collect": ("create", "search"),
    "test": ("compute",),
    "contains": ("exists",),
    "unset": ("delete", "remove"),
    "log": ("create", "add", "update"),
    "record": ("create", "add", "update"),
    "enter": ("create", "update"),
    "publish": ("create", "state", "flag"),
    "issue": ("create", "state"),
    "submit": ("create", "state"),
    "send": ("create", "state"),
    "start": ("create", "state"),
    "begin": ("create", "state"),
    "launch": ("create", "state"),
    "plan": ("create", "compute"),
    "return": ("state", "end"),
    "release": ("state", "end", "create"),
    "raise": ("create", "increase"),
    "read": ("read", "search", "flag"),
    "watch": ("flag", "read"),
    "review": ("state", "read", "create"),
    "borrow": ("state", "create"),
    "checkout": ("state", "create"),
    "rent": ("create", "state"),
    "move": ("update",),
    "translate": ("compute", "update"),
    "convert": ("compute", "update"),
    "sync": ("compute", "put"),
    "take": ("remove",),
    "see": ("read", "search"),
    "select": ("search", "read"),
    "subscribe": ("create", "flag"),
    "unsubscribe": ("end", "flag"),
    "follow": ("flag", "create"),
    "block": ("flag", "state"),
    "complete": ("state", "flag"),
    "finish": ("state", "flag", "end"),
    "deposit": ("increase", "create"),
    "join": ("add", "update"),
    "link": ("add", "update"),
    "order": ("create",),
    "apply": ("create", "update"),
    "promote": ("update",),
    "process": ("state", "compute"),
    "solve": ("state", "compute"),
    "sign": ("state", "create"),
    "download": ("read",),
    "is": ("exists",),
    "has": ("exists",),
    "number": (),
    "mark": ("update",),
}

_TABLE = {word: found for word, found in _table().items() if found}


def senses(verb: str) -> tuple[Sense, ...]:
    """The senses of a verb, likeliest first; none when it is not a general verb."""
    return _TABLE.get(verb, ())


def known(word: str) -> bool:
    """Whether the word is a general verb."""
    return word in _TABLE


def only_computes(verb: str) -> bool:
    """Whether the verb can mean nothing but to work something out."""
    return verb in _PURE


CORE = bag(
    "create add new get fetch retrieve show list find search update edit change modify set delete remove destroy read "
    "view"
)
"""Verbs that mean one thing wherever they stand."""


def is_nounish(word: str) -> bool:
    """Whether the verb is also a common noun."""
    return word in _NOUNISH


def is_half_nounish(word: str) -> bool:
    """Whether a clearer verb elsewhere in the name beats this one."""
    return word in _HALF_NOUNISH or word in _NOUNISH


def opposite(verb: str) -> str | None:
    """The verb that this one undoes: unarchive → archive."""
    if verb in _OPPOSITES:
        return _OPPOSITES[verb]
    rest = verb.removeprefix("un")
    return rest if rest != verb and known(rest) else None


@lru_cache(maxsize=4096)
def leading(word: str) -> str | None:
    """The general verb of which a word of a sentence is a form: "Creates" → create."""
    return next((verb for verb in base_verbs(word) if known(verb)), None)
