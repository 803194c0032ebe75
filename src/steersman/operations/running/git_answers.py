"""What git says about a repository when the host asks it.

Nothing that a repository configures is run: no hook, no fetch, no filter, no check of signatures.
Git takes no lock, and shows what there is: nothing in its place that the repository names instead.
"""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from steersman import children
from steersman.operations.running.git_pipes import looked_after, waits_at
from steersman.operations.running.programs import found, git, repository

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
    with _asked(folder, environ, words, workspace, {}, cwd, seconds) as child:
        if child is None:
            return None
        printed, _ = child.communicate(said)
        return printed[:most] if child.returncode == 0 else None


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
    with _asked(folder, environ, words, workspace, settings, "", seconds) as child:
        if child is None:
            return None
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.close()
        printed = child.stdout.read(most + 1)
        if len(printed) > most:
            return printed[:most], False
        return (printed, True) if child.wait() == 0 else None


@contextmanager
def _asked(
    folder: str,
    environ: Mapping[str, str],
    words: Sequence[str],
    workspace: str,
    settings: Mapping[str, str],
    cwd: str,
    seconds: float,
) -> Iterator[subprocess.Popen[bytes] | None]:
    """Git at work; None where it cannot be asked."""
    top = repository(folder)
    program = git(environ, folder)
    if program is not None and workspace:
        program = found("git", environ, workspace)
    if program is None or top is None or waits_at(top):
        yield None
        return
    kept = _environment(environ, settings)
    try:
        child = children.talk([program, *_SAFE, *words], cwd=cwd or folder, environ=kept)
    except OSError:
        yield None
        return
    with child, looked_after(child, top, seconds):
        yield child


def _environment(environ: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
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
    return kept
