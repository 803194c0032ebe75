"""The rules and answers that hold in a folder, in words, and why a decision falls as it does."""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from steersman.governance.rule import REMEMBERED, Rule, stands, subject
from steersman.records import validation
from steersman.records.action import Action, Verdict
from steersman.records.errors import UsageProblem
from steersman.records.judgement import Judgement
from steersman.records.settings import Settings

if TYPE_CHECKING:
    from steersman.host.application import Host


class RuleShown(Struct, frozen=True):
    """A rule or a remembered answer: what it is about and where it is, in words."""

    rule: Rule
    about: str
    stands: str


class DecisionStep(Struct, frozen=True):
    """One step of a decision; the last one decides."""

    step: str
    verdict: Verdict | None
    decides: bool


class Explanation(Struct, frozen=True):
    """How a decision on an action falls; `guard` is what was read in a command."""

    steps: tuple[DecisionStep, ...]
    verdict: Verdict
    guard: Judgement | None


def rules(
    host: "Host", folder: str, settings: Settings, thread: str | None = None
) -> list[RuleShown]:
    """Every rule and remembered answer that holds in a folder, and in a thread of it.

    Without a thread, the answers of all its threads, each with the thread's name.
    """
    found = [_shown(rule) for rule in host.permissions.rules(folder, settings)]
    for rule, place in host.permissions.answers(folder):
        shown = _shown(rule)
        if thread is None and place:
            shown = msgspec.structs.replace(shown, stands=f"an answer for thread {place}")
        if thread is None or place in ("", thread):
            found.append(shown)
    return found


def forget(host: "Host", name: str) -> RuleShown:
    """Forget a remembered answer by its id."""
    rule = host.permissions.forget(name)
    if rule is None:
        raise UsageProblem(
            f"There is no remembered answer “{name}”.",
            try_this="`steer policy list` shows them; rules of files are edited there.",
        )
    return _shown(rule)


def _shown(rule: Rule) -> RuleShown:
    """An answer is shown in the words in which it was given."""
    if rule.source not in REMEMBERED:
        return RuleShown(rule, subject(rule), stands(rule))
    from steersman.governance.offers import told

    return RuleShown(rule, told(rule), stands(rule))


def explain(
    host: "Host", folder: str, settings: Settings, action: str, tool: str = ""
) -> Explanation:
    """Each step of the decision on an action, given as JSON, up to the one that decides."""
    from steersman.governance.cases import judged
    from steersman.governance.policy import Evidence, steps

    where = host.permissions.circumstances(folder, settings)
    wanted = _action(action, folder)
    judgement = judged(wanted, where)
    taken: list[DecisionStep] = []
    for step in steps(wanted, where, Evidence(tool, judgement)):
        taken.append(DecisionStep(step.name, step.verdict, step.verdict is not None))
        if step.verdict is not None:
            return Explanation(tuple(taken), step.verdict, judgement)
    raise AssertionError("the last step of a decision always has a verdict")


def _action(text: str, folder: str) -> Action:
    from steersman.operations.workspace import Workspace

    try:
        fields = msgspec.json.decode(text, type=dict[str, Any])
        workspace = Workspace(folder)
        for name in ("path", "cwd"):
            if name in fields:
                fields[name] = workspace.locate(str(fields[name]))
        if fields.get("action") == "execute":
            fields.setdefault("cwd", folder)
        found: Action = msgspec.convert(fields, Action)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UsageProblem(
            "The action cannot be read.",
            validation.sentence(error),
            """For example: '{"action": "execute", "command": "make", "cwd": "."}'""",
        ) from error
    return found
