"""Build tools: what a task publishes, what a plugin starts, and where an installation goes."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import shown
from steersman.governance.guard.options import read_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.verbs import by_table
from steersman.records.patterns import pattern


def mvn(call: ProgramCall) -> None:
    """`mvn`, `gradle` and other builders: `exec` plugins run commands."""
    given = dict(
        word[2:].split("=", 1) for word in call.args if word.startswith("-D") and "=" in word
    )
    program = given.get("exec.executable")
    if program:
        call.run([program, *given.get("exec.args", "").split()], None)
        call.wrapper = False
    call.args = [_task(call.name, word) for word in call.args if not _AT_HOME.search(word)]
    if call.name == "cmake" and call.args[:1] == ["-E"]:
        _cmake_tool(call)
        return
    if call.name == "cmake":
        for word in call.args:
            if word == "--install" and not _staged(call):
                call.ask("fs.write-outside", "installs outside the workspace")
            found = re.match(r"-DCMAKE_(?:C|CXX)_COMPILER(?:_LAUNCHER)?=(.+)", word)
            if found and "/tmp" in found[1]:
                call.doubt("flag.helper", f"compiles with {shown(found[1])}")
    if call.name == "java":
        _java(call)
    by_table(call)


# Publishing to a folder of this machine.
_AT_HOME = pattern(
    r"(?:\A|[:/+]|To)(?:publish(?:\w*To)?MavenLocal|MavenLocal|publishLocal|publishM2)\Z"
)


def _task(program: str, word: str) -> str:
    """A task without the project it belongs to: `:app:publish`, `core/publishSigned`."""
    if program in ("gradle", "gradlew") and ":" in word and not word.startswith("-"):
        return word.rpartition(":")[2]
    if program == "sbt" and re.fullmatch(r"[\w-]+/[\w:]+", word):
        return word.rpartition("/")[2]
    return word


def _staged(call: ProgramCall) -> bool:
    """True when an installation goes to a folder of the workspace."""
    for at, word in enumerate(call.args):
        found = re.match(r"(?:DESTDIR|PREFIX|prefix|--prefix)=(.+)", word)
        folder = (
            found[1]
            if found
            else call.args[at + 1]
            if word == "--prefix" and at + 1 < len(call.args)
            else None
        )
        if folder and call.zone(folder) in (Zone.INSIDE, Zone.TEMP):
            return True
    return False


def _java(call: ProgramCall) -> None:
    options = read_options(call.args, "-cp -classpath -jar --module-path -p -m", True)
    for word in call.args:
        found = re.match(r"-(?:javaagent|agentpath|agentlib):(.+)", word)
        if found and call.zone(found[1]) is not Zone.INSIDE:
            call.doubt("flag.helper", f"loads {shown(found[1])} into the program")
    name = options.get("-jar")
    if name and call.zone(name) is not Zone.INSIDE:
        made = call.content(name)
        (call.block if made and "\ue004" in made else call.ask)(
            "code.unknown", "runs a program from outside the project"
        )


def _cmake_tool(call: ProgramCall) -> None:
    sub, rest = (call.args[1], call.args[2:]) if len(call.args) > 1 else ("", [])
    if sub in ("env", "time"):
        while rest and (
            ("=" in rest[0] and not rest[0].startswith("-"))
            or rest[0].startswith("--unset")
            or rest[0] == "--"
        ):
            rest = rest[1:]
        call.run(rest, None)
    elif sub == "chdir":
        call.shell = call.shell.copy()
        call.shell.cwd = call.path(rest[0]) if rest else call.shell.cwd
        call.run(rest[1:], None)
    elif sub in ("remove", "remove_directory", "rm"):
        call.run(["rm", "-rf", *rest], None)
    elif sub in ("create_symlink", "create_hardlink"):
        call.run(["ln", "-s" if "sym" in sub else "-f", *rest], None)
    elif sub in (
        "copy",
        "copy_directory",
        "rename",
        "copy_if_different",
        "make_directory",
        "touch",
    ):
        for word in rest[-1:]:
            call.write(word)


def make(call: ProgramCall) -> None:
    """`make`: project targets; `install` may go anywhere."""
    if not _staged(call):
        by_table(call)
    check_flags(call)
    content = call.content("Makefile")
    if content is not None and content != "\ue002":
        for line in re.findall(r"(?m)^\t@?-?(.+)$", content):
            call.script(line.replace("$$", "$"))
            call.wrapper = False
