"""The filter of system calls a confined command runs under, assembled for the kernel.

It closes what mounts and namespaces leave open: ways to look into other processes, to get new
namespaces and with them new powers, kinds of sockets no namespace holds back, and parts of the
kernel that commands do not need and attackers like. A refused call fails with an error a program
can handle; only calls of a foreign architecture end it, because their numbers mean other things.
"""

import os
import struct
from collections.abc import Sequence
from errno import EACCES, EAFNOSUPPORT, ENOSYS, EPERM
from functools import cache

from steersman.records.errors import ToolProblem

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
_LOOSE = 2  # a bit of the kinds of sockets that can change whom they talk to
LOOPBACK = frozenset({AF_INET, AF_INET6, AF_NETLINK})  # harmless in a network of one's own

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
# Linux gives calls since 2019 the same number everywhere.
_SINCE_2019 = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "clone3": 435, "pidfd_getfd": 438, "mount_setattr": 442, "quotactl_fd": 443,
    "open_tree_attr": 467,
}  # fmt: skip
_NUMBERS = {
    "x86_64": {
        "ioctl": 16, "socket": 41, "socketpair": 53, "clone": 56, "ptrace": 101, "syslog": 103,
        "uselib": 134, "vhangup": 153, "pivot_root": 155, "chroot": 161, "acct": 163,
        "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
        "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
        "init_module": 175, "delete_module": 176, "quotactl": 179, "nfsservctl": 180,
        "lookup_dcookie": 212, "clock_settime": 227, "kexec_load": 246, "add_key": 248,
        "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
        "fanotify_init": 300, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310,
        "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320,
        "bpf": 321, "userfaultfd": 323, **_SINCE_2019,
    },
    "aarch64": {
        "lookup_dcookie": 18, "ioctl": 29, "umount2": 39, "mount": 40, "pivot_root": 41,
        "nfsservctl": 42, "chroot": 51, "vhangup": 58, "quotactl": 60, "acct": 89, "unshare": 97,
        "kexec_load": 104, "init_module": 105, "delete_module": 106, "clock_settime": 112,
        "syslog": 116, "ptrace": 117, "reboot": 142, "sethostname": 161, "setdomainname": 162,
        "settimeofday": 170, "socket": 198, "socketpair": 199, "add_key": 217, "request_key": 218,
        "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "perf_event_open": 241,
        "fanotify_init": 262, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270,
        "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "bpf": 280,
        "userfaultfd": 282, "kexec_file_load": 294, **_SINCE_2019,
    },
}  # fmt: skip
# Where no namespace hides the user's own processes and memory, what would reach them. What is
# shared by name or number is refused; what names a process by argument 0 is for oneself alone.
_SHARED = {
    "x86_64": {
        "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66,
        "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "semtimedop": 220, "mq_open": 240,
        "mq_unlink": 241,
    },
    "aarch64": {
        "mq_open": 180, "mq_unlink": 181, "msgget": 186, "msgctl": 187, "msgrcv": 188,
        "msgsnd": 189, "semget": 190, "semctl": 191, "semtimedop": 192, "semop": 193,
        "shmget": 194, "shmctl": 195, "shmat": 196,
    },
}  # fmt: skip
_OF_A_PROCESS = {
    "x86_64": {
        "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203,
        "prlimit64": 302, "sched_setattr": 314,
    },
    "aarch64": {
        "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122,
        "prlimit64": 261, "sched_setattr": 274,
    },
}  # fmt: skip
# Argument 0 says what argument 1 names, and the last kind is all processes of a user.
_PRIORITY = {"x86_64": ((141, 2), (251, 3)), "aarch64": ((140, 2), (30, 3))}
# Those that are refused only with certain arguments, or with an error of their own.
_LOOKED_AT = {"ioctl", "socket", "socketpair", "clone", "unshare", "clone3"}

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEW*: mounts, cgroups, names, ipc, users, processes, network
_NEW_TIME = 0x80
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # typing into someone's terminal

_LOAD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE = 0, 4


@cache
def program(families: frozenset[int], machine: str = "", *, among_others: bool = False) -> bytes:
    """The filter that lets a command make sockets of some families only, ready for the kernel.

    `among_others`: it runs where the processes and the memory of the user are in reach.
    """
    machine = machine or os.uname().machine
    if machine not in _NUMBERS:
        raise ToolProblem(f"There is no filter of system calls for {machine}.")
    numbers = _NUMBERS[machine]
    lines = [_load(_ARCHITECTURE), *_unless(_JEQ, _ARCHITECTURES[machine], _KILL), _load(_NUMBER)]
    if machine == "x86_64":
        lines += _when(_JGE, _X32, _KILL)
    for name, number in numbers.items():
        if name not in _LOOKED_AT:
            lines += _when(_JEQ, number, _ERROR | EPERM)
    lines += _when(_JEQ, numbers["clone3"], _ERROR | ENOSYS)  # its flags are out of sight
    namespaces = _when(_JSET, _NEW_NAMESPACES, _ERROR | EPERM)
    lines += _looking(numbers["clone"], [_argument(0), *namespaces])
    times = _when(_JSET, _NEW_TIME, _ERROR | EPERM)
    lines += _looking(numbers["unshare"], [_argument(0), *namespaces, *times])
    typing = [_when(_JEQ, word, _ERROR | EPERM) for word in (_TIOCSTI, _TIOCLINUX)]
    lines += _looking(numbers["ioctl"], [_argument(1), *typing[0], *typing[1]])
    lines += _looking(numbers["socketpair"], _pairs(families))
    lines += _looking(numbers["socket"], _sockets(families))
    if among_others:
        lines += _apart(machine)
    lines.append(_line(_RET, _ALLOW))
    return b"".join(lines)


def _apart(machine: str) -> list[bytes]:
    """What keeps a command from the user's other processes."""
    lines = []
    for number in _SHARED[machine].values():
        lines += _when(_JEQ, number, _ERROR | EPERM)
    oneself = _unless(_JEQ, 0, _ERROR | EPERM)
    for number in _OF_A_PROCESS[machine].values():
        lines += _looking(number, [_argument(0), *oneself])
    for number, everyone in _PRIORITY[machine]:
        kind = [_argument(0), *_when(_JEQ, everyone, _ERROR | EPERM)]
        lines += _looking(number, [*kind, _argument(1), *oneself])
    return lines


def _pairs(families: frozenset[int]) -> list[bytes]:
    """What is asked about a pair of sockets: one for datagrams can be turned to any address."""
    lines = [_argument(0), *_unless(_JEQ, AF_UNIX, _ERROR | EAFNOSUPPORT)]
    if AF_UNIX in families:
        return lines
    return [*lines, _argument(1), *_when(_JSET, _LOOSE, _ERROR | EACCES)]


def _sockets(families: frozenset[int]) -> list[bytes]:
    """What is asked about a new socket: its family, and of netlink only routes."""
    lines = [_argument(0)]
    if AF_UNIX not in families:
        lines += _when(_JEQ, AF_UNIX, _ERROR | EACCES)
    if not families & {AF_INET, AF_INET6}:
        lines += [*_when(_JEQ, AF_INET, _ERROR | EACCES), *_when(_JEQ, AF_INET6, _ERROR | EACCES)]
    if AF_NETLINK in families:
        routes = [_argument(2), *_unless(_JEQ, 0, _ERROR | EAFNOSUPPORT), _line(_RET, _ALLOW)]
        lines += [_line(_JEQ, AF_NETLINK, 0, len(routes)), *routes]
    for family in sorted(families - {AF_NETLINK}):
        lines += _when(_JEQ, family, _ALLOW)
    return [*lines, _line(_RET, _ERROR | EAFNOSUPPORT)]


def _looking(number: int, lines: Sequence[bytes]) -> list[bytes]:
    """Lines for one call; afterwards its number is at hand again for the next."""
    return [_line(_JEQ, number, 0, len(lines) + 1), *lines, _load(_NUMBER)]


def _when(test: int, value: int, answer: int) -> list[bytes]:
    return [_line(test, value, 0, 1), _line(_RET, answer)]


def _unless(test: int, value: int, answer: int) -> list[bytes]:
    return [_line(test, value, 1, 0), _line(_RET, answer)]


def _argument(position: int) -> bytes:
    """Load the low half of an argument; both machines keep it first, and the kernel's types of
    these arguments are no wider."""
    return _load(16 + 8 * position)


def _load(offset: int) -> bytes:
    return _line(_LOAD, offset)


def _line(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def supported() -> bool:
    """Whether there is a filter for this machine."""
    return os.name == "posix" and os.uname().machine in _NUMBERS
