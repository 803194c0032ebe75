"""What a sandbox refused, read in what programs print, and never more than may be given."""

import os
import subprocess

import pytest
from msgspec.structs import replace

from steersman.operations.running.refusals import (
    Refusals,
    put_in_place,
    refusals,
    take_away,
)
from steersman.records.profile import Profile

LISTENING = {8000, 5432}


def found(
    output: str,
    home: str,
    *refused: str,
    command: str = "",
    weaker: bool = False,
    **profile: object,
) -> Refusals:
    given = replace(Profile(hidden=(f"{home}/.ssh",), environ={"HOME": home}), **profile)
    work, listens = f"{home}/work", LISTENING.__contains__
    return refusals(output, work, work, given, refused, listens, command=command, weaker=weaker)


@pytest.fixture
def home():
    """A home that is no temporary folder, which a sandbox has for itself."""
    from tests.operations.sandbox.kit import a_folder

    with a_folder() as folder:
        (folder / "work").mkdir()
        (folder / ".ssh").mkdir()
        (folder / ".ssh/config").touch()
        (folder / ".bashrc").touch()
        os.symlink(".bashrc", folder / "rc")
        yield str(folder)


@pytest.mark.parametrize(
    "line",
    [
        "deploy.sh: line 2: HOME/.bashrc: Read-only file system",
        "touch: cannot touch 'HOME/.bashrc': Read-only file system",
        "OSError: [Errno 30] Read-only file system: 'HOME/.bashrc'",
        "Error: EROFS: read-only file system, open 'HOME/.bashrc'",
        "open HOME/.bashrc: read-only file system",
        "cp: cannot create regular file '../.bashrc': Read-only file system",
        "sh: 1: cannot create ~/rc: Read-only file system",
    ],
)
def test_a_path_that_could_not_be_written(line, home):
    said = f"some words\n{line.replace('HOME', home)}\n"
    assert found(said, home) == Refusals(writes=(f"{home}/.bashrc",))
    assert found(said, home).sentence(home) == "could not write ~/.bashrc"
    assert found(said, home, given=(f"{home}/.bashrc",)) == Refusals()
    assert found(said, home, sandbox=False) == Refusals()
    assert found(said, home, files="read") == Refusals()


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("new file.txt", True), ("a:b", True), ("a, b", True), ("a:", True), ("new (1)", True),
     ("it\'s", False), ("new \'x\'", False)],
)  # fmt: skip
@pytest.mark.parametrize("there", [True, False])
def test_a_name_that_can_be_read_in_two_ways_names_no_file(name, quoted, there, home):
    """Neither the file itself nor the other one, whose name is the beginning of it."""
    for kept in ("new", "a", "it"):
        open(f"{home}/{kept}", "w").close()
    if there and "/" not in name:
        open(f"{home}/{name}", "w").close()
    wanted = f"{home}/{name}"
    for line in (f"sh: 1: cannot create {wanted}: Read-only file system",
                 f"bash: line 1: {wanted}: Read-only file system",
                 f"Error: Read-only file system: {wanted} (os error 30)"):  # fmt: skip
        assert found(line, home).writes == ()
    exact = f"touch: cannot touch '{wanted}': Read-only file system"
    assert found(exact, home).writes == ((os.path.realpath(wanted),) if quoted else ())


def test_what_a_program_says_after_a_name_is_no_part_of_it(home):
    for line in ("fatal: could not open HOME/.bashrc for writing: Read-only file system",
                 "error: HOME/.bashrc: Read-only file system (os error 30)",
                 "Error: Read-only file system: HOME/.bashrc (os error 30)",
                 'cannot create "HOME/it\'s": Read-only file system'):  # fmt: skip
        (path,) = found(line.replace("HOME", home), home).writes
        assert path in (f"{home}/.bashrc", f"{home}/it's")


def test_a_push_to_a_repository_here_names_its_folder(home):
    place = f"{home}/shop.git"
    said = (
        "error: remote unpack failed: unable to create temporary object directory\n"
        f"error: failed to push some refs to '{place}'\n"
    )
    push, path = f"git push {place} HEAD:main", {"HOME": home, "PATH": os.environ["PATH"]}
    assert found(said, home, command=push, environ=path) == Refusals()
    for words in (["--bare", place], [f"{home}/work"]):
        subprocess.run(["git", "init", "-q", *words], check=True)
    for named in (said, said.replace(place, "../shop.git")):
        assert found(named, home, command=push, environ=path) == Refusals(writes=(place,))
    assert found(said, home, command=push, environ=path, given=(place,)) == Refusals()
    assert found(said, home, command=push, environ=path, hidden=(place,)) == Refusals()
    # Nothing else may run where it is open, and nobody gets it in pieces.
    for more in (f"make && {push}", f"{push}; make", "make"):
        assert found(said, home, command=more, environ=path) == Refusals()
    for name in ("objects/new", "refs/heads/main.lock", "config", "hooks/update"):
        refused = f"touch: cannot touch '{place}/{name}': Read-only file system"
        assert found(refused, home, command=push, environ=path) == Refusals()


@pytest.mark.parametrize(
    "path",
    ["HOME", "HOME/work", "HOME/work/x", "HOME/.ssh/config", "HOME/.ssh/new", "/", "/etc",
     "/proc/x", "/tmp/x", "/dev/sda", "/run/x", "HOME/no/folder"],
)  # fmt: skip
def test_nobody_is_asked_for_what_is_too_much_or_hidden(path, home):
    said = f"touch: cannot touch '{path.replace('HOME', home)}': Read-only file system"
    assert found(said, home) == Refusals()


def test_a_new_file_and_a_new_folder_can_be_given(home):
    new = f"cannot touch '{home}/new': Read-only file system"
    assert found(new, home).writes == (f"{home}/new",)
    assert found(
        f"mkdir: cannot create directory '{home}/new': Read-only file system", home
    ).writes == (f"{home}/new",)


@pytest.mark.parametrize(
    "line",
    [
        "curl: (7) Failed to connect to 127.0.0.1 port 8000 after 0 ms: Couldn't connect to server",
        "Error: connect ECONNREFUSED 127.0.0.1:8000",
        "dial tcp 127.0.0.1:8000: connect: connection refused",
        "HTTPConnectionPool(host='127.0.0.1', port=8000): Max retries: Connection refused",
        'connection to server at "127.0.0.1", port 8000 failed: Connection refused',
    ],
)
def test_an_address_that_was_not_reached(line, home):
    assert found(line, home) == Refusals(reaches=("127.0.0.1:8000",))
    assert found(line.replace("8000", "8001"), home) == Refusals()  # nobody listens there
    assert found(line, home, nearby=("127.0.0.1:8000",)) == Refusals()


@pytest.mark.parametrize(
    "command",
    [
        """python3 -c 'socket.create_connection(("127.0.0.1", 8000))'""",
        "bash -c 'echo > /dev/tcp/127.0.0.1/8000'",
        "./client http://127.0.0.1:8000/x",
        "redis-cli -h 127.0.0.1 -p 8000",
    ],
)
def test_an_address_that_only_the_command_names(command, home):
    said = "ConnectionRefusedError: [Errno 111] Connection refused"
    assert found(said, home, command=command) == Refusals(reaches=("127.0.0.1:8000",))
    assert found("AssertionError", home, command=command) == Refusals()
    assert found(said, home, command=command.replace("8000", "8001")) == Refusals()


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("curl: (6) Could not resolve host: example.test", "example.test"),
        ("ssh: Could not resolve hostname git.example.test: Name or service not known",
         "git.example.test"),
        ("Error: getaddrinfo ENOTFOUND example.test", "example.test"),
        ("dial tcp: lookup example.test: Temporary failure in name resolution", "example.test"),
        ("wget: unable to resolve host address ‘example.test’", "example.test"),
        ('could not translate host name "db.example.test" to address: Name or service not known',
         "db.example.test"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "the network"),
        ("OSError: [Errno 101] Network is unreachable", "the network"),
    ],
)  # fmt: skip
def test_a_host_that_a_program_without_the_proxy_looked_for(line, host, home):
    assert found(line, home, network="door") == Refusals(hosts=(host,))
    assert found(line, home).sentence(home) == f"could not reach {host}"
    assert (
        found(line, home, "example.test:443") == Refusals()
    )  # the door asked, and the user said no
    assert found(line, home, network="host") == Refusals()


def test_a_name_that_a_program_makes_up_means_the_file_that_it_replaces(home):
    said = f"sed: couldn't open temporary file {home}/sedX1: Read-only file system"
    for command in ("sed -i s/a/b/ ~/.bashrc", "sed -i s/a/b/ $HOME/.bashrc"):
        assert found(said, home, command=command).writes == (f"{home}/.bashrc",)
    assert found(said, home, command="./tool").writes == (f"{home}/sedX1",)
    gone = f"rm: cannot remove '{home}/.bashrc': Read-only file system"
    assert found(gone, home).sentence(home) == "could not delete ~/.bashrc"


def test_the_weaker_sandbox_denies_permission(home):
    said = f"bash: line 1: {home}/.bashrc: Permission denied"
    assert found(said, home) == Refusals()
    assert found(said, home, weaker=True) == Refusals(writes=(f"{home}/.bashrc",))
    assert found(said.replace(".bashrc", ".ssh/config"), home, weaker=True) == Refusals()


def test_of_hosts_that_the_door_refused_only_near_ones_are_asked_about(home):
    refused = (
        "example.org:443",
        "10.0.0.5:80",
        "169.254.169.254:80",
        "localhost:5432",
        "8.8.8.8:53",
    )
    assert found("", home, *refused).reaches == ("10.0.0.5:80", "localhost:5432")


def test_what_was_put_in_place_goes_unless_somebody_touched_it(home):
    paths = [f"{home}/{name}" for name in ("empty", "touched", "written", ".bashrc")]
    made: dict[str, int] = {}
    put_in_place(paths, made)
    assert list(made) == paths[:3]
    os.utime(paths[1], ns=(1, 1))
    with open(paths[2], "w") as file:
        file.write("x")
    take_away(made)
    assert [os.path.exists(path) for path in paths] == [False, True, True, True]
