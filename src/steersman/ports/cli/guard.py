"""`steer guard`: what the shell guard says of commands. Nothing is run and nothing is looked up."""

import sys
from typing import Any

import click
import msgspec

from steersman.host.guard import Guard
from steersman.records import validation
from steersman.records.errors import Exit, UsageProblem
from steersman.records.judgement import Fact, Judgement

_EXIT = {"allow": Exit.DONE, "ask": Exit.NEEDS_ANSWER, "block": Exit.DENIED}
_COLOURS = {"allow": "green", "ask": "yellow", "block": "red"}


@click.command()
@click.argument("cmd", required=False)
@click.option("--stdin", "from_stdin", is_flag=True, help='Read JSON lines {"cmd": …}.')
@click.option("--workspace", "-w", metavar="DIR", help="The workspace (default: here).")
@click.option("--home", metavar="DIR", help="The home folder (default: yours).")
@click.option("--facts", "with_facts", is_flag=True, help="With JSON: add facts and advice.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    cmd: str | None,
    from_stdin: bool,
    workspace: str | None,
    home: str | None,
    with_facts: bool,
    as_json: bool,
) -> int:
    """Judge shell commands without running them.

    The folders need not exist. With one CMD the exit code is 0 for allow, 4 for ask and 3 for
    block. With --stdin one line is answered for every line read, in order, and the exit code is
    0, or 2 when a line was not understood.
    """
    if (cmd is None) == (not from_stdin):
        raise UsageProblem("Give one command, or --stdin.", try_this="steer guard 'rm -rf build'")
    guard = Guard(workspace, home)
    if cmd is None:
        return _lines(guard, with_facts)
    found = guard.judge(cmd)
    if as_json:
        click.echo(msgspec.json.encode(_answer(cmd, found, with_facts)).decode())
    else:
        _tell(found)
    return _EXIT[found.verdict]


def _lines(guard: Guard, with_facts: bool) -> int:
    """Answer line by line, as they come."""
    status = Exit.DONE
    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            asked = msgspec.json.decode(line)
            cmd = asked["cmd"]
            if not isinstance(cmd, str):
                raise TypeError("cmd is not a text")
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
            status = Exit.USAGE
            answer: dict[str, Any] = {
                "error": f'expected {{"cmd": "…"}}: {validation.in_words(error)}'
            }
        else:
            answer = _answer(cmd, guard.judge(cmd), with_facts)
        output.write(msgspec.json.encode(answer) + b"\n")
        output.flush()
    return status


def _answer(cmd: str, found: Judgement, with_facts: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "cmd": cmd,
        "verdict": found.verdict,
        "rule": found.rule,
        "reason": found.reason,
    }
    if with_facts:
        answer |= {
            "instead": found.instead,
            "breaker": found.breaker,
            "plain": found.plain,
            "facts": found.facts,
        }
    return answer


def _tell(found: Judgement) -> None:
    from steersman.views.text import safe

    verdict = click.style(found.verdict, fg=_COLOURS[found.verdict], bold=True)
    lifted = ", no setting lifts this" if found.breaker else ""
    click.echo(f"{verdict}  {safe(found.reason)}  ({found.rule}{lifted})")
    if found.instead:
        click.echo(f"  → {safe(found.instead)}")
    for fact in found.facts:
        click.echo(f"  {safe(' '.join(fact.words))}")
        for name, text in _details(fact):
            click.echo(click.style(f"    {name:<8} ", dim=True) + safe(text))


def _details(fact: Fact) -> list[tuple[str, str]]:
    rows = [
        ("through", " › ".join(fact.via)),
        ("reads", " ".join(fact.reads)),
        ("writes", " ".join(fact.writes)),
        ("deletes", " ".join(fact.deletes)),
        ("network", " ".join(fact.network)),
        ("remote", fact.remote),
        ("code", "runs unreviewed code" if fact.unknown_code else ""),
    ]
    return [row for row in rows if row[1]]
