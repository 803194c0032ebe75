"""What git says about a repository when the host asks it.

Nothing that a repository configures is run: no hook, no fetch, no filter, no check of signatures.
Git takes no lock, and shows what there is: nothing in its place that the repository names instead.
"""

import subprocess
from collections.abc import Mapping
from threading import Timer

from steersman import children
from steersman.operations.running.programs import found, git

PATIENCE = 10.0
MOST_OUTPUT = 8 << 20
_SAFE = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.hooksPath=",
         "-c", "safe.directory=*", "-c", "core.quotePath=false", "-c", "core.commitGraph=false",
         "--no-pager")  # fmt: skip


def answer(
    folder: str,
    environ: Mapping[str, str],
    *words: str,
    said: bytes = b"",
    cwd: str = "",
    workspace: str = "",
    seconds: float = PATIENCE,
    most: int | None = MOST_OUTPUT,
) -> bytes | None:
    """What a question to git prints; None when it fails, or there is no repository.

    It is `said` to git beside its words. The program is none of the folder's, and none of the
    `workspace`'s that it is in.
    """
    asked = _prepared(folder, environ, workspace, {})
    if asked is None:
        return None
    program, kept = asked
    try:
        line = [program, *_SAFE, *words]
        ran = children.run(line, cwd=cwd or folder, environ=kept, seconds=seconds, said=said)
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout[:most] if ran.returncode == 0 else None


def beginning(
    folder: str,
    environ: Mapping[str, str],
    *words: str,
    settings: Mapping[str, str],
    workspace: str = "",
    seconds: float = PATIENCE,
    most: int = MOST_OUTPUT,
) -> tuple[bytes, bool] | None:
    """The first bytes that git prints, and whether there are no more; git need not go on then.

    Its `settings` take the place of those that the repository has.
    """
    asked = _prepared(folder, environ, workspace, settings)
    if asked is None:
        return None
    program, kept = asked
    try:
        with children.talk([program, *_SAFE, *words], cwd=folder, environ=kept) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            late = Timer(seconds, child.kill)
            late.start()
            try:
                child.stdin.close()
                printed = child.stdout.read(most + 1)
                if len(printed) > most:
                    return printed[:most], False
                return (printed, True) if child.wait() == 0 else None
            finally:
                late.cancel()
                child.kill()
    except OSError:
        return None


def _prepared(
    folder: str, environ: Mapping[str, str], workspace: str, settings: Mapping[str, str]
) -> tuple[str, dict[str, str]] | None:
    """The program and its environment; None where it cannot be asked."""
    program = git(environ, folder)
    if program is not None and workspace:
        program = found("git", environ, workspace)
    if program is None:
        return None
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    kept |= {
        "GIT_ALLOW_PROTOCOL": "none",  # a repository's own config cannot lift it
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (name, value) in enumerate(settings.items()):
        # As words, a name with `=` in it would be another setting.
        kept |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return program, kept
