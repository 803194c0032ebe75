"""What several operations take and answer."""

from typing import Annotated

from msgspec import Meta, Struct

from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.records.thread_facts import ThreadFacts
from steersman.views.threads import facts

Id = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[0-9a-z]+$")]
# A part of a request has a name with a slash, which no request can have: `ID/withdraw`.
Name = Annotated[
    str,
    Meta(
        max_length=100,
        pattern="^[A-Za-z0-9_.:-]*$",
        description="A name of yours: what is sent twice under it is done once.",
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=2_000_000)]
Seq = Annotated[int, Meta(ge=0, le=2**53)]
PAGE = 500


class OneThread(Struct, frozen=True, forbid_unknown_fields=True):
    """A thread by its id."""

    thread: Id


async def facts_by_id(desk: Desk, wanted: str, caller: Holder) -> ThreadFacts:
    """All that is known of a thread."""
    return facts(*await desk.known(wanted, caller))
