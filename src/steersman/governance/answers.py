"""Remembered answers: rules that a person left behind, kept so that they can be read and removed.

What could be remembered is worked out in `offers.py`. All answers are one list in the store, so
that nothing has to be searched for; one process at a time changes it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from secrets import choice

import msgspec
from msgspec import Struct

from steersman.governance.offers import Choice, Offer, Scope, offers, texts, told
from steersman.governance.rule import Rule
from steersman.records import validation
from steersman.records.errors import StorageProblem, ThreadBusy, UsageProblem
from steersman.store.contract import Store, stamp

__all__ = [
    "Choice",
    "Offer",
    "Remembered",
    "Scope",
    "all_remembered",
    "forget",
    "forget_all",
    "forget_thread",
    "forget_turns",
    "offers",
    "remember",
    "remembered",
    "told",
]

MOST = 500
LONGEST = 500
_PLACE = ("policy", "answers")
_LETTERS = "bcdfghjkmnpqrstvwxz23456789"
_PATIENCE = 5.0


class Remembered(Struct, frozen=True, omit_defaults=True):
    """A rule that an answer left behind: where it holds, since when, and what was asked then.

    `thread` is empty for a rule that holds in the whole folder; `turn` is the only turn of a thread
    in which it holds, 0 for any.
    """

    rule: Rule
    workspace: str
    created: str
    request: str = ""
    thread: str = ""
    turn: int = 0


def remembered(store: Store, workspace: str, thread: str, turn: int = 0) -> list[Rule]:
    """The rules that hold in a turn of a thread of a folder."""
    return [
        answer.rule
        for answer in all_remembered(store)
        if answer.workspace == workspace
        and answer.thread in ("", thread)
        and answer.turn in (0, turn)
    ]


def all_remembered(store: Store) -> list[Remembered]:
    """Every answer that is remembered anywhere, the oldest first."""
    kept = store.setting(*_PLACE)
    if kept is None:
        return []
    try:
        return msgspec.json.decode(kept, type=list[Remembered])
    except msgspec.DecodeError as error:
        raise StorageProblem(
            "The remembered answers cannot be read.",
            validation.sentence(error),
            "Run `steer policy forget --all` to remove them; you will be asked again.",
        ) from error


def remember(
    store: Store,
    rules: Sequence[Rule],
    scope: Scope,
    *,
    workspace: str,
    thread: str,
    request: str = "",
    redact: Callable[[str], str] = str,
    turn: int = 0,
) -> list[Rule]:
    """Keep the rules of an answer; the same rules with the names they can be forgotten by.

    An answer for once leaves nothing. What is remembered already is not remembered twice.
    """
    if scope == "once":
        return []
    if any(redact(text) != text for text in texts(rules)):
        raise UsageProblem(
            "An answer that contains a secret is not remembered.", try_this="Allow it once."
        )
    where = "" if scope == "here" else thread
    when = turn if scope == "turn" else 0
    asked = redact(request)[:LONGEST]
    with _changing(store):
        answers = all_remembered(store)
        names = {answer.rule.id for answer in answers}
        known = {
            _bare(a.rule): a.rule
            for a in answers
            if (a.workspace, a.thread, a.turn) == (workspace, where, when)
        }
        given: list[Rule] = []
        for rule in rules:
            new = _bare(msgspec.structs.replace(rule, source=scope))
            if new not in known:
                known[new] = msgspec.structs.replace(new, id=_name(names))
                created = stamp(datetime.now(UTC))
                answers.append(Remembered(known[new], workspace, created, asked, where, when))
            given.append(known[new])
        _keep(store, answers)
    return given


def forget(store: Store, name: str) -> Remembered | None:
    """Remove one answer by its name; None when there is none of that name."""
    with _changing(store):
        answers = all_remembered(store)
        found = next((answer for answer in answers if answer.rule.id == name), None)
        if found is not None:
            _keep(store, [answer for answer in answers if answer is not found])
    return found


def forget_thread(store: Store, thread: str) -> None:
    """Remove what was remembered for a thread that is no more."""
    with _changing(store):
        answers = all_remembered(store)
        left = [answer for answer in answers if answer.thread != thread or not thread]
        if len(left) < len(answers):
            _keep(store, left)


def forget_turns(store: Store, thread: str) -> None:
    """Remove what was remembered for a turn of a thread: it is over."""
    if not any(answer.turn and answer.thread == thread for answer in all_remembered(store)):
        return
    with _changing(store):
        answers = all_remembered(store)
        _keep(store, [one for one in answers if not one.turn or one.thread != thread])


def forget_all(store: Store) -> None:
    """Remove every answer, even if they cannot be read any more."""
    with _changing(store):
        store.remember(*_PLACE, None)


def _keep(store: Store, answers: list[Remembered]) -> None:
    if len(answers) > MOST:
        answers = [a for a in answers if not a.thread or store.thread(a.thread) is not None]
    if len(answers) > MOST:
        raise UsageProblem(
            f"At most {MOST} answers can be remembered.",
            try_this="`steer policy list` shows them, `steer policy forget` removes one.",
        )
    store.remember(*_PLACE, msgspec.json.encode(answers).decode() if answers else None)


def _bare(rule: Rule) -> Rule:
    """A rule without its name, to be compared."""
    return msgspec.structs.replace(rule, id="")


def _name(names: set[str]) -> str:
    """A new name that is easily typed."""
    while (name := "".join(choice(_LETTERS) for _ in range(4))) in names:
        pass
    names.add(name)
    return name


@contextmanager
def _changing(store: Store) -> Iterator[None]:
    """Be the only one who changes the answers: what one process forgets, no other brings back."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            lease = store.lease("policy-answers")
        except ThreadBusy as busy:
            if time.monotonic() > until:
                raise StorageProblem(
                    "Another process is changing the remembered answers.",
                    try_this="Try again when it has finished.",
                ) from busy
            time.sleep(0.01)
        else:
            break
    try:
        yield
    finally:
        store.release(lease)
