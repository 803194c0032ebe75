"""When what a turn changed is to be reviewed: decided here, for all ports."""

from steersman.records.message import Body, TurnEnd
from steersman.records.settings import REVIEW


def afterwards(approvals: str) -> bool:
    """Whether changes are reviewed when a turn ended, at a level of approvals."""
    return approvals == REVIEW


def due(body: Body, approvals: str) -> bool:
    """Whether a message ends a turn whose changes are to be reviewed now."""
    return isinstance(body, TurnEnd) and afterwards(approvals)
