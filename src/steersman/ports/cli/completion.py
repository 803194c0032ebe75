"""`steer completion SHELL`: what a shell evaluates to complete commands, flags and their values.

The shell then calls `steer` with `_STEER_COMPLETE` in its environment, which `complete` answers.
"""

import os
from collections.abc import Callable
from typing import NoReturn

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

VARIABLE = "_STEER_COMPLETE"
_UNSAID = ("chat", "print")  # the commands whose flags need no command before them


class _Meant(ShellComplete):
    """Completes what people leave out, too: `steer -p --out…`."""

    meant: Callable[[list[str]], list[str]]

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """What the word that is begun can become."""
        if args:
            return super().get_completions(self.meant(args), incomplete)
        found = super().get_completions([], incomplete)
        for command in _UNSAID if incomplete.startswith("-") else ():
            found += super().get_completions([command], incomplete)
        return list({one.value: one for one in found}.values())


class _Bash(_Meant, BashComplete):
    """Bash takes `provider:model` for three words, and wants the last one only."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before, and the one that is begun, with colons as they were."""
        words = split_arg_string(os.environ["COMP_WORDS"])[: int(os.environ["COMP_CWORD"]) + 1]
        if len(words) <= int(os.environ["COMP_CWORD"]):
            words.append("")
        whole: list[str] = []
        for word in words:
            if whole and (word == ":" or whole[-1].endswith(":")):
                whole[-1] += word
            else:
                whole.append(word)
        return whole[1:-1], whole[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """A value from its last colon on."""
        return f"{item.type},{item.value.rpartition(':')[2]}"


class _Zsh(_Meant, ZshComplete):
    pass


class _Fish(_Meant, FishComplete):
    pass


_SHELLS: dict[str, type[_Meant]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete `steer`.

    For bash, add to ~/.bashrc: eval "$(steer completion bash)". For zsh, the same with zsh in
    ~/.zshrc. For fish: steer completion fish > ~/.config/fish/completions/steer.fish
    """
    click.echo(_made(shell, ctx.find_root().command).source())


def complete(app: click.Command, meant: Callable[[list[str]], list[str]]) -> NoReturn:
    """Answer a shell that wants to complete something."""
    shell = os.environ[VARIABLE].partition("_")[0]
    if shell in _SHELLS:
        made = _made(shell, app)
        made.meant = meant
        click.echo(made.complete())
    raise SystemExit(0)


def _made(shell: str, app: click.Command) -> _Meant:
    return _SHELLS[shell](app, {}, "steer", VARIABLE)
