"""What reading, writing or deleting a path means, by where the path lies."""

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.marks import (
    EVERY,
    FILE,
    KNOWN_NET,
    NET,
    OUT,
    RANDOM,
    SECRET,
    TEMP,
    TOKEN,
    UNSET,
    globbed,
    shown,
    unknown,
)
from steersman.governance.guard.paths import Zone, zone
from steersman.governance.guard.places import private, secret, special
from steersman.governance.guard.scene import BLOCK, Scene
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from steersman.governance.guard.call import ProgramCall
    from steersman.governance.guard.shell import Shell

_STAY = "Work inside the workspace; name the exact path to delete."
_WRITE = "Write a file inside the workspace; to have it there, copy it in another terminal."
_INSIDE = "Name a path inside the workspace, for example `rm -rf build`."
_SET = "Write `${NAME:?}` for the variable: then nothing is deleted when it is empty."
_BREAKING = {
    Zone.ROOT: "fs.root",
    Zone.TOP: "fs.top-level",
    Zone.HOME: "fs.home",
    Zone.HOME_CHILD: "fs.home-folder",
    Zone.ABOVE: "fs.above-workspace",
    Zone.UNSET: "fs.unset-variable",
    Zone.DEVICE: "disk.delete",
}
_PAYLOAD = pattern(
    r"(?:curl|wget|fetch|iwr|lwp-download)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|da|k|a)?sh\b"
    r"|\brm\s+-\w*r\w*\s+[\"']?(?:/(?:\s|\Z|\*|etc|usr|home|var)|~|\$HOME)"
    r"|/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat|socat)\b[^\n]*(?:\s-\w*e\b|exec:|/bin/\w*sh|\s\d+\b)"
    r"|(?:curl|wget|nc)\b[^\n]*(?:id_rsa|\.ssh/|\.aws/|/etc/shadow|\.netrc)"
    r"|(?:eval|source|\.)\s+[\"']?(?:\$\(|<\(|`)\s*(?:curl|wget)|base64\s+-\w*d\w*[^\n]*\|\s*\w*sh\b"
    r"|folderOpen|alias\s+(?:sudo|su|ssh|git|ls|cd|passwd|gpg)=|\bNOPASSWD\b|mkfifo\s+/tmp"
    r"|\b(?:python\d?|perl|ruby|php)\b[^\n]*\bsocket\b|chmod\s+[ugo]*\+?s\b|\bdangerously\w*\b"
    r"|LD_PRELOAD|bypassPermissions|\"?approval_policy\"?\s*[=:]\s*\"?never|danger-full-access"
)


def payload(text: str) -> bool:
    """True when a text carries a well-known attack, whatever format is round it."""
    return _PAYLOAD.search(text) is not None


def harmful(shell: "Shell", text: str) -> bool:
    """True when a text, run by a shell later, would be blocked."""
    if NET in text or RANDOM in text or payload(text):
        return True
    return len(text) >= 4 and blocked(shell, text.replace(FILE, "").replace(OUT, ""))


def blocked(shell: "Shell", text: str | list[str], *, prose: bool = False) -> bool:
    """True when a script, or the words of one command, would be blocked; nothing is noted.

    `prose` is text that need not be a script: words after an unknown first one mean nothing.
    """
    if shell.depth > 4:
        return False
    scene = Scene(shell.scene.place)
    scene.steps = shell.scene.steps
    scene.links = dict(shell.scene.links)
    scene.prose = prose or shell.scene.prose
    inner = shell.copy()
    inner.scene = scene
    inner.depth += 1
    if isinstance(text, str):
        inner.script(text)
    else:
        inner.run(text, None)
    shell.scene.steps = scene.steps
    return scene.worst is not None and scene.worst.level >= BLOCK


def judge_read(call: "ProgramCall", text: str, quiet: bool) -> None:
    """A file's content is read; it becomes the call's output."""
    path = call.path(text)
    call.reads.append(call.name_path(path))
    known = call.scene.files.get(path)
    if known is not None:
        call.out = known
        return
    call.out = FILE
    if path in ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"):
        call.out = RANDOM
    elif path.startswith(("/dev/tcp/", "/dev/udp/")):
        call.out = NET
    elif path == "/dev/null":
        call.out = ""
    elif secret(path, call.place):
        call.out = SECRET
        if not quiet:
            call.block(
                "secrets.read",
                f"reads credentials from {shown(path)}; they would enter the transcript",
                "Ask the user for what you need; never print credentials.",
            )
    elif not quiet and private(path, call.place):
        call.doubt("secrets.private", f"shows the user's own settings in {shown(path)}")
    elif call.zone(text) is Zone.DEVICE and not quiet:
        call.doubt("disk.read", f"reads the raw device {shown(path)}")


def judge_write(call: "ProgramCall", text: str, content: str | None, append: bool) -> None:
    """A file is written, replaced or appended to."""
    path = call.path(text)
    where = call.zone(text)
    call.writes.append(call.name_path(path))
    name = shown(path)
    if where is Zone.DEVICE:
        call.breaker("disk.write", f"overwrites the device {name}", "Write to a file instead.")
        return
    if where is Zone.HARMLESS:
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            _socket(call, path, content)
        return
    if content and RANDOM in content:
        call.breaker("exhaust.disk", f"fills the disk through {name}")
    kind = special(path, call.place)
    if any(path.startswith(folder + "/") for folder in call.scene.hook_dirs):
        kind = "hook"
    if kind:
        _SPECIAL[kind](call, name, content, append)
    _written(call, path, where, content, append and path == "/etc/hosts", kind)
    old = call.scene.files.get(path, "") if append else ""
    call.scene.files[path] = call.scene.fit(old + (FILE if content is None else content))


def _written(
    call: "ProgramCall", path: str, where: Zone, content: str | None, hosts: bool, kind: str
) -> None:
    """What the zone of a written path means."""
    name = shown(path)
    if path.startswith(("/proc/sys", "/sys/")) or path == "/proc/sysrq-trigger":
        call.breaker("system.kernel", f"writes to the kernel through {name}")
    elif hosts and not _names_public(content):
        call.doubt("system.hosts", "adds a host name to /etc/hosts")
    elif where in (Zone.SYSTEM, Zone.TOP, Zone.ROOT):
        call.block("fs.write-system", f"writes to the system path {name}", _WRITE)
    elif where in (Zone.HOME, Zone.HOME_CHILD, Zone.OUTSIDE, Zone.ABOVE, Zone.CACHE):
        if secret(path, call.place) and not kind:
            many = unknown(path) or globbed(path)
            what = f"files at {name}, credentials among them" if many else f"credentials at {name}"
            call.block("secrets.write", f"overwrites {what}")
        elif not kind:
            call.doubt("fs.write-outside", f"writes outside the workspace, to {name}", _WRITE)
    elif where in (Zone.UNKNOWN, Zone.UNSET) and not path.startswith(TEMP):
        call.doubt("fs.write-unknown", "writes to a path that is not known", "Write the full path.")


def _names_public(content: str | None) -> bool:
    """True when a line for the hosts file would redirect a public name."""
    return content is None or re.search(r"\.(?:com|org|net|io|dev|gov|edu)\b", content) is not None


def _socket(call: "ProgramCall", path: str, content: str | None) -> None:
    host = path.split("/")[3] if path.count("/") > 3 else "*"
    port = path.split("/")[4:5]
    call.network.append(":".join([host, *port]))
    if host in ("localhost", "127.0.0.1", "::1"):
        return
    if call.name in ("bash", "sh", "zsh", "exec", "dash", "ksh"):
        call.block("net.reverse-shell", f"connects a shell to {host}")
    elif content and SECRET in content:
        call.block("exfil.socket", f"sends credentials to {host}")
    else:
        call.doubt("net.socket", f"opens a raw connection to {host}")


def _access(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    call.block("access.write", f"changes {name}, which controls access or contains credentials")


def _startup(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    odd = content is None or re.search(r"/tmp/|/dev/shm/|/var/tmp/", content)
    if append and content is not None and not odd and not harmful(call.shell, content):
        call.doubt(
            "startup.append",
            f"adds to the start-up file {name}",
            "Tell the user which line to add.",
        )
    else:
        call.block("startup.write", f"replaces or poisons the start-up file {name}")


def _persist(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    if content is not None and harmful(call.shell, content):
        call.block("persist.write", f"makes something start automatically through {name}")
    else:
        call.doubt("persist.write", f"makes something start automatically through {name}")


def _path(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    from steersman.governance.guard.programs import known

    if not known(name.rsplit("/", 1)[-1]) and "/bin/" in name and NET not in (content or ""):
        call.doubt(
            "path.install", f"installs {name} for the user", "Keep helpers inside the workspace."
        )
        return
    call.block(
        "path.shadow",
        f"puts {name} where programs are looked up",
        "Keep helpers inside the workspace.",
    )


def _agent(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    call.block("agent.config", f"changes {name}, which controls coding agents")


def _hook(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    if content is not None and harmful(call.shell, content):
        call.block("hook.write", f"plants harmful code in the hook {name}")
    elif ".git moved" in call.scene.files:
        call.block("hook.rename", f"builds {name} again after the protected folder was moved away")
    else:
        call.doubt("hook.write", f"writes {name}, which runs later automatically")


def _git(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    if content is not None and harmful(call.shell, content):
        call.block("git.internals", f"plants harmful code in {name}")
    else:
        call.doubt("git.internals", f"writes into git's own files: {name}", "Use git commands.")


def _tool(call: "ProgramCall", name: str, content: str | None, append: bool) -> None:
    if content is not None and harmful(call.shell, content):
        call.block("tool.config", f"plants harmful code in {name}")
    else:
        call.doubt("tool.config", f"changes {name}, which decides what tools run")


_SPECIAL = {
    "access": _access,
    "startup": _startup,
    "persist": _persist,
    "path": _path,
    "agent": _agent,
    "hook": _hook,
    "gitconfig": _git,
    "git": _git,
    "tool": _tool,
}


def judge_delete(call: "ProgramCall", text: str, recursive: bool, narrow: bool) -> None:
    """A path is deleted; `narrow` when only some matching files below it are."""
    path = call.path(text, last=text.endswith("/"))
    where = zone(path, call.place)
    call.deletes.append(call.name_path(path))
    call.scene.files.pop(path, None)
    call.scene.links.pop(path, None)
    if text.endswith(UNSET + "/") and where is Zone.UNKNOWN:
        where = Zone.UNSET
    wide = recursive or globbed(path)
    if where in _BREAKING and (wide or where is Zone.DEVICE):
        if narrow and where in (Zone.ABOVE, Zone.HOME_CHILD):
            call.doubt("fs.delete-outside", f"deletes files outside, below {shown(path)}")
        else:
            instead = _SET if where is Zone.UNSET else _STAY
            call.breaker(_BREAKING[where], f"destroys {where.value}: {shown(path)}", instead)
    elif where in (Zone.WORKSPACE, Zone.GIT):
        if wide and not narrow:
            call.doubt("fs.workspace", f"wipes {where.value}", _INSIDE)
    else:
        _deleted(call, path, where, recursive and not narrow)


def _deleted(call: "ProgramCall", path: str, where: Zone, whole: bool) -> None:
    """What the zone of a deleted path means when nothing breaks at once."""
    name = shown(path)
    kind = special(path, call.place)
    if where is Zone.TEMP_ROOT and globbed(path):
        call.doubt("fs.delete-temp", f"empties {name}, which others use too", _STAY)
    elif where in (Zone.SYSTEM, Zone.ROOT, Zone.TOP, Zone.TEMP_ROOT):
        call.block("fs.delete-system", f"deletes the system path {name}", _STAY)
    elif path == EVERY:
        call.doubt("fs.delete-listed", "deletes everything a command lists")
    elif where is Zone.CACHE:
        call.doubt("fs.delete-cache", f"deletes the cache {name} outside the workspace")
    elif where in (Zone.OUTSIDE, Zone.HOME_CHILD, Zone.HOME, Zone.ABOVE):
        severe = whole or kind or secret(path, call.place)
        say = call.block if severe else call.doubt
        say("fs.delete-outside", f"deletes {name} outside the workspace", _STAY)
    elif where in (Zone.UNKNOWN, Zone.UNSET) and TEMP not in path:
        call.doubt(
            "fs.delete-unknown",
            "deletes paths that are not known from the text",
            "Write the full paths.",
        )
    elif where is Zone.INSIDE and kind in ("hook", "agent", "git", "gitconfig"):
        call.doubt("fs.delete-protected", f"deletes the protected path {name}")


def tainted(text: str | None) -> bool:
    """True when a text may hold credentials."""
    return text is not None and (SECRET in text or TOKEN in text)


def remote_code(text: str) -> str:
    """What a script fed to a shell may be: 'net', 'installer', 'unknown' or ''."""
    if NET in text:
        return "net"
    if KNOWN_NET in text:
        return "installer"
    return "unknown" if unknown(text) else ""
