"""The approvals level: what is done at once, what a person is asked about, what is left undone."""

from steersman.records.action import ChangeMany, Delete, Execute, Verdict, Write
from steersman.records.counting import counted
from steersman.records.judgement import Judgement
from steersman.records.profile import Escalate
from steersman.records.protection import protected
from steersman.records.wording import APPROVAL, losses, lost_files

LOST_BYTES, TOUCHED = 100_000_000, 2000
SPECIAL = 50  # pipes, sockets and the like, of which nothing could be kept
UNSEEN = Judgement("ask", "guard.unseen", "the command was not checked")


def execute(
    action: Execute,
    judgement: Judgement | None,
    trust: str,
    approvals: str,
    containment: str,
    bare: bool,
) -> Verdict:
    """The verdict on a command that no rule knows."""
    seen = judgement or UNSEEN
    if seen.verdict == "block":
        return Verdict("deny", seen.rule, seen.reason, seen.instead)
    why = " and ".join(action.refused)
    if action.wants and trust != "untrusted":
        return _wanting(action, seen, approvals, why or "nothing was refused inside it so far")
    if trust == "untrusted" or (containment == "none" and bare):
        what = "a command without a sandbox"
        plain = seen.verdict == "allow" and approvals != "review"  # nobody reviews it beforehand
        return asked(approvals, "trust.untrusted", what, contained=plain, why=why)
    if containment == "none":
        return Verdict(
            "deny",
            "sandbox.missing",
            "no sandbox works here, and commands may not run without one",
            "use the other tools; `steer doctor` shows the user what is missing",
        )
    if told := _elsewhere(seen):
        return asked(approvals, seen.rule, told, contained=False, why=why)
    # Over a view nothing has happened until its effects were judged; directly it has.
    if containment == "full" and not action.direct:
        return Verdict("allow", "sandbox.contains", "the sandbox contains it")
    if seen.verdict == "allow":
        return Verdict("allow", "sandbox.contains", "the sandbox contains it")
    return asked(approvals, seen.rule, seen.reason, contained=False)


def _elsewhere(seen: Judgement) -> str:
    """What a command changes on other machines; empty when it changes nothing there."""
    told = "; ".join(fact.remote for fact in seen.facts if fact.remote)
    return f"a change elsewhere ({told})" if told else ""


def _wanting(action: Execute, seen: Judgement, approvals: str, why: str) -> Verdict:
    """The verdict on a command that wants more than its sandbox gives."""
    if action.outside:
        what = f"{_elsewhere(seen) or 'a command'} outside the sandbox"
        return asked(approvals, "sandbox.leave", what, contained=False, why=why)
    if action.again:
        return _given_again(action, seen, approvals, why)
    parts = [f"write {', '.join(action.writes)}, which cannot be undone,"] if action.writes else []
    parts += [f"reach {', '.join(action.reaches)}"] if action.reaches else []
    what = f"letting a command {' and '.join(parts)}"
    what = f"{_elsewhere(seen)}, {what}" if _elsewhere(seen) else what
    return asked(approvals, "sandbox.more", what, contained=False, why=why)


def _given_again(action: Execute, seen: Judgement, approvals: str, why: str) -> Verdict:
    """The verdict on running a command again with what its sandbox refused."""
    if approvals == "never":
        return asked(
            approvals, "sandbox.more", "allowing what was refused", contained=False, why=why
        )
    parts = [why, "Allow that and run it again?"]
    parts += [f"It is {told}."] if (told := _elsewhere(seen)) else []
    parts += ["What it changes there cannot be undone."] if action.writes else []
    parts += ["It could then reach any host."] if action.online else []
    return Verdict("ask", "sandbox.more", f"{parts[0]}. {' '.join(parts[1:])}")


def escalates(approvals: str, *, own: bool, person: bool, looks_only: bool) -> Escalate:
    """Whether the user is asked for what a sandbox refused, where there is someone to ask."""
    if approvals == "never" or looks_only:
        return "no"
    if approvals == "on-failure":
        return "anything"
    return "no" if not person else "always" if own else "new"


def again(action: Execute, approvals: str) -> Verdict | None:
    """Whether a command that failed is run once more; None for one that has not failed."""
    if not action.failed:
        return None
    if approvals == "on-failure":
        return Verdict("ask", "approvals.on-failure", f"{action.failed}; run it again?")
    return Verdict("deny", f"approvals.{approvals}", "a failed command is not run again by itself")


def change(action: Write | Delete | ChangeMany, workspace: str, approvals: str) -> Verdict:
    """The verdict on a change of files that no rule knows."""
    if isinstance(action, ChangeMany):
        if told := _loss(action):
            return asked(approvals, "effects.loss", told, contained=False, why=_turn(action))
        if action.named:
            return Verdict("allow", "effects.small", "each change gets its own decision")
    elif why := protected(action, workspace):
        return asked(approvals, "paths.protected", f"a change of {why},", contained=False)
    if action.origin == "command":
        return Verdict("allow", "command.effect", "the command that made it was allowed")
    return asked(approvals, f"approvals.{approvals}", "a change of a file", contained=True)


def _loss(action: ChangeMany) -> str:
    """All that nobody could bring back but the journal; empty when that is little."""
    deleted = _deleted(action)
    parts = losses(action, deleted, doing=True)
    if action.discarded or deleted:
        parts[-1] += _such(action)
    if not parts and action.touched >= TOUCHED:
        return f"changing or deleting {counted(action.touched, 'file')}"
    return " and ".join(parts)


def _deleted(action: ChangeMany) -> str:
    """The files that are nowhere else, where they are precious or many."""
    large = max(action.lost_bytes, action.turn_bytes) >= LOST_BYTES
    size = f", {_bytes(action.lost_bytes)}" if large and action.lost_bytes else ""
    if action.precious:
        return f"{lost_files(action)}{size}"
    if action.lost and (large or action.special >= SPECIAL):
        size = size or (f", {_bytes(action.lost_bytes)}" if action.lost_bytes else "")
        return f"{counted(action.lost, 'file')} that git does not have{size}"
    return ""


def _turn(action: ChangeMany) -> str:
    """What the turn has lost so far, where that is more than this."""
    if action.turn_lost <= action.lost:
        return ""
    return (
        f"with this, the turn has deleted or emptied {counted(action.turn_removed, 'file')}, "
        f"{action.turn_lost:,} of them not in git"
    )


def _such(action: ChangeMany) -> str:
    """The names of what is lost; those of many as far as they are named."""
    if not action.examples:
        return ""
    lost = action.precious or (action.lost if _deleted(action) else 0)
    count = action.discarded + lost
    names = action.examples[:count]
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f" ({', '.join(names)}{more})"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return counted(count, "byte")


def asked(approvals: str, rule: str, what: str, *, contained: bool, why: str = "") -> Verdict:
    """Ask a person; where that is not wanted, what is contained is done at once.

    What is not contained is asked about after all, or left undone where nobody is ever asked.
    """
    why = f": {why}" if why else ""
    if approvals == "review" and contained:
        return Verdict("allow", rule, f"{what}, reviewed when the turn ends")
    if approvals != "on-request" and contained:
        return Verdict("allow", rule, f"{what}, unattended")
    if approvals != "never":
        return Verdict("ask", rule, f"{what}{APPROVAL}{why}")
    return Verdict(
        "deny",
        rule,
        f"{what} needs approval, and this run cannot ask{why}",
        "find another way, or say what the user should do",
    )
