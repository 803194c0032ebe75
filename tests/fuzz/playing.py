"""Rounds with their judgement, and the smallest part of a round that still goes wrong."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tests.fuzz.checker import violations
from tests.fuzz.plan import Plan, plan_for
from tests.fuzz.round import play


class Verdict(Struct, frozen=True):
    """How a round went; `wrong` is empty when all is well."""

    line: str
    wrong: tuple[str, ...]


def judged(seed: int, broken: str = "", *, shrink: bool = True) -> Verdict:
    """Play the round of a seed and judge it."""
    plan = plan_for(seed)
    wrong = wrong_with(plan)
    if not wrong:
        steps = f"{len(plan.steps)} steps"
        return Verdict(f"{seed}: ok, {plan.machine}, {plan.answers}, {steps}", ())
    if shrink:
        plan = shrunk(plan)
    again = f"python -m tests.fuzz {seed}" + (f" --broken '{broken}'" if broken else "")
    smallest = [f"{step.way}: {step.command}" for step in plan.steps]
    head = f"{again}  ({plan.machine}, {plan.answers})"
    return Verdict("\n  ".join([head, *wrong, "smallest:", *smallest]), wrong)


def wrong_with(plan: Plan) -> tuple[str, ...]:
    """What is wrong with a round."""
    with a_folder() as folder:
        try:
            return tuple(violations(plan, play(plan, folder)))
        except TimeoutError:
            return ("it did not end",)


def shrunk(plan: Plan) -> Plan:
    """The round without the steps that it goes wrong without."""
    for step in plan.steps:
        rest = tuple(other for other in plan.steps if other is not step)
        less = replace(plan, steps=rest)
        if rest and wrong_with(less):
            plan = less
    return plan


@contextmanager
def a_folder() -> Iterator[Path]:
    """A folder that a sandbox shows as it is: not a temporary one, which it would replace."""
    wanted = os.environ.get("FUZZ_FOLDER", "/var/cache")
    parent = wanted if os.access(wanted, os.W_OK) else str(Path.home())
    name = tempfile.mkdtemp(prefix="steersman-fuzz-", dir=parent)
    try:
        yield Path(os.path.realpath(name))
    finally:
        if os.geteuid() != 0:
            subprocess.run(["chmod", "-R", "u+rwX", name], check=False, capture_output=True)
        shutil.rmtree(name)
