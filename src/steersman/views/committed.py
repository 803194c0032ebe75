"""Which changes of a turn are committed by now, so that they need no review."""

from steersman.records.commits import reported
from steersman.records.message import ToolResult
from steersman.views import git_work
from steersman.views.blocks import Block, Work
from steersman.views.changeset import Changeset
from steersman.views.seat import Seat

RUN = "workspace_run_command"


def commits(block: Block) -> bool:
    """Whether a command of the user seems to have made a commit, so that it is worth a look."""
    match block:
        case Work(turn=0, result=ToolResult(output={"exit_code": 0, "output": str(output)})):
            return reported(output)
    return False


async def without_committed(seat: Seat, found: Changeset) -> Changeset | None:
    """What is left to review of a changeset."""
    paths = found.paths[: len(found.own)]
    if not paths:
        return found
    olds = [found.moved[path] for path in paths if path in found.moved]
    deleted = [path for path, file in zip(paths, found.own, strict=True) if file.kind == "deleted"]
    deleted += olds
    paths = (*paths, *olds)
    done = await seat.query(RUN, {"command": git_work.pending_command(paths)})
    match done.body:
        case ToolResult(output={"exit_code": 0, "output": str(text), **rest}):
            if not rest.get("truncated"):
                return found.without(git_work.committed(text, paths, deleted))
    return found
