"""A command in a real sandbox, with a door as its only way out."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.operations.network.kit import (
    HELLO,
    HERE,
    SANDBOX,
    World,
    inside,
    no_unix_sockets,
    sandboxed,
    saying,
    server,
)
from tests.operations.processes.kit import PATIENCE, eventually, living_in, printed, run

CURL = ("curl", "-sS", "-m", "60")
STATUS = (*CURL, "-o", "/dev/null", "-w", "%{http_code}|%{http_connect}")


def test_an_allowed_host_is_reached(tmp_path):
    async def work():
        async with server(saying(HELLO)) as port:
            world = World(f"*.ok.test:{port}", names={"a.ok.test": HERE})
            said = await inside(world, tmp_path, *CURL, f"http://a.ok.test:{port}/")
            return said, world, port

    said, world, port = run(work())
    assert said == (0, "hello\n")
    assert world.asked == [("a.ok.test", port)]
    assert world.denied == []


@pytest.mark.parametrize(
    ("url", "names", "asked"),
    [
        ("http://xok.test/", "", True),
        ("http://ok.test/", "", True),
        ("http://a.ok.test.evil.com/", "", True),
        ("https://unlisted.test/", "", True),
        ("http://meta.ok.test/", "169.254.169.254", True),
        ("https://loop.ok.test/", "127.0.0.1", True),
        ("http://doc.ok.test/", "192.0.2.1", True),
        ("http://169.254.169.254/latest/meta-data", "", False),
        ("http://2852039166/latest/meta-data", "", False),
        ("http://[::ffff:169.254.169.254]/", "", False),
    ],
)
def test_what_is_not_allowed_is_a_403(tmp_path, url, names, asked):
    host = url.split("/")[2]

    async def work():
        world = World("*.ok.test", names={host: names} if names else {})
        said = await inside(world, tmp_path, *STATUS, url, local=lambda host, port: False)
        return said, world

    (_, said), world = run(work())
    assert "403" in said
    assert bool(world.asked) is asked
    assert world.looked_up == ([host] if names else [])
    assert len(world.denied) == 1


def test_the_reason_and_what_to_do_reach_whoever_reads_the_output(tmp_path):
    code, said = run(inside(World(), tmp_path, *CURL, "http://unlisted.test/"))
    assert code == 0
    assert said == (
        "Steersman: host unlisted.test, port 80, is not allowed. It is on no list."
        " Continue without it, or tell the user which host is needed and why.\n"
    )


DIRECT = """
import socket, sys
from pathlib import Path
def attempt(name, deed):
    try:
        deed()
        print(name, "WORKED")
    except OSError as error:
        print(name, "failed")
def tcp(host, port):
    socket.create_connection((host, port), 5).close()
def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", (host, port))
attempt("tcp", lambda: tcp("192.0.2.1", 80))
attempt("tcp to the host", lambda: tcp("127.0.0.1", PORT))
attempt("udp", lambda: udp("192.0.2.1", 53))
attempt("tcp6", lambda: tcp("2001:db8::1", 80))
attempt("dns", lambda: socket.getaddrinfo("example.org", 80))
"""


def test_there_is_no_other_way_out(tmp_path):
    async def work():
        async with server(saying(HELLO)) as port:
            program = DIRECT.replace("PORT", str(port))
            return await inside(World(), tmp_path, sys.executable, "-c", program)

    code, said = run(work())
    assert code == 0
    ways = ["tcp", "tcp to the host", "udp", "tcp6", "dns"]
    assert said.splitlines() == [f"{way} failed" for way in ways]


UNIX = """
import socket
try:
    socket.socket(socket.AF_UNIX).connect("PATH")
    print("WORKED")
except OSError as error:
    print(error.strerror)
"""


def test_the_stage_works_where_no_socket_of_the_host_may_be_made(tmp_path):
    async def work():
        path = str(tmp_path / "socket")
        program = UNIX.replace("PATH", path)
        script = f"""{sys.executable} -c '{program}'; curl -sS http://a.ok.test:$1/"""
        async with server(saying(HELLO)) as port, await asyncio.start_unix_server(print, path):
            world = World(f"a.ok.test:{port}", names={"a.ok.test": HERE})
            command = ("bash", "-c", script, "bash", str(port))
            return await inside(world, tmp_path, *command, seccomp=no_unix_sockets())

    assert run(work()) == (0, "Operation not permitted\nhello\n")


def test_a_command_that_does_not_know_the_token_gets_nowhere(tmp_path):
    async def work():
        world = World("ok.test")
        way = "http://steer:wrong@127.0.0.1:3128"
        return await inside(world, tmp_path, *STATUS, "-x", way, "http://ok.test/"), world

    (_, said), world = run(work())
    assert said.startswith("407")
    assert world.asked == []


def test_the_command_is_what_it_would_be_without_the_stage(tmp_path):
    script = "ls /proc/self/fd; grep ^Sig[BI] /proc/self/status; env | grep LC_; cat; echo $0 $1"

    async def work():
        return await inside(World(), tmp_path, "bash", "-c", script, "näme", "wo\nrd")

    code, said = run(work())
    descriptors, signals = said.split("SigBlk:")
    blocked, _, ignored, *rest = signals.split()
    assert (code, descriptors) == (0, "0\n1\n2\n3\n")
    assert (int(blocked, 16), int(ignored, 16) & 0x7FFFFFFF) == (0, 0)
    assert rest == ["näme", "wo", "rd"]


@pytest.mark.parametrize(
    ("command", "code", "why"),
    [
        ("no-such-program", 127, "no-such-program: not found"),
        ("/etc/passwd", 126, "/etc/passwd: Permission denied"),
        ("./missing", 127, "./missing: not found"),
    ],
)
def test_a_command_that_cannot_be_started_is_told_as_a_shell_does(tmp_path, command, code, why):
    assert run(inside(World(), tmp_path, command)) == (code, f"steer: {why}\n")


def test_a_question_that_waits_is_withdrawn_when_the_command_is_cancelled(tmp_path):
    async def work():
        withdrawn = []
        asked = asyncio.Event()

        async def ask(host: str, port: int) -> str:
            asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                withdrawn.append((host, port))
                raise
            return ""

        world = World()
        before = asyncio.all_tasks()
        async with sandboxed(world, tmp_path, *CURL, "https://a.test/", ask=ask) as running:
            await asked.wait()
            assert await running.end()
        return withdrawn, asyncio.all_tasks() - before, world.denied

    withdrawn, left, denied = run(work())
    assert withdrawn == [("a.test", 443)]
    assert left == set()
    assert denied == []


def test_closing_the_door_before_the_command_began_ends_it(tmp_path):
    async def work():
        door = World().door()
        await door.open()
        program = subprocess.Popen(
            [*SANDBOX, "--", *door.wrap(["echo", "ran"])],
            pass_fds=door.descriptors,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        await door.close()
        await door.close()
        return await asyncio.to_thread(program.communicate, timeout=PATIENCE), program.returncode

    (out, error), code = run(work())
    assert (out, code) == (b"", 125)
    assert b"closed before the command began" in error


def test_a_door_that_nobody_came_to_leaves_nothing():
    async def work():
        before = os.listdir("/proc/self/fd"), asyncio.all_tasks()
        async with World().door():
            pass
        return before, (os.listdir("/proc/self/fd"), asyncio.all_tasks())

    before, after = run(work())
    assert before == after


def test_descriptors_do_not_pile_up(tmp_path):
    async def work():
        async with server(saying(HELLO)) as port:
            world = World(f"a.ok.test:{port}", names={"a.ok.test": HERE})
            counts = []
            for _ in range(3):
                await inside(world, tmp_path, *CURL, f"http://a.ok.test:{port}/")
                counts.append(len(os.listdir("/proc/self/fd")))
            return counts

    first, second, third = run(work())
    assert first == second == third


def test_a_server_of_the_command_s_own_is_reached_without_the_door(tmp_path):
    script = """
python3 -m http.server -b 127.0.0.1 8000 2>&1 &
until curl -sS -o /dev/null -w '%{http_code}' http://localhost:8000/ 2>/dev/null; do sleep 0.1; done
kill $!
"""
    world = World()
    _, said = run(inside(world, tmp_path, "bash", "-c", script))
    assert "200" in said
    assert world.asked == []


HOST = """
import asyncio, sys
from pathlib import Path
from tests.operations.network.kit import World, sandboxed

async def main():
    async def ask(host, port):
        print("asked", flush=True)
        await asyncio.Event().wait()
    command = ("bash", "-c", "curl -sS http://a.test/; sleep 617 & setsid sleep 618")
    async with sandboxed(World(), Path(sys.argv[1]), *command, ask=ask) as running:
        await running.wait()

asyncio.run(main())
"""


def test_nothing_outlives_a_host_that_is_killed(tmp_path):
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[3],
        text=True,
    )
    assert host.stdout is not None
    assert host.stdout.readline() == "asked\n"
    assert living_in(tmp_path)
    host.kill()
    host.communicate(timeout=PATIENCE)
    assert eventually(lambda: not living_in(tmp_path))


def test_many_connections_of_a_command_share_a_question(tmp_path):
    async def work():
        world = World(names={"a.test": HERE})
        answer = asyncio.Event()

        async def ask(host: str, port: int) -> str:
            world.asked.append((host, port))
            await answer.wait()
            return "No."

        script = "echo on; for n in 1 2 3 4 5; do curl -sS https://a.test/ & done; wait; echo off"
        async with sandboxed(world, tmp_path, "bash", "-c", script, ask=ask) as running:
            await printed(running, "on")
            await world.gathered(5)
            answer.set()
            await printed(running, "off")
        return world

    world = run(work())
    assert world.asked == [("a.test", 443)]
    assert len(world.denied) == 5
