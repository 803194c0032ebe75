"""What a tool of your own is made of, and how it is run: in a process of its own, in the sandbox.

A file with one class that is a `Tool` is all there is to write; see `docs/extensions.md`. The host
never imports it. It runs `main` in a sandbox, gives it the text of the file and what is wanted on
standard input, and reads one JSON object from standard output.
"""

import inspect
import os
import re
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from types import ModuleType
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Meta as Meta

from steersman.records import validation
from steersman.records.arguments import schema

LONGEST = 600.0  # seconds that a tool may ask for
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_MODULE = "steersman_tool"


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """Base of a tool's arguments."""


class Tool:
    """A tool: its docstring is what the model reads, `Args` what it takes, `run` what it does.

    `files` says whether it only reads the workspace or also changes it, `hosts` which hosts it
    reaches (`api.example.com`, `example.com:8080`), `timeout` how many seconds it may take.
    """

    name: ClassVar[str] = ""
    files: ClassVar[Literal["read", "write"]] = "read"
    hosts: ClassVar[Sequence[str]] = ()
    timeout: ClassVar[float] = 60.0

    class Args(Arguments):
        """No arguments."""

    def run(self, args: Any) -> Any:
        """Do it, in the workspace folder; the answer is anything that JSON can say."""
        raise NotImplementedError


class _Wrong(Exception):
    """What is wrong with a file, as sentences."""


def _loaded(code: str, path: str) -> type[Tool]:
    """The one tool that a file defines."""
    module = ModuleType(_MODULE)
    module.__file__ = path
    sys.modules[_MODULE] = module
    try:
        exec(compile(code, path, "exec"), module.__dict__)
    except SyntaxError as error:
        raise _Wrong(f"Line {error.lineno} is not valid Python: {error.msg}.") from None
    except BaseException as error:
        raise _Wrong(f"It cannot be loaded: {_words(error, path)}.") from None
    own: list[type[Tool]] = [one for one in vars(module).values() if _is_tool(one)]
    if not own:
        raise _Wrong("It has no class that is a Tool: write `class MyTool(Tool):`.")
    if len(own) > 1:
        names = ", ".join(one.__name__ for one in own)
        raise _Wrong(f"It has several tools ({names}): one file is one tool.")
    return own[0]


def _is_tool(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, Tool) and found.__module__ == _MODULE


def _described(tool: type[Tool]) -> dict[str, Any]:
    """A tool as the host needs to know it; raises everything that is wrong with it."""
    wrong = [sentence for right, sentence in _checks(tool) if not right]
    parameters: dict[str, Any] = {}
    if isinstance(tool.Args, type) and issubclass(tool.Args, Arguments):
        try:
            parameters = schema(tool.Args)
        except (TypeError, NameError) as error:
            wrong.append(f"`Args` cannot be shown as a schema: {str(error).rstrip('.')}.")
    else:
        wrong.append("`Args` is not a class of arguments: write `class Args(Arguments):`.")
    if wrong:
        raise _Wrong(*wrong)
    return {
        "name": tool.name,
        "description": inspect.cleandoc(tool.__doc__ or ""),
        "parameters": parameters,
        "files": tool.files,
        "hosts": list(tool.hosts),
        "timeout": tool.timeout,
    }


def _checks(tool: type[Tool]) -> list[tuple[bool, str]]:
    named = isinstance(tool.name, str) and _NAME.fullmatch(tool.name) is not None
    hosts = isinstance(tool.hosts, list | tuple) and all(isinstance(h, str) for h in tool.hosts)
    timed = isinstance(tool.timeout, int | float) and 0 < tool.timeout <= LONGEST
    return [
        (
            named and len(tool.name) <= 60,
            "`name` is missing or cannot be used: it is words of small letters and digits with "
            'single underscores between, such as `name = "count_words"`, 60 characters at most.',
        ),
        (bool((tool.__doc__ or "").strip()), "The class has no docstring: the model reads it."),
        (tool.run is not Tool.run, "It has no `run`: write `def run(self, args):`."),
        (tool.files in ("read", "write"), '`files` is neither "read" nor "write".'),
        (hosts, '`hosts` is not a list of names, such as `hosts = ["api.example.com"]`.'),
        (timed, f"`timeout` is not a number of seconds up to {LONGEST:g}."),
    ]


def _called(tool: type[Tool], arguments: Any, path: str) -> dict[str, Any]:
    """What came of a call."""
    try:
        args = msgspec.convert(arguments, tool.Args)
    except msgspec.ValidationError as error:
        return {"malformed": validation.in_words(error)}
    try:
        output = tool().run(args)
        if inspect.iscoroutine(output):
            import asyncio

            output = asyncio.run(output)
    except BaseException as error:
        return {"problems": [f"{_words(error, path)}."]}
    try:
        return {"output": msgspec.to_builtins(output, str_keys=True)}
    except (TypeError, ValueError, RecursionError) as error:
        return {"problems": [f"What `run` returned cannot be written as JSON: {error}."]}


def _words(error: BaseException, path: str) -> str:
    """An error and the line of the file that it comes from."""
    at, traceback = 0, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            at = traceback.tb_lineno
        traceback = traceback.tb_next
    said = f"{type(error).__name__}: {error}".rstrip(". ").removesuffix(":")
    return f"{said} (line {at})" if at else said


def main() -> None:
    """Do what standard input asks for. Whatever else is printed goes to standard error."""
    answer = os.dup(1)
    os.dup2(2, 1)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # in order with what its programs print
    with open(0, "rb", closefd=False) as asked:
        request = msgspec.json.decode(asked.read(), type=dict[str, Any])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    path = request["path"]
    try:
        tool = _loaded(request["code"], path)
        reply = _called(tool, request["call"], path) if "call" in request else _described(tool)
    except _Wrong as wrong:
        reply = {"problems": list(wrong.args)}
    with open(answer, "wb") as out:
        out.write(msgspec.json.encode(reply))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)  # what a tool left running does not hold up the answer
