"""The command line: a table of commands, each imported when it is called, and the one place where
errors become sentences and exit codes."""

import errno
import os
import sys
from importlib import import_module
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, NoReturn

import click

from steersman.records.errors import Exit, SteersmanError, UsageProblem

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "chat": ("chat", "command", "Open the terminal chat; the same as `steer` alone."),
    "run": ("work", "run", "Run one task without a terminal chat."),
    "resume": ("work", "resume", "Continue a thread."),
    "attach": ("background", "attach", "Open the terminal on a thread, whichever process runs it."),
    "answer": ("answering", "answer", "Answer what a thread asks."),
    "tell": ("background", "tell", "Send a message to a thread."),
    "cancel": ("background", "cancel", "Stop a thread's turn."),
    "wait": ("background", "wait", "Wait for a thread's turn; its exit code is the run's."),
    "demo": ("demo", "command", "See the whole loop on a sample project; no key, no network."),
    "call": ("tools", "call", "Call any tool, through the gate."),
    "tools": ("tools", "command", "List the tools; check a file that is to be one."),
    "threads": ("threads", "command", "List, show, export, import or remove threads."),
    "fork": ("threads", "fork", "Start a new thread from a point of another."),
    "undo": ("undo", "undo", "Undo what a turn did to files."),
    "redo": ("undo", "redo", "Redo the last undo."),
    "rewind": ("undo", "rewind", "Go back to a message: files and conversation."),
    "replay": ("ledger", "replay", "Show a thread's messages again."),
    "ledger": ("ledger", "command", "Show, follow, verify or export the log of a thread."),
    "cost": ("cost", "command", "Show what models used and cost."),
    "bench": ("bench", "command", "Measure models on small coding tasks."),
    "guard": ("guard", "command", "Judge shell commands without running them."),
    "model-server": ("model_server", "command", "Serve a scripted model over HTTP."),
    "compact": ("compact", "command", "Show the model a digest of a long thread, or undo that."),
    "policy": ("policy", "command", "Show, explain and forget permissions; trust folders."),
    "skills": ("skills", "command", "List, show, install, enable and disable skills."),
    "hooks": ("hooks", "command", "Show the hooks in effect and the events that have none."),
    "agents": ("agents", "command", "List the roles that files describe."),
    "mcp": ("mcp", "command", "Set up, try and list MCP servers; be one."),
    "serve": ("serve", "command", "Offer threads over HTTP: to pages, programs, other machines."),
    "token": ("token", "command", "Make, list and revoke tokens for programs."),
    "index": ("index", "command", "Show, build and ask the index of the code."),
    "login": ("login", "login", "Log in with the key of a model provider."),
    "logout": ("login", "logout", "Forget the key of a provider."),
    "models": ("login", "models", "List the models that your keys can use."),
    "config": ("config", "command", "Show and change settings, and where each comes from."),
    "store": ("store", "command", "Show the store of threads, or copy it elsewhere."),
    "docs": ("docs", "command", "Read the manual."),
    "completion": ("completion", "command", "Let your shell complete commands and their flags."),
    "doctor": ("doctor", "command", "Check the set-up: what works, what is missing."),
}

# What the host itself starts, and what flags alone mean.
HIDDEN = {
    "carry": ("background", "carry"),
    "print": ("printing", "command"),
    "workspace": ("workspace", "command"),
}

# What goes wrong with standard output itself: a full disk, a full quota, a terminal that is gone.
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
ALIKE = 0.8  # how much of a name is right when it is taken for a slip
GUESS = 0.6  # the same where nothing else can be meant

OWN = ("-h", "--help", "-V", "--version")  # flags of `steer` itself; others belong to the chat


class Commands(click.Group):
    """Subcommands by name; their modules are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """One command, imported now."""
        if not _known(name):
            return None
        module, attribute = HIDDEN.get(name) or COMMANDS[name][:2]
        found = getattr(import_module(f"steersman.ports.cli.{module}"), attribute)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; a wrong name is answered with the nearest."""
        wrong = not _known(args[0]) and not args[0].startswith("-")
        if wrong and not ctx.resilient_parsing:
            near = _elsewhere(args) or _near(args[0], GUESS)
            raise UsageProblem(
                f"There is no command “{args[0]}”.",
                f"Did you mean `steer {near}`?" if near else "`steer --help` lists them.",
                "A task that begins with this word: steer chat TASK.",
            )
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """Names of commands and flags, without importing any command."""
        from click.shell_completion import CompletionItem

        begun = {name: entry[2] for name, entry in COMMANDS.items() if name.startswith(incomplete)}
        named = [CompletionItem(name, help=told) for name, told in begun.items()]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help text, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])


@click.command(
    cls=Commands,
    subcommand_metavar="[COMMAND] [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="New here? `steer login` keeps your key; `steer demo` needs none.",
)
@click.version_option(None, "--version", "-V", package_name="steersman", prog_name="steer")
def app() -> None:
    """Steersman: a host for coding agents. Every effect passes one gate and lands in one log.

    \b
    Chat, all flags with `steer chat --help`:
      steer [TASK]           Open the chat; TASK is sent first.
      -c, --continue         Continue the last thread of this folder.
      -r, --resume [ID]      Continue a thread; without an id, choose one.
      -m, --model NAME       Use this model, as in provider:name.
      --mode MODE            ask, plan, spec, code or debug.
      --approvals LEVEL      When you are asked: review, on-request, on-failure, never.
      --plain                Line by line, without a full screen.

    \b
    In a script, all flags with `steer -p --help`:
      -p, --print TASK       Do the task, print the answer and end.
      --output-format FORMAT text, json or stream-json.
    """


def run() -> NoReturn:
    """Run the command line and end the process with the right exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an output that knows few letters gets those
    if "_STEER_COMPLETE" in os.environ:
        from steersman.ports.cli.completion import complete

        complete(app, _meant)
    sys.exit(_outcome(_meant(sys.argv[1:]) or ["chat"]))


def _meant(arguments: list[str]) -> list[str]:
    """Arguments with the command that a person left out: a task to run, or a chat to open."""
    if arguments[:1] == ["-e"]:
        return ["run", *arguments]
    if not arguments:
        return []
    if arguments[0] == "help" and _asks_for_help(arguments[1:]):
        return [*arguments[1:], "--help"]
    flag = arguments[0].startswith("-") and arguments[0].partition("=")[0]
    if flag and flag not in OWN:
        from steersman.ports.cli.printing import meant, wanted

        return ["print", *meant(arguments)] if wanted(arguments) else ["chat", *arguments]
    return ["chat", *arguments] if not flag and _is_task(arguments) else arguments


def _is_task(arguments: list[str]) -> bool:
    """Whether words are a task: no command has a blank in its name, and of several words the first
    would be one, or nearly one."""
    first, *rest = arguments
    if any(map(str.isspace, first)):
        return not _known(first)
    several = bool(rest) and not rest[0].startswith("-")
    return several and not (_known(first) or _elsewhere(arguments) or _near(first))


def _asks_for_help(words: list[str]) -> bool:
    """Whether words after `help` name a command; others are a task: help me with this."""
    if len(words) == 1:
        return bool(_known(words[0]) or _near(words[0]))
    return not words or (len(words) == 2 and _known(words[0]))


def _elsewhere(words: list[str]) -> str:
    """Our command for what other agents call by these words; empty if they mean none."""
    known = elsewhere()
    named: str = known["commands"].get(" ".join(words[:2])) or known["commands"].get(words[0], "")
    alone = len(words) == 1 or words[1].startswith("-")
    return named or (known["alone"].get(words[0], "") if alone else "")


def elsewhere() -> dict[str, dict[str, Any]]:
    """What other agents call our commands and flags."""
    import tomllib
    from pathlib import Path

    return tomllib.loads(Path(__file__).with_name("elsewhere.toml").read_text(encoding="utf-8"))


def _known(name: str) -> bool:
    return name in COMMANDS or name in HIDDEN


def _near(name: str, alike: float = ALIKE) -> str:
    """The command that a wrong name is nearly; empty if there is none."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name[:40].lower(), COMMANDS, n=1, cutoff=alike)), "")


def _outcome(arguments: list[str]) -> int:
    try:
        answer: Any = app.main(arguments, prog_name="steer", standalone_mode=False)
        return int(answer) if isinstance(answer, int) else Exit.DONE
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        option = error.option_name if isinstance(error, click.NoSuchOption) else ""
        if named := elsewhere()["flags"].get(option):
            flag, does = named
            show_problem(UsageProblem(f"Here it is `{flag}`, not {option}.", does))
        else:
            _show_usage(error)
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return Exit.INTERRUPTED
    except SteersmanError as error:
        show_problem(error)
        return error.exit
    except BrokenPipeError:
        return _pipe_closed()
    except Exception as error:
        if isinstance(error, OSError) and error.errno in UNWRITABLE and not error.filename:
            raise  # of standard output; whoever runs the program says so
        if isinstance(error, UnicodeEncodeError) and not "".join(arguments).isprintable():
            return _not_text(arguments)
        return _defect(error)


def _show_usage(error: click.ClickException) -> None:
    """What click says of it, which may quote any word that was given."""
    from steersman.views.text import safe

    said = StringIO()
    error.show(said)
    click.echo(safe(said.getvalue()), nl=False, err=True)


def show_problem(problem: SteersmanError) -> None:
    """What happened, why, what to do; to standard error."""
    from steersman.ports.cli.flowing import flowing
    from steersman.views.text import sentence

    lines = [click.style("Error: ", fg="red", bold=True) + sentence(problem.what)]
    lines += [f"  {sentence(line)}" for line in (problem.why, problem.try_this) if line]
    click.echo(flowing("\n".join(lines), err=True), err=True)


def _pipe_closed() -> int:
    """The reader of our output has gone: nothing is left to say, and that is not a failure."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.FAILED


def _not_text(arguments: list[str]) -> int:
    """Something on the command line is not UTF-8 where words were wanted."""
    odd = next(word for word in arguments if not word.isprintable())
    shown = odd.encode("utf-8", "backslashreplace").decode()
    show_problem(UsageProblem(f"“{shown}” is not text in UTF-8.", try_this="Write it in UTF-8."))
    return Exit.USAGE


def _defect(error: Exception) -> int:
    """A mistake of ours: the user gets a sentence, the traceback goes to a file."""
    import tempfile
    import traceback

    descriptor, path = tempfile.mkstemp(prefix="steersman-crash-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        traceback.print_exception(error, file=file)
    show_problem(
        SteersmanError(
            f"Steersman has a bug: {type(error).__name__}: {error}",
            f"The details are in {path}.",
            "Your threads are kept. Please report it with that file.",
        )
    )
    return Exit.FAILED
