"""`/commit` and `/pr`: the model writes the words, you approve them, and git is run through the
gate like any other command."""

import asyncio
import re
import shutil
from collections.abc import Sequence

from steersman.records.errors import SteersmanError, ToolProblem, UsageProblem
from steersman.records.message import Body, ToolResult
from steersman.views import git_work
from steersman.views.commands.builtin.work import prompt
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Deed, Row, Stage
from steersman.views.commands.words import fenced
from steersman.views.git_work import MOST_SHOWN, Changed, Tree
from steersman.views.text import counted, one_line, result_words

PATIENCE = 120.0  # seconds a model may take for a few words
FLAG = re.compile(r"(?:-m|--message)(?:[\s=]+|(?=[\"'])|$)")
QUOTED = re.compile(r"""(["'])(?P<words>(?:(?!\1).)*)\1""", re.DOTALL)
MOST_PRINTED = 2_000  # characters of what a failed commit printed, from its end
RUN = "workspace_run_command"
DEEDS = (Deed("c", "commit"), Deed("e", "edit"), Deed("d", "diff"))
RECENT = "git --no-pager log -n 8 --format='- %s'"


async def commit(stage: Stage, arguments: str) -> None:
    """Commit what is staged, or else all changes, with a message that the user approves."""
    tree = await _status(stage)
    if not tree.files:
        stage.tell("There is nothing to commit.")
        return
    made, moved = await _of_thread(stage)
    tree = tree.paired(moved)
    kept = tree.proposed(made)
    message, why = await _message(stage, arguments, tree, kept or tree.files)
    above = bool(await _below(stage))  # no sandbox opens a repository that holds the workspace
    failed = ""
    while True:
        message, kept = await _approved(stage, tree, message, kept, failed or why)
        if not kept:
            told = f" The message was: {one_line(message, 200)}" if message else ""
            stage.tell(f"Nothing was committed.{told}")
            if failed:
                stage.compose(f"/commit {message}")
            return
        command = git_work.commit_command(message, tree, kept)
        body = (await stage.seat.commit(RUN, _arguments(command, outside=above))).body
        match body:
            case ToolResult(output={"exit_code": int(code), "output": str(text)}) if code:
                failed = f"The commit failed:\n\n{fenced(text.strip()[-MOST_PRINTED:])}"
                names, tree = {one.name for one in kept}, (await _status(stage)).paired(moved)
                kept = tuple(one for one in tree.files if one.name in names)
            case _:
                break
    told = git_work.commit_line(_printed(command, body)) or f"Committed: {message}"
    stage.done(one_line(told, 200))
    if left := len(tree.files) - len(kept):
        stage.tell(f"{counted(left, 'file')} not committed.")


async def _status(stage: Stage) -> Tree:
    """What git says of the working tree, all of it; raises where it has conflicts."""
    done = await stage.seat.query(RUN, {"command": git_work.STATUS})
    match done.body:
        case ToolResult(output={"exit_code": 0, "truncated": True}):
            folders = git_work.new_folders(await _look(stage, git_work.FOLDED))
            counts = await _look(stage, git_work.count_command(folders)) if folders else ""
            raise git_work.too_much(folders, counts)
    tree = git_work.read_status(_printed(git_work.STATUS, done.body))
    if tree.conflicts:
        raise UsageProblem(
            "There are merge conflicts.", ", ".join(tree.conflicts[:5]), "Resolve them first."
        )
    return tree.joined()


async def _of_thread(stage: Stage) -> tuple[set[str], dict[str, str]]:
    """The files that this thread made, as git names them, and where it moved some of them from."""
    try:
        plan = await stage.seat.handle.plan_undo(to=0)
    except ToolProblem:
        return set(), {}
    done = [change.reversed() for change in plan.changes]
    made = [change.path for change in done if change.before.kind == "absent"]
    if not made:
        return set(), {}
    below, seat = await _below(stage), stage.seat
    seen = await asyncio.to_thread(seat.host.way_back.seen, seat.id, done)
    moved = {below + one.change.path: below + one.moved_from for one in seen if one.moved_from}
    return {below + path for path in made}, moved


async def _below(stage: Stage) -> str:
    """Where the workspace is in its repository; empty for the whole of it."""
    return (await _look(stage, git_work.BELOW)).removesuffix("\n")


async def _message(
    stage: Stage, arguments: str, tree: Tree, files: Sequence[Changed]
) -> tuple[str, str]:
    """The user's own message, or one of the model's; without one, why it wrote none."""
    if own := FLAG.sub("", arguments.strip(), count=1):
        quoted = QUOTED.fullmatch(own)
        return (quoted["words"] if quoted else own).strip(), ""
    diff = await _look(stage, git_work.diff_command(tree, files))
    before = await _look(stage, f"{RECENT} 2>/dev/null || true")
    asked = f"# Files\n\n{git_work.listed(files)}\n\n# Last messages\n\n{before}\n\n# Diff\n\n"
    try:
        return await _written(stage, prompt("commit", ""), asked + diff[:MOST_SHOWN], ""), ""
    except SteersmanError as problem:
        return "", f"The model wrote no message: {one_line(problem.facts, 300)}"


async def _approved(
    stage: Stage, tree: Tree, message: str, kept: tuple[Changed, ...], note: str
) -> tuple[str, tuple[Changed, ...]]:
    """The message and the files as the user wants them; no files where nothing is committed."""
    how = "What is staged is marked" if tree.chosen else "All changes are marked"
    if not tree.chosen and len(kept) < len(tree.files):
        how += ", new files only if this thread made them"
    rows, first = [Row(one.name, one.name, one.how) for one in tree.files], kept
    while True:
        now = f"{len(kept)} of {counted(len(rows), 'change')}"
        marked = f"{now} {'is' if len(kept) == 1 else 'are'} marked" if kept != first else how
        told = fenced(message) if message else "There is no message yet; `e` writes one."
        body = "\n\n".join(filter(None, (note, told, f"{marked}:")))
        chosen = await stage.select(_title, body, rows, [one.name for one in kept], DEEDS)
        if chosen is None:
            return message, ()
        kept = tuple(one for one in tree.files if one.name in chosen.keys)
        match chosen.deed:
            case "c" if message or not kept:
                return message, kept
            case "c" | "e":
                message = (await stage.edit("Commit message", message) or message).strip()
            case "d":
                await _show(stage, tree, kept)


def _title(kept: int) -> str:
    return f"Commit {counted(kept, 'file')}?"


async def _show(stage: Stage, tree: Tree, kept: Sequence[Changed]) -> None:
    """What would be committed."""
    text = await _look(stage, git_work.diff_command(tree, kept))
    cut = "\n… cut here; `git diff` shows all of it" if len(text) > MOST_SHOWN else ""
    shown = fenced(text[:MOST_SHOWN] or "(nothing)", "diff")
    await stage.read(f"Changes of {counted(len(kept), 'file')}", shown + cut)


async def _written(stage: Stage, system: str, text: str, wishes: str) -> str:
    """What the model writes, beside the conversation."""
    asked = f"{text}\n\n# Wishes\n\n{wishes}\n" if wishes else text
    try:
        with stage.working("The model is writing the message …"):
            async with asyncio.timeout(PATIENCE):
                answer = await stage.seat.handle.aside(system, asked)
    except TimeoutError as error:
        raise UsageProblem("The model did not answer in time.") from error
    return git_work.message_from(answer)


async def _look(stage: Stage, command: str, too_much: str = "") -> str:
    """What a command prints that only reads; `too_much` is the advice where that must be all."""
    body = (await stage.seat.query(RUN, {"command": command})).body
    match body:
        case ToolResult(output={"exit_code": 0, "truncated": True}) if too_much:
            raise ToolProblem("There is too much to show.", try_this=too_much)
    return _printed(command, body)


async def _run(stage: Stage, command: str, *, outside: bool = False) -> str:
    """What a command of the user prints, run through the gate; raises when it fails."""
    done = await stage.seat.call(RUN, _arguments(command, outside=outside))
    return _printed(command, done.body)


def _arguments(command: str, *, outside: bool) -> dict[str, object]:
    return {"command": command, **({"outside_sandbox": True} if outside else {})}


def _printed(command: str, body: Body) -> str:
    match body:
        case ToolResult(output={"exit_code": 0, "output": str(text)}):
            return text
        case ToolResult(output={"output": str(text)}):
            raise ToolProblem(f"`{one_line(command, 60)}` failed.", text.strip()[-600:])
        case ToolResult():
            raise ToolProblem(f"`{one_line(command, 60)}` was not run.", result_words(body))
    raise ToolProblem(f"`{one_line(command, 60)}` was not run.")


async def pull_request(stage: Stage, arguments: str) -> None:
    """Push the branch and open a pull request, with words that the user approves."""
    place = git_work.read_place(await _look(stage, git_work.PLACE, too_much="Run !git push."))
    if not place.branch or not place.remote:
        what = "This repository has no remote." if place.branch else "No branch is checked out."
        raise UsageProblem(what, try_this="!git remote -v and !git status show where you are.")
    if not place.base or place.branch == place.base:
        raise UsageProblem(
            f"A pull request needs a branch of its own, and this is {place.branch}."
            if place.base
            else f"The main branch of {place.remote} is not known.",
            try_this="!git switch -c NAME" if place.base else "!git remote set-head origin --auto",
        )
    work = await _look(stage, git_work.work_command(place))
    if not work.strip():
        raise UsageProblem(
            f"{place.branch} has no commits beyond {place.base}.", try_this="/commit makes one."
        )
    said = await _written(stage, prompt("pr", ""), work[:MOST_SHOWN], arguments)
    title, _, body = said.partition("\n")
    title = one_line(title.lstrip("# "), 200) or place.branch
    push, ask = git_work.request_commands(place, title, body.strip())
    if shutil.which("gh", path=stage.environ.get("PATH")) is None:
        stage.show(
            "Pull request",
            f"`gh` is not installed, so nothing was pushed. Run:\n\n{fenced(push)}\n\n"
            f"Then open a pull request from `{place.branch}` into `{place.base}`:\n\n"
            f"{fenced(said)}",
        )
        return
    shown = f"Pushes `{place.branch}` to `{place.remote}`, for `{place.base}`.\n\n{fenced(said)}"
    if not await stage.confirm("Open a pull request?", shown):
        stage.tell("Nothing was pushed.")
        return
    done = await _run(stage, f"{push} && {ask}", outside=True)
    address = next((one for one in done.split()[::-1] if one.startswith("https://")), "")
    stage.tell(f"Opened {address}" if address else "The pull request is open.")


COMMANDS = (
    Command(
        "commit",
        "Commit, with a message that you approve.",
        commit,
        usage="[MESSAGE]",
        more="What is staged is marked; if nothing is, all changes, but of the new files only "
        "those that this thread made. You can mark others. The model writes the message, which "
        "you can edit; `/commit MESSAGE` (or `-m MESSAGE`) uses yours, in quotes or without. If "
        "the commit fails, the index is restored, and you can try again.",
    ),
    Command(
        "pr",
        "Push this branch and open a pull request.",
        pull_request,
        usage="[WISHES]",
        more="The model writes title and description, and you approve them. It needs `gh`; "
        "without it, nothing is pushed, and you see what to run.",
    ),
)
