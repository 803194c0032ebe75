"""A program of its own: it confines itself by Landlock and a filter, and becomes the command.

Runs as `python -I -S launcher.py PLAN COMMAND…` where there is no bubblewrap, so it imports nothing
of Steersman. The plan is a file of fields with a NUL after each: the filter, the powers to keep,
then the environment, the rules of the disk and of the network, one a field, each with its kind in
front. Whatever cannot be done ends it before the command begins.
"""

import ctypes
import os
import struct
import sys
from contextlib import suppress

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 38, 22, 24
CREATE, ADD, RESTRICT, CAPSET = 444, 445, 446, {"x86_64": 126, "aarch64": 91}
VERSION, FILTER_MODE = 1, 2
BENEATH = 1
FAILED = 125
_LIBC = ctypes.CDLL(None, use_errno=True)

EXECUTE, WRITE, READ, LIST, TRUNCATE, IOCTL = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
MAKING = 0x3FF0  # making, removing and moving: bits 4 to 13
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | IOCTL
RIGHTS = {
    b"list": LIST,
    b"read": READ | LIST | EXECUTE,
    b"write": EXECUTE | WRITE | READ | LIST | TRUNCATE | IOCTL | MAKING,
    b"device": WRITE | READ | TRUNCATE | IOCTL,
}


def version() -> int:
    """What the system knows of Landlock; 0 when it does not have it."""
    return max(0, int(_LIBC.syscall(CREATE, None, ctypes.c_size_t(0), VERSION)))


def call(number: int, *arguments: object) -> int:
    """A system call that must not fail."""
    answer = int(_LIBC.syscall(number, *arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def prctl(*arguments: object) -> None:
    """A setting of this process that must not fail."""
    if _LIBC.prctl(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def main(plan: str, command: list[str]) -> None:
    """Confine this process and become the command."""
    with open(plan, "rb") as file:
        program, kept, *fields = file.read().split(b"\0")[:-1]
    with open(program, "rb") as file:
        filter = file.read()
    environ = dict(f[4:].split(b"=", 1) for f in fields if f.startswith(b"env "))
    rules = [tuple(f.split(b" ", 1)) for f in fields if not f.startswith(b"env ")]
    give_up_powers([int(number) for number in kept.split()])
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    restrict([rule for rule in rules if rule[0] in RIGHTS], (b"net", b"host") in rules)
    held = ctypes.create_string_buffer(filter)
    lines = struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(held))
    prctl(PR_SET_SECCOMP, FILTER_MODE, lines, 0, 0)
    os.closerange(3, 256)
    os.execvpe(command[0], command, environ)


def restrict(rules: list[tuple[bytes, ...]], network: bool) -> None:
    """Have Landlock allow what the rules say and nothing else."""
    known = version()
    files = (1 << 13) - 1 | (1 << 13) | (TRUNCATE if known >= 3 else 0)
    files |= IOCTL if known >= 5 else 0
    connections = 0 if network else 3
    scopes = (3 if not network else 2) if known >= 6 else 0
    parts = struct.pack("QQQ", files, connections, scopes)[: 24 if known >= 6 else 16]
    ruleset = call(CREATE, parts, ctypes.c_size_t(len(parts)), 0)
    for kind, path in rules:
        with suppress(FileNotFoundError, PermissionError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rights = RIGHTS[kind] & files
            if not os.path.isdir(path):
                rights &= OF_FILES
            if rights:
                call(ADD, ruleset, BENEATH, struct.pack("=Qi", rights, place), 0)
            os.close(place)
    call(RESTRICT, ruleset, 0)
    os.close(ruleset)


def give_up_powers(kept: list[int]) -> None:
    """Keep only some of root's powers, now and in programs this one becomes."""
    for number in range(64):
        if number not in kept:
            _LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    if os.geteuid() == 0:
        mask = sum(1 << number for number in kept)
        low, high = mask & 0xFFFFFFFF, mask >> 32
        header = struct.pack("Ii", 0x20080522, 0)
        call(CAPSET[os.uname().machine], header, struct.pack("6I", low, low, 0, high, high, 0))


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except OSError as error:
        os.write(2, f"steer: the command was not started: {error}\n".encode())
        os._exit(FAILED)
