"""A second machine in the same one: a home of its own, reached by a program that stands for ssh."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world import Steer

SECRET = "tok-box-0123456789abcdef"  # in the environment there, and only there
ADDRESS = "ssh://box{path}"


class Box:
    """The other machine: its home, its project, its agent."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.home = folder
        self.project = project
        self.data = folder / "data"
        self.address = ADDRESS.format(path=project)

    def agents(self) -> list[int]:
        """The agents that run there."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if b"--stay" in words and os.fsencode(self.project) in words:
                    found.append(int(entry.name))
        return found

    def end(self) -> None:
        """End what runs there."""
        for agent in self.agents():
            os.kill(agent, signal.SIGKILL)


@pytest.fixture
def box(tmp_path: Path, workspace: Path, environ: dict[str, str]) -> Iterator[Box]:
    """Another machine that has the project; the person's own machine does not."""
    home = tmp_path / "box"
    (home / "bin").mkdir(parents=True)
    project = home / "project"
    workspace.rename(project)
    workspace.mkdir()
    ssh = home / "bin" / "ssh"
    ssh.write_text(
        "#!/bin/sh\n"
        "for word; do last=$word; done\n"
        f"exec env -i PATH={environ['PATH']} HOME={home} STEERSMAN_HOME={home}/data LANG=C.UTF-8 "
        f"BOX_API_TOKEN={SECRET} "
        f'TZ=UTC sh -c "$last"\n'
    )
    ssh.chmod(0o755)
    environ["STEERSMAN_SSH_COMMAND"] = str(ssh)
    environ["STEERSMAN_REMOTE_COMMAND"] = f"{sys.executable} -m steersman"
    made = Box(home, project)
    yield made
    made.end()


@pytest.fixture
def far(box: Box, steer: Steer) -> Steer:
    """The command line on the person's own machine."""
    return steer
