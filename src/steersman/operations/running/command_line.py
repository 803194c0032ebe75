"""What is started for a command, and in which environment: a shell, or for some a program alone."""

import asyncio
from collections.abc import Mapping

from msgspec.structs import replace

from steersman.operations.running.quieting import quiet_environment, terminal_environment
from steersman.operations.tool import Bench

NO_LOCKS = {"GIT_OPTIONAL_LOCKS": "0"}  # then `git status` leaves the index as it is
SHELL = ("bash", "--norc", "--noprofile", "-c")


def looking(bench: Bench, environ: Mapping[str, str]) -> Bench:
    """A bench for what only looks: it writes nothing in the workspace, and reaches nobody.

    Where there is no sandbox, git at least does not write its index for what it found out.
    """
    profile = replace(bench.profile, environ={**(bench.profile.environ or environ), **NO_LOCKS})
    if profile.sandbox:
        profile = replace(profile, files="read", network="none")
    return replace(bench, profile=profile)


async def started(
    command: str,
    cwd: str,
    bench: Bench,
    environ: Mapping[str, str],
    *,
    terminal: bool = False,
) -> tuple[Bench, list[str]]:
    """The line to start, and the bench with its environment; `environ` if it has none.

    Programs do not ask in it, unless they have a terminal. What a repository was opened to is git
    alone, without a shell.
    """
    if terminal:
        from steersman.operations.running.door import PYTHON, STAGE

        own = terminal_environment(bench.profile.environ or environ)
        stage = (PYTHON, "-I", "-S", "-s", "-c", STAGE, "terminal")
        bench = replace(bench, profile=replace(bench.profile, environ=own))
        return bench, [*stage, *SHELL, command]
    quiet = quiet_environment(bench.profile.environ or environ)
    profile, line = replace(bench.profile, environ=quiet), [*SHELL, command]
    if profile.granted:
        from steersman.operations.running.push_line import push_line

        root = bench.workspace.root
        push = await asyncio.to_thread(push_line, command, cwd, root, profile)
        if push is not None:
            profile, line = replace(profile, environ=push.environ), push.argv
    return replace(bench, profile=profile), line
