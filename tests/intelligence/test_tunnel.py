"""A model behind SSH: the way there is opened when needed, and never outlives the host."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from steersman.intelligence.configured import read_config
from steersman.intelligence.models import Models
from steersman.intelligence.tunnel import Address, Tunnel, command, read_address, target, through
from steersman.records.errors import DriverProblem, UsageProblem
from tests.cli.kit import eventually
from tests.intelligence.asking import answer
from tests.intelligence.model_server.conftest import Stage

STAND_IN = Path(__file__).with_name("ssh_stand_in.py")


@pytest.fixture(scope="module")
def stage():
    """A model server on loopback, the other side of every tunnel here."""
    stage = Stage()
    stage.play({"text": "Hello from afar."})
    yield stage
    stage.close()


@pytest.fixture
def ssh(tmp_path):
    """An environment in which `ssh` is the stand-in."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "ssh"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n')
    program.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "SSH_LOG": str(tmp_path / "ssh.log"), "HOME": str(tmp_path)}


def calls(ssh):
    """How ssh was called: the process, then the words."""
    log = Path(ssh["SSH_LOG"])
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [(int(words[0]), words[1:]) for words in lines]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
    except OSError:
        return True


def models(ssh, stage):
    gpu = {"wire": "openai-chat", "base_url": f"{stage.url}/v1", "ssh": "ssh://me@gpu.lab:2222"}
    return Models(ssh, read_config(providers={"gpu": gpu}))


def test_a_model_answers_through_the_tunnel_and_closing_ends_it(ssh, stage):
    async def scenario():
        found = models(ssh, stage)
        driver = found.open("gpu:llama")
        assert driver.model == "gpu:llama"
        assert calls(ssh) == [], "nothing is opened before it is needed"
        said = [(await answer(driver)).text for _ in range(2)]
        during = [pid for pid, _ in calls(ssh) if alive(pid)]
        await found.aclose()
        return said, during, [pid for pid, _ in calls(ssh) if alive(pid)]

    said, during, after = asyncio.run(scenario())

    assert said == ["Hello from afar."] * 2
    assert (len(during), after) == (1, [])
    ((_, words),) = calls(ssh)
    assert words[:2] == ["-N", "-T"]
    assert words[-7:-2] == ["2222", "-l", "me", "-L", words[-3]]
    assert words[-2:] == ["--", "gpu.lab"]
    assert words[-3].endswith(stage.url.removeprefix("http://"))


def test_a_missing_key_is_told_before_anything_is_opened(ssh, stage):
    gpu = {"wire": "openai-chat", "base_url": stage.url, "ssh": "ssh://gpu", "key_env": "GPU_KEY"}

    with pytest.raises(UsageProblem, match="no key for gpu"):
        Models(ssh, read_config(providers={"gpu": gpu})).open("gpu:x")
    assert calls(ssh) == []


def test_models_of_one_server_share_its_tunnel(ssh, stage):
    async def scenario():
        found = models(ssh, stage)
        said = [(await answer(found.open(f"gpu:{name}"))).text for name in ("a", "b")]
        await found.aclose()
        return said

    assert asyncio.run(scenario()) == ["Hello from afar."] * 2
    assert len(calls(ssh)) == 1


def test_a_tunnel_that_broke_is_opened_again(ssh, stage):
    async def scenario():
        found = models(ssh, stage)
        driver = found.open("gpu:llama")
        await answer(driver)
        os.kill(calls(ssh)[0][0], signal.SIGKILL)
        while driver._tunnel._process.returncode is None:
            await asyncio.sleep(0.01)
        said = (await answer(driver)).text
        await found.aclose()
        return said

    assert asyncio.run(scenario()) == "Hello from afar."
    assert len(calls(ssh)) == 2


def test_a_killed_host_leaves_no_tunnel_behind(ssh, stage):
    program = f"""
import asyncio, os, sys
from steersman.intelligence.tunnel import Address, Tunnel, target
async def main():
    await Tunnel(Address("gpu"), target({stage.url!r}), os.environ).port()
    print("open", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    host = subprocess.Popen([sys.executable, "-c", program], env=ssh, stdout=subprocess.PIPE)
    assert host.stdout.readline() == b"open\n"
    ((pid, _),) = calls(ssh)
    assert alive(pid)

    host.kill()
    host.communicate()

    assert eventually(lambda: not alive(pid))


@pytest.mark.parametrize(
    "reason",
    ["connect to host gpu port 22: Connection refused", "me@gpu: Permission denied (publickey)."],
)
def test_what_ssh_says_is_passed_on(ssh, reason):
    async def scenario():
        await Tunnel(
            Address("gpu", "me", 22), ("127.0.0.1", 1), {**ssh, "SSH_FAILS": reason}
        ).port()

    with pytest.raises(DriverProblem) as told:
        asyncio.run(scenario())

    assert told.value.what == "The SSH tunnel to me@gpu:22 cannot be opened."
    assert told.value.why == f"ssh: {reason}"
    assert told.value.try_this == "Try it yourself: ssh -p 22 me@gpu true"
    assert told.value.kind == "network"


def test_without_ssh_it_says_so(tmp_path):
    (tmp_path / "cat").symlink_to("/bin/cat")

    async def scenario():
        await Tunnel(Address("gpu"), ("127.0.0.1", 1), {"PATH": str(tmp_path)}).port()

    with pytest.raises(DriverProblem) as told:
        asyncio.run(scenario())
    assert told.value.try_this == "Install the OpenSSH client."


def test_one_that_does_not_open_in_time_is_ended(ssh, tmp_path):
    (tmp_path / "bin" / "ssh").write_text('#!/bin/sh\necho $$ >> "$SSH_LOG"\nexec sleep 600\n')

    async def scenario():
        found = Tunnel(Address("gpu"), ("127.0.0.1", 1), ssh, seconds=0.2)
        with pytest.raises(DriverProblem, match="cannot be opened"):
            await found.port()
        assert found.pid == 0

    asyncio.run(scenario())
    assert eventually(lambda: not any(alive(pid) for pid, _ in calls(ssh)))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ssh://gpu", Address("gpu")),
        ("ssh://me@gpu.lab:2222", Address("gpu.lab", "me", 2222)),
        ("ssh://me@[::1]:22/", Address("::1", "me", 22)),
    ],
)
def test_addresses(text, address):
    assert read_address(text) == address


@pytest.mark.parametrize(
    "text",
    ["", "gpu", "http://gpu", "ssh://", "ssh://-oProxyCommand=x", "ssh://-l@gpu", "ssh://a b",
     "ssh://gpu/path", "ssh://me:secret@gpu", "ssh://gpu:99999", "ssh://gpu;reboot"],
)  # fmt: skip
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageProblem):
        read_address(text)


@given(some.text())
def test_no_address_becomes_an_option(text):
    try:
        words = command(read_address(f"ssh://{text}"), 1, ("h", 2))
    except UsageProblem:
        return
    assert words[-2] == "--"
    assert not words[-1].startswith("-")


def test_an_address_by_way_of_a_port():
    assert target("http://10.0.0.2/v1") == ("10.0.0.2", 80)
    assert through("http://10.0.0.2:8000/v1", 5) == "http://127.0.0.1:5/v1"
