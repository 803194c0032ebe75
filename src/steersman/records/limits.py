"""How much work may cost; None sets no limit."""

from typing import Annotated

from msgspec import Meta, Struct


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of one run or one thread, with all agents it calls; `cost` is in dollars."""

    tokens: Annotated[int, Meta(ge=1)] | None = None
    cost: Annotated[float, Meta(gt=0)] | None = None
    seconds: Annotated[float, Meta(gt=0)] | None = None
    calls: Annotated[int, Meta(ge=1)] | None = None
    agents: Annotated[int, Meta(ge=0)] | None = None


NO_LIMITS = Limits()
