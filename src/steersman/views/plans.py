"""What an undo or a whole thread changes, as people look at it: files first, git in a line."""

import msgspec

from steersman.host import Host
from steersman.records.git_names import inner
from steersman.records.undo import UndoPlan
from steersman.views import git_notes

LOG = "logs/HEAD"  # where git notes every commit


def described(host: Host, thread: str, plan: UndoPlan) -> list[str]:
    """The diffs of a plan; what git notes for itself is one line at the end."""

    def diffs(wanted: bool, log: bool = False) -> list[str]:
        found = tuple(
            one for one in plan.changes
            if bool(noted := inner(one.path)) == wanted and (not log or noted == LOG)
        )  # fmt: skip
        return host.way_back.describe(thread, msgspec.structs.replace(plan, changes=found))

    made = git_notes.commits("".join(diffs(wanted=True, log=True)))
    noted = git_notes.line((one.path for one in plan.changes), made)
    return [*diffs(wanted=False), *([f"{noted}\n"] if noted else [])]
