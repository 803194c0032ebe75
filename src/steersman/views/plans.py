"""What an undo or a whole thread changes, as people look at it: files first, git in a line."""

from collections.abc import Sequence

import msgspec

from steersman.host import Host
from steersman.records.change import Change, Seen
from steersman.records.git_names import inner
from steersman.records.names import shown
from steersman.records.undo import UndoPlan
from steersman.views import git_notes
from steersman.views.arranging import arranged, ignored_words

LOG = "logs/HEAD"  # where git notes every commit


def described(host: Host, thread: str, plan: UndoPlan) -> list[str]:
    """The diffs of a plan; an ignored folder and what git notes for itself are lines at the end."""
    noted = git_line(host, thread, plan.changes)
    own = [one for one in plan.changes if not inner(one.path)]
    found = arranged(host, thread, own, lambda _: 0)
    wanted = msgspec.structs.replace(plan, changes=tuple(found.shown))
    lines = [
        f"{shown(folder)}: {ignored_words(folder, count)}\n"
        for folder, count in found.ignored.items()
    ]
    lines += [f"{noted}\n"] if noted else []
    return [*host.way_back.describe(thread, wanted), *lines]


def git_line(host: Host, thread: str, changes: Sequence[Change]) -> str:
    """What changes, or their undoing, do to what git notes for itself; commits by their names."""
    log = [Seen(one) for one in changes if inner(one.path) == LOG]
    made = git_notes.commits("".join(host.way_back.diffs(thread, log)))
    subjects = host.way_back.commits(thread, changes)
    return git_notes.line((one.path for one in changes), made, subjects)
