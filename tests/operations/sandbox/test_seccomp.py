"""The filter of system calls, run by a small machine of our own, for both architectures."""

import errno
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.running.disk import Mount, as_a_whole, holds, mounts, to_seal
from steersman.operations.running.seccomp import AF_UNIX, LOOPBACK, program
from steersman.operations.running.symptoms import looks_confined
from steersman.records.errors import ToolProblem
from steersman.records.profile import Profile

X86, ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)
ALLOW, KILL = "allow", "kill"


def judge(
    machine: tuple[str, int],
    number: int,
    arguments: Sequence[int] = (),
    families: frozenset[int] = LOOPBACK,
    arch: int | None = None,
    *,
    among_others: bool = False,
) -> str:
    """What the kernel would answer: allow, kill, or the name of an error."""
    data = struct.pack("=IIQ6Q", number, machine[1] if arch is None else arch, 0,
                       *(*arguments, *[0] * 6)[:6])  # fmt: skip
    made = program(families, machine[0], among_others=among_others)
    lines = list(struct.iter_unpack("=HBBI", made))
    accumulator = at = 0
    while True:
        code, then, otherwise, value = lines[at]
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif code == 0x06:
            names = {0x7FFF0000: ALLOW, 0x80000000: KILL}
            return names.get(value) or errno.errorcode[value & 0xFFFF]
        else:
            tests = {0x15: accumulator == value, 0x35: accumulator >= value,
                     0x45: bool(accumulator & value)}  # fmt: skip
            at += then if tests[code] else otherwise


@pytest.mark.parametrize(
    ("machine", "number", "arguments", "answer"),
    [
        (X86, 0, (), ALLOW), (ARM, 63, (), ALLOW),
        (X86, 101, (), "EPERM"), (ARM, 117, (), "EPERM"),
        (X86, 165, (), "EPERM"), (ARM, 40, (), "EPERM"),
        (X86, 425, (), "EPERM"), (ARM, 427, (), "EPERM"),
        (X86, 435, (), "ENOSYS"), (ARM, 435, (), "ENOSYS"),
        (X86, 56, (0x10000011,), "EPERM"), (X86, 56, (0x3D0F00,), ALLOW), (X86, 56, (17,), ALLOW),
        (ARM, 220, (0x20011,), "EPERM"), (ARM, 220, (0x1200011,), ALLOW),
        (ARM, 97, (0x10000000,), "EPERM"), (ARM, 97, (0x80,), "EPERM"), (ARM, 97, (0x200,), ALLOW),
        (X86, 16, (0, 0x5412), "EPERM"), (ARM, 29, (0, 0x541C), "EPERM"),
        (X86, 16, (0, 0xFFFFFFFF00005412), "EPERM"), (X86, 16, (0, 0x5413), ALLOW),
        (X86, 41, (2, 1, 0), ALLOW), (X86, 41, (10, 2, 0), ALLOW),
        (X86, 41, (1, 1, 0), "EACCES"), (ARM, 198, (40, 1, 0), "EAFNOSUPPORT"),
        (ARM, 198, (16, 3, 0), ALLOW), (ARM, 198, (16, 3, 9), "EAFNOSUPPORT"),
        (X86, 53, (1, 2, 0), "EACCES"), (ARM, 199, (1, 0x80003, 0), "EACCES"),
        (ARM, 199, (1, 0x80805, 0), ALLOW),
        (X86, 53, (1, 1, 0), ALLOW), (ARM, 199, (30, 1, 0), "EAFNOSUPPORT"),
        (X86, 0x40000000, (), KILL), (X86, 0x40000029, (2, 1, 0), KILL),
    ],
)  # fmt: skip
def test_what_is_refused(
    machine: tuple[str, int], number: int, arguments: tuple[int, ...], answer: str
) -> None:
    """By number and arguments."""
    assert judge(machine, number, arguments) == answer


@pytest.mark.parametrize(
    ("machine", "number", "arguments", "answer"),
    [
        (X86, 302, (0,), ALLOW), (X86, 302, (7,), "EPERM"), (ARM, 261, (7,), "EPERM"),
        (X86, 203, (7,), "EPERM"), (ARM, 122, (0,), ALLOW), (ARM, 274, (7,), "EPERM"),
        (X86, 141, (0, 0, 5), ALLOW), (X86, 141, (0, 7, 5), "EPERM"),
        (X86, 141, (2, 0, 5), "EPERM"), (ARM, 140, (2, 0), "EPERM"), (ARM, 140, (1, 0), ALLOW),
        (X86, 251, (3, 0), "EPERM"), (X86, 251, (1, 0), ALLOW), (ARM, 30, (1, 7), "EPERM"),
        (X86, 30, (), "EPERM"), (X86, 240, (), "EPERM"), (ARM, 196, (), "EPERM"),
        (X86, 0, (), ALLOW), (ARM, 63, (), ALLOW),
    ],
)  # fmt: skip
def test_what_is_refused_among_others(
    machine: tuple[str, int], number: int, arguments: tuple[int, ...], answer: str
) -> None:
    """Only there: with processes and memory of its own, a command may do as it likes."""
    assert judge(machine, number, arguments, among_others=True) == answer
    assert judge(machine, number, arguments) == ALLOW


@given(st.integers(0, 600), st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_a_foreign_architecture_is_the_end(number: int, arguments: list[int]) -> None:
    """Whatever is called."""
    for machine, other in ((X86, 0x40000003), (ARM, 0x40000028), (X86, ARM[1])):
        assert judge(machine, number, arguments, arch=other) == KILL


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_only_named_families(family: int, protocol: int) -> None:
    """A socket is of an allowed family or is not made."""
    for families in (LOOPBACK, LOOPBACK | {AF_UNIX}, frozenset({16})):
        made = judge(ARM, 198, (family, 1, protocol), families) == ALLOW
        assert made == (family in families and (family != 16 or protocol == 0))


def test_an_unknown_machine() -> None:
    """Refused, because its numbers mean other things."""
    with pytest.raises(ToolProblem, match="riscv64"):
        program(LOOPBACK, "riscv64")


def test_what_is_sealed() -> None:
    """Every folder with nothing mounted in it; not what is the command's own or the kernel's."""
    found = to_seal(mounts())
    assert found is not None
    assert not any(holds(place, "/proc/self") or holds("/dev", place) for place in found)
    assert "/usr" in found
    kept = to_seal([*mounts(), Mount("/usr", "squashfs", writable=False)])
    assert kept is not None
    assert "/usr" not in kept
    inner = to_seal([*mounts(), Mount("/usr/lib", "ext4", writable=True)])
    assert inner is None or ("/usr" not in inner and "/usr/lib" in inner)


PIECES = ("/home", "/opt", "/usr", "/var/log")


@pytest.mark.parametrize(
    ("mounted", "workspace", "expected"),
    [
        (["/", "/proc", "/run/lock"], "/home/me", ((), ())),
        (["/", "/sys", "/sys/fs/cgroup", "/tmp"], "/tmp/w", (("/sys",), ())),
        (["/", "/home", "/sys"], "/home/me", (("/home", "/sys"), ("/home",))),
        (["/", "/home", "/opt", "/usr"], "/home/me", None),  # six words to save four
        (["/", "/proc"], "/run/w", None),
    ],
)
def test_the_disk_as_a_whole(mounted, workspace, expected):
    """One overlay hides what is mounted on the disk: that is put back, and sealed where it was."""
    places = [Mount(place, "ext4", writable=True) for place in mounted]
    found = as_a_whole(places, PIECES, workspace)
    assert (found and (found.mounted, found.sealed)) == expected


NONE, DOOR, HOST = (Profile(network=network) for network in ("none", "door", "host"))
HIDES = Profile(hidden=("/x",))


@pytest.mark.parametrize(
    ("profile", "output", "words"),
    [
        (NONE, "curl: (6) Could not resolve host: example.com", "no network"),
        (NONE, "getaddrinfo EAI_AGAIN registry.example.org", "no network"),
        (NONE, "Temporary failure in name resolution", "no network"),
        (NONE, "connect: Network is unreachable", "no network"),
        (DOOR, "curl: (56) CONNECT tunnel failed, response 403", "proxy, which asks"),
        (HOST, "Could not resolve host: x", ""),
        (NONE, "touch: cannot touch '/etc/x': Read-only file system", "outside the workspace"),
        (Profile(files="read"), "EROFS: read-only file system", "read-only everywhere"),
        (NONE, "strace: ptrace(PTRACE_TRACEME): Operation not permitted", "system calls"),
        (HIDES, "cat: .env: Permission denied", "secrets are hidden"),
        (HIDES, "error: .env: can only add regular files, symbolic links", "secrets are hidden"),
        (NONE, "cat: .env: Permission denied", ""),
        (NONE, "AssertionError: 1 != 2", ""),
        (Profile(sandbox=False), "Read-only file system", ""),
    ],
)
def test_failures_that_look_like_the_sandbox(profile: Profile, output: str, words: str) -> None:
    """Told from those that are the command's own; a command that succeeded is left in peace."""
    found = looks_confined(1, output, profile)
    assert words in found
    assert bool(words) == bool(found)
    assert looks_confined(0, output, profile) == ""
