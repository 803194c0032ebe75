"""The approvals level: what is done at once, what a person is asked about, what is left undone."""

from steersman.records.action import ChangeMany, Delete, Execute, Verdict, Write
from steersman.records.judgement import Judgement
from steersman.records.protection import protected

LOST_FILES, LOST_BYTES, TOUCHED = 50, 100_000_000, 2000
UNSEEN = Judgement("ask", "guard.unseen", "nobody has looked at the command")


def execute(
    action: Execute,
    judgement: Judgement | None,
    trust: str,
    approvals: str,
    containment: str,
    bare: bool,
) -> Verdict:
    """The word on a command that no rule knows."""
    seen = judgement or UNSEEN
    if seen.verdict == "block":
        return Verdict("deny", seen.rule, seen.reason, seen.instead)
    if action.outside and trust != "untrusted":
        return asked(approvals, "sandbox.leave", "a command outside the sandbox", contained=False)
    if trust == "untrusted" or (containment == "none" and bare):
        what = "a command that nothing confines"
        return asked(approvals, "trust.untrusted", what, contained=seen.verdict == "allow")
    if containment == "none":
        return Verdict(
            "deny",
            "sandbox.missing",
            "no sandbox works here, and nobody said that commands may run without one",
            "work with the other tools; `steer doctor` tells the person what is missing",
        )
    if any(fact.remote for fact in seen.facts):
        told = "; ".join(fact.remote for fact in seen.facts if fact.remote)
        return asked(approvals, seen.rule, f"a change elsewhere ({told})", contained=False)
    # Over a view nothing has happened until its effects were judged; directly it has.
    if containment == "full" and not action.direct:
        return Verdict("allow", "sandbox.contains", "the sandbox contains it")
    if seen.verdict == "allow":
        return Verdict("allow", "sandbox.contains", "the sandbox contains it")
    return asked(approvals, seen.rule, seen.reason, contained=False)


def change(action: Write | Delete | ChangeMany, workspace: str, approvals: str) -> Verdict:
    """The word on a change of files that no rule knows."""
    if isinstance(action, ChangeMany):
        if told := _loss(action):
            return asked(approvals, "effects.loss", told, contained=False)
    elif why := protected(action, workspace):
        return asked(approvals, "paths.protected", f"a change of {why}", contained=False)
    if action.origin == "command":
        return Verdict("allow", "command.effect", "the command that did it was let through")
    return asked(approvals, f"approvals.{approvals}", "a change of a file", contained=True)


def _loss(action: ChangeMany) -> str:
    """What nobody could bring back but the journal, as a sentence; empty when that is little."""
    if action.discarded:
        return f"throwing away uncommitted work in {_files(action.discarded)}{_such(action)}"
    if action.lost >= LOST_FILES or action.lost_bytes >= LOST_BYTES:
        size = f", {_bytes(action.lost_bytes)}" if action.lost_bytes else ""
        return f"deleting {action.lost:,} untracked files{size}{_such(action)}"
    touched = action.changed + action.deleted
    if touched >= TOUCHED:
        return f"changing or deleting {touched:,} files"
    return ""


def _such(action: ChangeMany) -> str:
    return f" ({', '.join(action.examples)} …)" if action.examples else ""


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def asked(approvals: str, rule: str, what: str, *, contained: bool) -> Verdict:
    """Ask a person; where that is not wanted, what is contained is done at once.

    What is not contained is asked about after all, or left undone where nobody is ever asked.
    """
    if approvals != "on-request" and contained:
        return Verdict("allow", rule, f"{what}, unattended")
    if approvals != "never":
        return Verdict("ask", rule, f"{what} needs a person's word")
    return Verdict(
        "deny",
        rule,
        f"{what} needs a person's word, and here nobody is ever asked",
        "find another way, or say what a person should do",
    )
