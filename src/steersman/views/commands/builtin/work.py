"""`/review`, `/init`, `/retry`, `/compact`, `/mention`, `/drop`, `/edit`, `/queue`: things to
say and to prepare."""

import os
from importlib.resources import files as resources

from steersman.records.errors import UsageProblem
from steersman.records.message import Compaction, TurnEnd, User
from steersman.views.attachments import as_mention
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.template import fill
from steersman.views.commands.turns import in_one_turn
from steersman.views.commands.words import choices, nothing, one_of
from steersman.views.text import compaction_words

PROMPTS = "steersman.views.commands"
LISTED = 200


def prompt(name: str, arguments: str) -> str:
    """The text of a command that is a prompt."""
    body = resources(PROMPTS).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return fill(body, arguments).text


async def review(stage: Stage, arguments: str) -> None:
    """Let the model look over the working tree; it can change nothing meanwhile."""
    await in_one_turn(stage, prompt("review", arguments), mode="plan")


async def init(stage: Stage, arguments: str) -> None:
    """Let the model write AGENTS.md."""
    mode = stage.seat.settings.mode
    if mode not in ("code", "debug"):
        raise UsageProblem(
            "/init writes a file.", f"Mode {mode} writes none.", "/code, and then /init."
        )
    there = os.path.exists(os.path.join(stage.seat.folder, "AGENTS.md"))
    await stage.say(prompt("init_again" if there else "init", arguments))


async def retry(stage: Stage, arguments: str) -> None:
    """Send the last message again, after a turn that failed or was stopped."""
    nothing("retry", arguments)
    seat = stage.seat
    messages = seat.host.messages(seat.id, kinds={"user", "turn_end"}) if seat.thread else ()
    said, ending = "", ""
    for message in messages:
        if isinstance(message.body, User):
            said = message.body.text
        elif isinstance(message.body, TurnEnd):
            ending = message.body.ending
    if not said or ending == "done":
        raise UsageProblem("There is nothing to try again.")
    await stage.say(said)


async def compact(stage: Stage, arguments: str) -> None:
    """Show the model a digest of what is older, or undo that."""
    seat = stage.seat
    undo = one_of("compact", arguments, ("undo",)) == "undo"
    changed = await seat.handle.compact(undo=undo)
    if not changed:
        stage.tell(
            "There is no compaction to undo." if undo else "There is nothing to compact yet."
        )
    elif undo:
        stage.done("Undone: the model sees what it saw before.")
    else:
        made = [m.body for m in seat.host.messages(seat.id, kinds={"compaction"})]
        last = made[-1] if made else None
        told = compaction_words(last) if isinstance(last, Compaction) else "done"
        stage.done(f"Compacted: {told}.")
        stage.tell("/compact undo undoes it.")


async def mention(stage: Stage, arguments: str) -> None:
    """Name a file in what is being written."""
    name = arguments.strip()
    if not name:
        stage.compose("@")
        return
    path = os.path.join(stage.seat.folder, os.path.expanduser(name))
    if not os.path.exists(path):
        raise UsageProblem(f"There is no file “{name[:200]}” here.")
    stage.compose(f"{as_mention(name)} ")


def files(stage: Stage, begun: str) -> list[Choice]:
    """Files and folders whose path begins with what is typed."""
    folder, _, start = begun.rpartition("/")
    place = os.path.join(stage.seat.folder, folder)
    try:
        with os.scandir(place) as listed:
            found = sorted(
                entry.name + "/" * entry.is_dir()
                for entry in listed
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            )
    except (OSError, ValueError):
        return []
    return [Choice(os.path.join(folder, name)) for name in found[:LISTED]]


async def drop(stage: Stage, arguments: str) -> None:
    """Take a file out of context."""
    files = stage.files()
    wanted: str | None = arguments.strip().removeprefix("@")
    if not files:
        stage.tell("No files are in context. Name one with @.")
        return
    if not wanted:
        wanted = await stage.pick("Drop which file from context?", [Row(one, one) for one in files])
    if not wanted:
        return
    if wanted not in (*files, "all"):
        raise UsageProblem(
            f"“{wanted[:200]}” is not in context.", f"In context: {', '.join(files)}."
        )
    for one in files if wanted == "all" else (wanted,):
        stage.drop(one)
    stage.tell(f"Dropped {wanted} from context.")


async def edit(stage: Stage, arguments: str) -> None:
    """Write in one's own editor."""
    nothing("edit", arguments)
    if not await stage.open("editor"):
        raise UsageProblem("There is no editor here.")


async def queue(stage: Stage, arguments: str) -> None:
    """Queue a message for the next turn."""
    if not arguments:
        raise UsageProblem("There is nothing to queue.", try_this="/queue TEXT")
    await stage.seat.queue(arguments)


COMMANDS = (
    Command("retry", "Send the last message again after a turn that failed.", retry),
    Command(
        "review",
        "Look over the changes in the working tree.",
        review,
        usage="[WHAT]",
        more="A read-only turn: it lists the problems by what would go wrong, and which "
        "tests are missing. WHAT narrows it down, such as a file or a branch.",
    ),
    Command(
        "init",
        "Write an AGENTS.md from what the repository shows.",
        init,
        usage="[WISHES]",
        more="What is there already is kept and improved.",
    ),
    Command(
        "compact",
        "Show the model a digest of what is older.",
        compact,
        usage="[undo]",
        more="Nothing is deleted; `undo` undoes it.",
        complete=lambda _, __: choices(("undo",)),
    ),
    Command(
        "mention",
        "Add a file for the model to read.",
        mention,
        usage="[FILE]",
        complete=files,
        while_working=True,
    ),
    Command(
        "drop",
        "Take a file out of context.",
        drop,
        usage="[FILE]",
        more="Files that you named with @ stay in context until you drop them; `all` drops all.",
        complete=lambda stage, _: [Choice(one) for one in (*stage.files(), "all")],
        while_working=True,
    ),
    Command("edit", "Write in your own editor.", edit, while_working=True),
    Command("queue", "Queue a message for the next turn.", queue, usage="TEXT", while_working=True),
)
