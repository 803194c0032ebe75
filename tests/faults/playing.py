"""Rounds with their judgement: the ground of each on SQLite or Postgres, and the checker's word."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from shutil import rmtree

from msgspec import Struct

from tests.faults.checker import violations
from tests.faults.plan import Plan, StoreKind
from tests.faults.round import Ground, folder_for, play

Arena = Callable[[Plan], AbstractContextManager[Ground]]


class Verdict(Struct, frozen=True):
    """How a round went; `wrong` is empty when all is well."""

    line: str
    wrong: tuple[str, ...]


@contextmanager
def arena(store: StoreKind) -> Iterator[Arena]:
    """Grounds for rounds on a store, which runs until the end."""
    if store == "sqlite":
        yield on_sqlite
        return
    from tests.faults.postgres import postgres_arena

    with postgres_arena() as grounds:
        yield grounds


@contextmanager
def on_sqlite(plan: Plan) -> Iterator[Ground]:
    """A data folder of its own."""
    with folder_for(plan) as folder:
        yield Ground(folder)


def judged(plan: Plan, ground_for: Arena, broken: str = "") -> Verdict:
    """Play a round and judge it; its folder stays when something is wrong and nobody broke it."""
    try:
        with ground_for(plan) as ground:
            evidence = play(plan, ground, broken)
            wrong = tuple(violations(evidence))
            if wrong:
                raise Wrong(wrong, str(ground.folder))
    except Wrong as found:
        if broken:
            rmtree(found.folder, ignore_errors=True)
        again = f"python -m tests.faults {plan.seed} --store {plan.store}"
        again += f" --broken '{broken}'" if broken else ""
        what = "\n  ".join(found.wrong)
        return Verdict(f"{again}\n  {what}\n  {found.folder} has the rest", found.wrong)
    blows = ", ".join(fault.blow for fault in plan.faults)
    owners = len({one.fence for one in evidence.written})
    size = f"{len(evidence.messages)} messages, {len(evidence.requests)} requests, {owners} owners"
    return Verdict(f"{plan.store} {plan.seed}: ok, {size}; {blows}", ())


class Wrong(Exception):
    """A round that failed."""

    def __init__(self, wrong: tuple[str, ...], folder: str) -> None:
        super().__init__("\n".join(wrong))
        self.wrong = wrong
        self.folder = folder
