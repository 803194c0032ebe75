"""`get_vcs_status`."""

from msgspec import Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.talking import Talking
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Execute

COMMAND = "git -c core.quotePath=false --no-pager status --porcelain=v2 --branch"
MOST = 500  # names of files


class VcsStatus(Struct, frozen=True, omit_defaults=True):
    """Where a repository is; the files are named from its top. `more` are not named."""

    vcs: str
    branch: str
    head: str = ""
    upstream: str = ""
    ahead: int = 0
    behind: int = 0
    staged: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    more: int = 0


class VcsStatusArgs(Arguments, frozen=True):
    """Nothing to say."""


class GetVcsStatus(Tool[VcsStatusArgs]):
    """Show the branch, how far it is from its upstream, and which files differ."""

    name = "get_vcs_status"
    family = Family.READ
    Args = VcsStatusArgs
    offered = False

    def __init__(self, git: Talking) -> None:
        self._git = git

    async def plan(self, args: VcsStatusArgs, workspace: PlanningWorkspace) -> Plan[VcsStatusArgs]:
        """Ask git, which runs what a repository configures, so it is a command."""
        return Plan(args, [Execute(COMMAND, workspace.root)])

    async def perform(self, plan: Plan[VcsStatusArgs], bench: Bench) -> VcsStatus:
        """What git says."""
        return understood(await self._git.look(COMMAND, bench))


def understood(printed: str) -> VcsStatus:
    """What `git status --porcelain=v2 --branch` means."""
    facts: dict[str, str] = {}
    named: dict[str, list[str]] = {"staged": [], "changed": [], "untracked": [], "conflicts": []}
    for line in printed.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            facts[name] = value
        elif kind in ("1", "2"):
            fields = rest.split(" ", 7 if kind == "1" else 8)
            path = fields[-1].partition("\t")[0]
            for mark, group in zip(fields[0], ("staged", "changed"), strict=False):
                named[group] += [path] * (mark != ".")
        elif kind == "u":
            named["conflicts"].append(rest.split(" ", 9)[-1])
        elif kind == "?":
            named["untracked"].append(rest)
    ahead, behind = facts.get("branch.ab", "+0 -0").split(" ")
    return VcsStatus(
        "git",
        facts.get("branch.head", ""),
        facts.get("branch.oid", ""),
        facts.get("branch.upstream", ""),
        int(ahead),
        -int(behind),
        more=sum(max(0, len(paths) - MOST) for paths in named.values()),
        **{group: tuple(paths[:MOST]) for group, paths in named.items()},
    )
