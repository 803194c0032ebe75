"""The user's own editor: the text goes into a file, the editor runs, the file is read again.

Editor and folder are the user's: what lies in the workspace has no say in what is run.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from tempfile import TemporaryDirectory

from steersman.records.errors import UsageProblem

USUAL = ("nano", "vim", "vi")
LARGEST = 4_000_000


def editor(environ: Mapping[str, str]) -> list[str]:
    """The command that edits a file: of VISUAL, of EDITOR, or one that most machines have."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise UsageProblem(f"The variable {name} is not a command.", f"{error}.") from error
        if words:
            found = shutil.which(words[0], path=_absolute(environ))
            if found is None:
                raise UsageProblem(
                    f"The editor {words[0]} of {name} is not installed.",
                    try_this=f"Set {name} to the editor you use.",
                )
            return [found, *words[1:]]
    for name in USUAL:
        if found := shutil.which(name, path=_absolute(environ)):
            return [found]
    raise UsageProblem("No editor is known.", try_this="Set VISUAL or EDITOR to the one you use.")


def _absolute(environ: Mapping[str, str]) -> str:
    """The PATH without what is relative to the folder one happens to be in."""
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, folders))


def edit_file(path: str, environ: Mapping[str, str]) -> None:
    """Open a file of the user's. The terminal must be free for the editor."""
    command = editor(environ)
    folder = os.path.dirname(path)
    try:
        code = subprocess.run([*command, path], env=dict(environ), cwd=folder, check=False)
    except OSError as error:
        raise UsageProblem(f"{command[0]} cannot be started.", str(error)) from error
    if code.returncode:
        raise UsageProblem(f"{os.path.basename(command[0])} ended with {code.returncode}.")


def edit(text: str, environ: Mapping[str, str]) -> str:
    """The text as the user leaves it. The terminal must be free for the editor."""
    command = editor(environ)
    with TemporaryDirectory(prefix="steersman-") as folder:
        path = os.path.join(folder, "text.md")
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        try:
            code = subprocess.run([*command, path], env=dict(environ), cwd=folder, check=False)
        except OSError as error:
            raise UsageProblem(f"{command[0]} cannot be started.", str(error)) from error
        if code.returncode:
            raise UsageProblem(
                f"{os.path.basename(command[0])} ended with {code.returncode}.",
                "The text is as it was.",
            )
        return _read(path)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", newline=None) as file:
            edited = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageProblem("The edited text cannot be read.", str(error)) from error
    if len(edited) > LARGEST:
        raise UsageProblem("The edited text is too long.", f"At most {LARGEST:,} characters.")
    return edited.removesuffix("\n")
