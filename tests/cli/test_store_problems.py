"""A store that cannot be used, or goes away: always a sentence and an exit code, nothing half."""

import json
import os
import pwd
import shutil
import socket
import sqlite3
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from steersman.store.migrations import LATEST
from tests.cli.kit import DONE, READ, StrictSteer, decoded, until
from tests.postgres import a_server, database

SECRET = "s3cr3t-w0rd"
NOT_HERE = f"postgresql://somebody:{SECRET}@127.0.0.1:9/steersman"
COMMANDS = (["threads", "list"], ["run", "--model", "MODEL", "go"], ["replay", "abc"])


@pytest.fixture
def on(steer, script):
    """`steer` on the store of a URL; whatever goes wrong, no password is shown."""

    def on(url: str, **environ: str) -> StrictSteer:
        return steer.having(STEERSMAN_STORE=url, **environ)

    return on


def refusal(steer: StrictSteer, model: str, command: list[str]) -> tuple[int, str]:
    """The exit code and the words of a command that cannot work."""
    done = steer(*(model if word == "MODEL" else word for word in command))
    assert done.stdout == ""
    assert SECRET not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://root@localhost/steersman", "Steersman does not support the store's URL."),
        ("just words", "Steersman does not support the store's URL."),
        (f"postgresql://me:{SECRET}@[::1/steersman", "The store's URL is malformed"),
    ],
)
def test_a_wrong_url_is_a_usage_error(on, script, command, url, words):
    code, told = refusal(on(url), script(DONE), command)

    assert code == 2
    assert words in told
    assert "postgresql://USER:PASSWORD@HOST:PORT/DATABASE" in told


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_server_that_is_not_there_is_named_without_its_password(on, script, command):
    code, told = refusal(on(NOT_HERE), script(DONE), command)

    assert code == 1
    assert "somebody:****@127.0.0.1:9/steersman cannot be reached." in told
    assert "pg_isready" in told


def test_a_wrong_url_in_the_settings_is_told_alike(steer, script, environ):
    config = Path(environ["XDG_CONFIG_HOME"]) / "steersman" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'store = "{NOT_HERE}"\n')

    code, told = refusal(steer, script(DONE), ["threads", "list"])

    assert code == 1
    assert "cannot be reached" in told


@contextmanager
def greeter(version: str) -> Iterator[str]:
    """The URL of something that greets like a Postgres server of a version, and no more."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def greet() -> None:
            with suppress(OSError):
                while True:
                    client, _ = door.accept()
                    with client, suppress(OSError, struct.error):
                        _greet(client, version)

        threading.Thread(target=greet, daemon=True).start()
        yield f"postgresql://me:{SECRET}@127.0.0.1:{door.getsockname()[1]}/steersman"


def _greet(client: socket.socket, version: str) -> None:
    while True:
        (length,) = struct.unpack("!i", client.recv(4))
        (wanted,) = struct.unpack("!i", client.recv(length - 4)[:4])
        if wanted >> 16 == 3:
            break
        client.sendall(b"N")  # neither TLS nor GSSAPI
    facts = {"server_version": version, "server_encoding": "UTF8", "client_encoding": "UTF8"}
    told = b"".join(_packet(b"S", f"{name}\0{value}\0".encode()) for name, value in facts.items())
    welcome = _packet(b"R", struct.pack("!i", 0)) + told + _packet(b"Z", b"I")
    client.sendall(welcome)
    client.recv(1)


def _packet(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("!i", len(data) + 4) + data


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_server_that_is_too_old_is_named_with_its_version(on, script, command):
    with greeter("13.14") as url:
        code, told = refusal(on(url), script(DONE), command)

    assert code == 1
    assert "is too old." in told
    assert "It is version 13; version 14 or newer is needed." in told


def contents(home: Path) -> list[str]:
    """Everything that is in the database, as SQL."""
    with sqlite3.connect(home / "steersman.db") as connection:
        return list(connection.iterdump())


def only_reads(
    steer: StrictSteer, model: str, thread: str, instead: str = "STEERSMAN_HOME to another folder"
) -> str:
    """Threads are listed and shown, and nothing can be written; what is said of that."""
    listed = steer("threads", "list", "--json")
    assert [one["id"] for one in decoded(listed.stdout)] == [thread]
    shown = steer("threads", "show", thread)
    assert (shown.returncode, "Done." in shown.stdout) == (0, True), shown.stderr
    assert steer("replay", thread).returncode == 0
    for writing in (["run", "--model", model, "go"], ["threads", "rm", "--yes", thread]):
        refused = steer(*writing)
        assert refused.returncode == 1, refused
        assert f"set {instead}" in refused.stderr
    return listed.stderr


def test_a_file_of_a_newer_version_is_read_and_left_alone(steer, script, home):
    model = script(DONE)
    thread = steer.work("run", "--model", model, "go").thread
    with sqlite3.connect(home / "steersman.db") as connection:
        connection.execute(f"PRAGMA user_version={LATEST + 1}")
    before = contents(home)

    told = only_reads(steer, model, thread)

    assert "was written by a newer Steersman." in told
    assert contents(home) == before


def test_a_file_that_cannot_be_brought_up_to_date_is_read_and_nothing_is_lost(steer, script, home):
    model = script(DONE)
    thread = steer.work("run", "--model", model, "go").thread
    with sqlite3.connect(home / "steersman.db") as connection:
        for table in ("leases", "processes", "requests", "names"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("ALTER TABLE threads DROP COLUMN activity")
        # Half of the next step is done when it finds its name taken.
        connection.execute("CREATE INDEX leases_by_process ON settings (value)")
        connection.execute("PRAGMA user_version=1")
    before = contents(home)

    told = only_reads(steer, model, thread)

    assert "can only be read: bringing it up to date failed." in told
    assert contents(home) == before
    with sqlite3.connect(home / "steersman.db") as connection:
        connection.execute("DROP INDEX leases_by_process")
    assert steer("store", "migrate").returncode == 0
    assert steer("resume", thread, "go on", "--model", model).returncode == 0


ANOTHER = "STEERSMAN_STORE to another database"


def rows(url: str) -> dict[str, list[object]]:
    """Everything that is in the schema of a store on a server, its tables by name."""
    with psycopg.connect(url) as connection:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'steersman' ORDER BY 1"
        tables = [name for (name,) in connection.execute(names)]
        return {
            name: sorted(map(str, connection.execute(f"TABLE steersman.{name}"))) for name in tables
        }


def test_a_server_of_a_newer_version_is_read_and_left_alone(on, script, postgres_url):
    steer, model = on(postgres_url), script(DONE)
    thread = steer.work("run", "--model", model, "go").thread
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE steersman.schema_version SET version = %s", (LATEST + 1,))
    before = rows(postgres_url)

    told = only_reads(steer, model, thread, ANOTHER)

    assert "was written by a newer Steersman." in told
    assert rows(postgres_url) == before


def test_a_server_that_cannot_be_brought_up_to_date_is_read_and_nothing_is_lost(
    on, script, postgres_url
):
    steer, model = on(postgres_url), script(DONE)
    thread = steer.work("run", "--model", model, "go").thread
    with psycopg.connect(postgres_url) as connection:
        connection.execute("SET search_path TO steersman")
        connection.execute("DROP TABLE leases, processes, requests, names")
        connection.execute("ALTER TABLE messages DROP COLUMN position")
        connection.execute("ALTER TABLE threads DROP COLUMN activity")
        connection.execute("CREATE INDEX leases_by_process ON settings (value)")
        connection.execute("UPDATE schema_version SET version = 1")
    before = rows(postgres_url)

    told = only_reads(steer, model, thread, ANOTHER)

    assert "can only be read: bringing it up to date failed." in told
    assert "nothing is lost" in told
    assert rows(postgres_url) == before
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DROP INDEX steersman.leases_by_process")
    assert steer("store", "migrate").returncode == 0
    assert steer("resume", thread, "go on", "--model", model).returncode == 0


def test_a_wrong_password_is_not_shown(on, script, postgres_url):
    with role(postgres_url, f"locked LOGIN PASSWORD '{SECRET[::-1]}'"):
        code, told = refusal(
            on(as_user(postgres_url, f"locked:{SECRET}")), script(DONE), COMMANDS[0]
        )

    assert code == 1
    assert "refuses this user." in told
    assert "Check the user name and password" in told


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_user_without_rights_hears_what_the_owner_has_to_do(on, script, command, postgres_url):
    with role(postgres_url, f"guest LOGIN PASSWORD '{SECRET}'"):
        code, told = refusal(on(as_user(postgres_url, f"guest:{SECRET}")), script(DONE), command)

    assert code == 1
    assert "The database user may not do what the store needs" in told
    assert "GRANT CREATE ON DATABASE" in told


@contextmanager
def role(url: str, definition: str) -> Iterator[None]:
    """A user of the database, for a while."""
    name = definition.split()[0]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {definition}")
        try:
            yield
        finally:
            connection.execute(f"DROP ROLE {name}")


def as_user(url: str, user: str) -> str:
    """The same database for somebody else."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{user}@{parts.hostname}:{parts.port}"))


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a few megabytes that Postgres may use."""
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("a small disk needs root")
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs root that may mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_of_the_server_ends_the_run_in_words(on, script, small_disk, gate, tmp_path):
    own = (one for one in tmp_path.parents if one.name.startswith(("pytest-", "popen-")))
    for folder in (small_disk, tmp_path, *own):
        folder.chmod(0o755)  # the server has a user of its own
    space = small_disk / "space"
    space.mkdir()
    nobody = pwd.getpwnam("nobody")
    os.chown(space, nobody.pw_uid, nobody.pw_gid)
    with a_server() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
        with database(server.url) as url:
            with psycopg.connect(server.url, autocommit=True) as connection:
                name = urlsplit(url).path[1:]
                connection.execute(f'ALTER DATABASE "{name}" SET TABLESPACE small')
            steer = on(url)
            big = {"text": "x" * 300_000, "tool_calls": [gate.wait]}
            model = script(
                big,
                *({"text": os.urandom(400_000).hex(), "tool_calls": [READ]} for _ in range(3)),
                DONE,
            )
            running = steer.start("run", "--json", "--yes", "--model", model, "go")
            thread = until(running, "policy")[0]["thread"]
            gate.waiting()
            _fill(small_disk / "filler")
            gate.open()
            output, errors = running.communicate(timeout=60)
            # The words fit into what is left, so that the log has them too.
            told = errors or "\n".join(
                m["body"]["what"] + m["body"]["try_this"]
                for m in decoded(output)
                if m["kind"] == "error"
            )

            assert running.returncode == 1
            assert "There is no room left to write the log." in told
            assert "Free some disk space on the server" in told
            assert "Traceback" not in told

            (small_disk / "filler").unlink()
            assert steer("ledger", "verify", thread).returncode == 0
            again = steer("resume", thread, "go on", "--model", script(DONE, name="one.json"))
            assert again.returncode == 0, again.stderr
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("DROP TABLESPACE small")


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while filler.write(b"\0" * 4096):
            pass


def test_a_connection_lost_in_a_turn_comes_back_and_the_turn_goes_on(on, script, gate, own_server):
    with database(own_server.url) as url:
        steer = on(url)
        model = script({"tool_calls": [gate.wait]}, {"tool_calls": [READ]}, DONE)
        running = steer.start("run", "--json", "--yes", "--model", model, "go")
        seen = until(running, "policy")
        gate.waiting()
        own_server.stop()
        gate.open()
        own_server.start()
        output, told = running.communicate(timeout=60)

        assert (running.returncode, told) == (0, ""), output
        messages = [*seen, *decoded(output)]
        stored = [m["seq"] for m in messages if m["seq"]]
        assert stored == [*range(1, len(stored) + 1)]
        assert messages[-1]["body"] == {"status": "done", "exit": 0}
        assert steer("ledger", "verify", seen[0]["thread"]).returncode == 0


def test_a_server_that_stays_away_ends_the_run_in_words_and_nothing_is_half(
    on, script, gate, own_server
):
    with database(own_server.url) as url:
        steer = on(url, STEERSMAN_STORE_PATIENCE="0.5")
        running = steer.start(
            "run", "--json", "--yes", "--model", script({"tool_calls": [gate.wait]}, DONE), "go"
        )
        thread = until(running, "policy")[0]["thread"]
        gate.waiting()
        own_server.stop()
        try:
            gate.open()
            _, told = running.communicate(timeout=60)
        finally:
            own_server.start()

        assert running.returncode == 1
        assert "was lost and did not come back." in told
        assert "Continue with `steer resume` when the server runs again" in told
        assert "Traceback" not in told
        assert steer("ledger", "verify", thread).returncode == 0
        again = steer("resume", "--json", thread, "go on", "--model", script(DONE, name="one.json"))
        assert again.returncode == 0
        kinds = [json.loads(line)["kind"] for line in steer("replay", thread).stdout.splitlines()]
        assert kinds.count("tool_call") == kinds.count("tool_result") == 1
        assert kinds.count("session_start") == kinds.count("session_end") == 2
