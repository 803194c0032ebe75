"""All commands by name: found in a line, completed while it is typed, run with errors as sentences.

A module in `builtin/` with a tuple `COMMANDS` is enough for new ones to be there.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from msgspec import Struct

from steersman.records.errors import SteersmanError, UsageProblem
from steersman.views.commands import builtin
from steersman.views.commands.stage import Stage

NOTE = "# "  # how a line begins that is kept in an instruction file
# Words that mean a command without its slash when they are all of a line, as in a shell or Vim.
BARE = {"exit": "quit", "quit": "quit", ":q": "quit", ":q!": "quit", ":wq": "quit", "help": "help"}


class Choice(Struct, frozen=True):
    """Something a line could be completed to: the text to put in and what it is."""

    text: str
    about: str = ""


def _always(_: Stage) -> bool:
    return True


class Command(Struct, frozen=True):
    """A command. `usage` are its arguments, such as `[SEQ]`; `more` is what its help adds.

    `complete` gets the words after the name as far as they are typed. A command that is not
    `available` is as good as not there. `source` is the file of a command that a person wrote.
    """

    name: str
    about: str
    run: Callable[[Stage, str], Awaitable[None]]
    usage: str = ""
    more: str = ""
    complete: Callable[[Stage, str], Sequence[Choice]] | None = None
    available: Callable[[Stage], bool] = _always
    while_working: bool = False
    aliases: tuple[str, ...] = ()
    source: str = ""

    @property
    def line(self) -> str:
        """How it is typed."""
        return f"/{self.name} {self.usage}".rstrip()


class CommandLine(Struct, frozen=True):
    """A line, understood: which command, and the words after its name."""

    command: Command
    arguments: str = ""


class Registry:
    """The commands one can use. Where two have a name, the first counts."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._by_name: dict[str, Command] = {}
        self.problems: tuple[str, ...] = ()
        for command in commands:
            self._by_name.setdefault(command.name, command)

    @classmethod
    def at(cls, stage: Stage) -> "Registry":
        """The product's own commands and those that were written for this folder and person."""
        from steersman.views.commands.files import read_commands

        seat = stage.seat
        trusted = seat.host.permissions.folder(seat.folder).loads
        written = read_commands(seat.folder, stage.environ, trusted=trusted)
        own = tuple(command for command in own_commands() if command.available(stage))
        taken = {name for command in own for name in (command.name, *command.aliases)}
        registry = cls((*own, *(one for one in written.commands if one.name not in taken)))
        hidden = [one for one in written.commands if one.name in taken]
        registry.problems = (
            *written.problems,
            *(f"{one.source} is not used: /{one.name} is Steersman's own." for one in hidden),
        )
        return registry

    @property
    def commands(self) -> tuple[Command, ...]:
        """All of them, in order."""
        return tuple(self._by_name.values())

    def also(self, command: Command) -> list[str]:
        """Other names that it has here, and what it is called elsewhere."""
        others = [name for name, same in elsewhere()["same"].items() if same == command.name]
        return [name for name in (*command.aliases, *others) if name not in self._by_name]

    def available(self, stage: Stage) -> list[Command]:
        """Those whose capability is there now."""
        return [command for command in self.commands if command.available(stage)]

    def get(self, name: str) -> Command:
        """A command by its name; a wrong one is answered with the nearest."""
        wanted = name.removeprefix("/").lower()
        for command in self.commands:
            if wanted in (command.name.lower(), *command.aliases):
                return command
        known = elsewhere()
        if same := self._by_name.get(known["same"].get(wanted, "")):
            return same
        near = self._near(wanted[:60])
        told = f"Similar: {', '.join('/' + one for one in near)}." if near else ""
        told = known["told"].get(wanted, told)
        raise UsageProblem(f"There is no command “/{wanted[:60]}”.", told, "/help shows them all.")

    def find(self, line: str) -> CommandLine | None:
        """The command a line means; None when the line is no command but words for the model.

        A path such as `/usr/bin` is words.
        """
        if not is_command(line):
            return None
        text = line.strip()
        if text.startswith(NOTE):
            return CommandLine(self.get("memory"), f"add {text.removeprefix(NOTE).strip()}")
        if bare := BARE.get(text.lower()):
            return CommandLine(self.get(bare))
        name = text.split(maxsplit=1)[0]
        return CommandLine(self.get(name), text[len(name) :].strip())

    def complete(self, stage: Stage, line: str) -> list[Choice]:
        """What a line that begins with `/` could become; each choice is a whole line."""
        if not line.startswith("/"):
            return []
        name, space, words = line[1:].partition(" ")
        if not space:
            return self._names(stage, name)
        try:
            command = self.get(name)
        except UsageProblem:
            return []
        if command.complete is None or not command.available(stage):
            return []
        wanted = words.casefold()
        found = command.complete(stage, words)
        return [
            Choice(f"/{command.name} {one.text}", one.about)
            for one in found
            if one.text.casefold().startswith(wanted)
        ]

    async def run(self, stage: Stage, line: str) -> bool:
        """Carry out a line; False when it is not a command. Problems are reported, not raised."""
        try:
            call = self.find(line)
            if call is None:
                return False
            self.check(stage, call.command)
            await call.command.run(stage, call.arguments)
        except SteersmanError as problem:
            stage.tell(problem.facts, problem.try_this)
        return True

    def check(self, stage: Stage, command: Command) -> None:
        """Refuse a command that has to wait, or that is not available here."""
        if not command.available(stage):
            raise UsageProblem(f"/{command.name} is not available here.")
        if stage.seat.here and stage.seat.doing == "working" and not command.while_working:
            raise UsageProblem(
                f"/{command.name} cannot be used while a turn runs.",
                try_this="Stop the turn with Esc, or try again when it has ended.",
            )

    def _names(self, stage: Stage, begun: str) -> list[Choice]:
        """Commands by what their names begin with, then those that have it anywhere."""
        wanted = begun.casefold()
        here = self.available(stage)
        first = [one for one in here if one.name.casefold().startswith(wanted)]
        other = [one for one in here if one not in first and wanted in one.name.casefold()]
        other += [
            one
            for one in here
            if one not in first
            and one not in other
            and any(alias.startswith(wanted) for alias in self.also(one))
        ]
        return [Choice(f"/{one.name}", one.about) for one in (*first, *other)]

    def _near(self, name: str) -> list[str]:
        names = {command.name.lower(): command.name for command in self.commands}
        begins = [names[one] for one in names if name and one.startswith(name)]
        close = [names[one] for one in get_close_matches(name, list(names), n=3, cutoff=0.5)]
        return list(dict.fromkeys((*begins, *close)))[:4]


def is_command(line: str) -> bool:
    """Whether a line is meant as a command: a slash and a name, but not a path; a word by which one
    leaves or asks for help; or it is a note.

    A note is one line that begins with `# `; several lines are Markdown with a heading.
    """
    if line.startswith(NOTE) and line[len(NOTE) :].strip():
        return "\n" not in line.strip()
    word = line.strip().split(maxsplit=1)[0] if line.strip() else ""
    if line.strip().lower() in BARE:
        return True
    return word.startswith("/") and len(word) > 1 and "/" not in word[1:] and word[1] != "*"


@cache
def elsewhere() -> dict[str, dict[str, str]]:
    """What other agents call our commands (`same`), and what to say of theirs (`told`)."""
    import tomllib
    from pathlib import Path

    return tomllib.loads(Path(__file__).with_name("elsewhere.toml").read_text(encoding="utf-8"))


@cache
def own_commands() -> tuple[Command, ...]:
    """The product's own: of every module in `builtin/`, sorted by name."""
    found: list[Command] = []
    for module in iter_modules(builtin.__path__):
        found += import_module(f"{builtin.__name__}.{module.name}").COMMANDS
    return tuple(sorted(found, key=lambda command: command.name))
