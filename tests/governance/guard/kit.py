"""The place every case is about: a workspace below a home folder. Neither exists."""

from steersman.governance.guard.judge import judge
from steersman.records.judgement import CommandPlace, Judgement

PLACE = CommandPlace("/home/dev/project", "/home/dev")
WORD = {"safe": "allow", "ask": "ask", "block": "block"}


def said(command: str) -> Judgement:
    return judge(command, PLACE)


def verdict(command: str) -> str:
    return said(command).verdict
