"""Programs that start another program: finding the words of the one that matters."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.environment import secret_name
from steersman.governance.guard.marks import FILE, OUT, SECRET, shown
from steersman.governance.guard.options import read_options, skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.wrap_table import WRAPPERS, Wrap
from steersman.governance.guard.scene import ASK, Finding
from steersman.governance.guard.variables import check_assignment
from steersman.records.patterns import pattern

_ASSIGN = pattern(r"([A-Za-z_]\w*)=(.*)\Z", re.DOTALL)


def wrapped(call: ProgramCall) -> None:
    """A wrapper of the table."""
    how = WRAPPERS[call.name]
    args = call.args
    if about_itself(args) or (call.name == "wsl" and _distribution(call)):
        return
    if how.command and _scripts(call, how) and not how.joined:
        return
    _attaches(call)
    if how.after:
        at = next((n for n, word in enumerate(args) if word in how.after.split()), None)
        if at is None:
            _own(call)
            return
        args = args[at + 1 :]
    if how.dashes:
        if "--" not in args:
            return
        rest = args[args.index("--") + 1 :]
    else:
        rest = skip_options(args, how.valued, how.operands)
    _started(call, how, args, rest)


def _started(call: ProgramCall, how: Wrap, args: list[str], rest: list[str]) -> None:
    """The wrapper's own words are over: what it starts is judged."""
    if call.name == "xcrun" and _XCRUN_LOOKS & {*args[: len(args) - len(rest)]}:
        return
    _root(call, how)
    if how.writes:
        _writes(call, how, args[: len(args) - len(rest)])
    while rest and _ASSIGN.match(rest[0]):
        _assign(call, rest.pop(0))
    if call.name in ("uv", "pdm", "rye") and rest and rest[0].endswith((".py", ".pyz")):
        rest = ["python3", *rest]
    if not rest:
        _nothing(call)
    elif how.joined or (len(rest) == 1 and " " in rest[0]):
        _joined(call, rest)
    else:
        call.run(rest, call.stdin, light=how.light)


_XCRUN_LOOKS = {"-f", "-find", "--find", "--show-sdk-path", "--show-sdk-version", "-show-sdk-path"}
_WSL_LOOKS = ("-l", "--list", "--status", "--version", "-v", "--help")


def _distribution(call: ProgramCall) -> bool:
    """`wsl --unregister NAME`: about the Linux systems themselves, not about a command in one."""
    word = call.args[0] if call.args else ""
    if not word.startswith("-") or word in ("-d", "-u", "-e", "--", "--exec", "--distribution"):
        return False
    if word in ("--user", "--cd", "--system", "--shell-type"):
        return False
    if word not in _WSL_LOOKS:
        call.ask("windows.system", "changes or removes a Linux system of this machine")
    return True


def _attaches(call: ProgramCall) -> None:
    if call.name in ("strace", "ltrace", "truss") and "-p" in call.args:
        call.doubt("debug.attach", "reads what another process does")


def _scripts(call: ProgramCall, how: Wrap) -> bool:
    """Scripts given as options."""
    options = read_options(call.args, how.valued + " " + how.command)
    scripts = options.all(*how.command.split())
    for text in scripts:
        call.script(text)
    if scripts:
        _root(call, how)
    return bool(scripts)


def _joined(call: ProgramCall, words: list[str]) -> None:
    """Words that are one script, or several when they hold blanks."""
    call.script(" ".join(words))
    for word in words if len(words) > 1 else ():
        if " " in word:
            call.script(word)


def _writes(call: ProgramCall, how: Wrap, head: list[str]) -> None:
    """A wrapper's own log."""
    for name in read_options(head, how.valued).all(*how.writes.split()):
        if name[:1] in ("|", "!"):
            call.script(name[1:])
        else:
            call.write(name, FILE)


def _own(call: ProgramCall) -> None:
    if call.name == "direnv" and call.args[:1] == ["export"]:
        call.out = call.content(".envrc") or ""  # what the user has allowed, unless written here
        return
    from steersman.governance.guard.programs.verbs import by_table

    if call.name in ("op", "doppler", "infisical", "chamber", "aws-vault", "sops", "teller"):
        from steersman.governance.guard.programs.credentials import secrets_tool

        secrets_tool(call)
        return
    by_table(call)


def _nothing(call: ProgramCall) -> None:
    if call.name in ("systemd-run", "pkexec", "doas", "nsenter", "chroot", "gosu"):
        call.ask("privilege.use", "starts a privileged shell")


def _root(call: ProgramCall, how: Wrap) -> None:
    if how.root:
        call.scene.plain = False
        call.shell.root = True
        call.ask(
            "privilege.use",
            "runs something with other rights",
            "Work without root; ask the user to run what needs it.",
        )


def _assign(call: ProgramCall, word: str) -> None:
    found = _ASSIGN.match(word)
    if found:
        check_assignment(call.shell, found[1], found[2], True)


_SPLIT = pattern(r"-[a-zA-Z]*S=?(.*)\Z|--split-string(?:=(.*))?\Z", re.DOTALL)


def env(call: ProgramCall) -> None:
    """`env`: variables, a folder, split strings, then the program."""
    args, at = call.args, 0
    while at < len(args):
        word = args[at]
        at += 1
        split = _SPLIT.match(word)
        if split:
            call.script(" ".join([split[1] or split[2] or "", *args[at:]]))
            return
        folder = re.match(r"(?:-C|--chdir=)(.+)", word)
        if word in ("-C", "--chdir", "-u", "--unset", "-P"):
            folder = (
                re.match(r"(.*)", "".join(args[at : at + 1]))
                if "h" in word or "C" in word
                else None
            )
            at += 1
        if folder:
            call.shell = call.shell.copy()
            call.shell.cwd = call.path(folder[1])
        elif _ASSIGN.match(word):
            _assign(call, word)
        elif not word.startswith("-"):
            at -= 1
            break
    rest = args[at:]
    if rest:
        call.run(rest, call.stdin, light=not any("=" in word for word in args[:at]))
    else:
        call.out = SECRET
        if not call.args:
            _environment(call)


def _environment(call: ProgramCall) -> None:
    """The whole environment is printed; whether its values are shown depends on what follows."""
    reason = f"`{call.name}` prints the whole environment, which may contain credentials."
    call.scene.environments.append(
        Finding(ASK, "secrets.environment", reason, "Print only the variable you need.")
    )


def printenv(call: ProgramCall) -> None:
    """`printenv NAME`: one variable; without a name, all of them."""
    names = [word for word in call.args if not word.startswith("-")]
    call.out = OUT
    if not names:
        call.out = SECRET
        _environment(call)
    elif any(secret_name(name) for name in names):
        call.out = SECRET
        call.block("secrets.environment", "prints a credential from the environment")


def about_itself(args: list[str]) -> bool:
    """True when a wrapper only prints its version or help."""
    return bool(args) and all(word in ("-V", "--version", "-h", "--help") for word in args)


def sudo(call: ProgramCall) -> None:
    """`sudo`: asks by itself, and what it runs is judged."""
    valued = (
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir "
        "--chroot --role --type --other-user --close-from --command-timeout"
    )
    args = call.args
    rest = skip_options(args, valued)
    options = read_options(args[: len(args) - len(rest)], valued)
    if not rest and about_itself(args):
        return
    call.scene.plain = False
    call.shell = call.shell.copy()
    call.shell.root = True
    call.ask(
        "privilege.sudo",
        "runs something as another user",
        "Work without root; ask the user to run what needs it.",
    )
    folder = options.get("-D", "--chdir")
    if folder:
        call.shell.cwd = call.path(folder)
    if options.has("-e", "--edit") or call.name == "sudoedit":
        for word in rest:
            call.write(word, FILE)
        return
    while rest and _ASSIGN.match(rest[0]):
        _assign(call, rest.pop(0))
    if rest and rest[0] == "!!":
        return
    if rest:
        if options.has("-s", "-i", "--shell", "--login"):
            call.script(" ".join(rest), stdin=call.stdin)
        call.run(rest, call.stdin)
    elif options.has("-s", "-i", "--shell", "--login") and call.stdin is not None:
        call.script(call.stdin)


def su(call: ProgramCall) -> None:
    """`su -c`, `sg group command`."""
    options = call.options("-c -s -g -G -w --command --session-command --shell --group")
    if about_itself(call.args):
        return
    call.scene.plain = False
    call.ask("privilege.su", "becomes another user")
    for text in options.all("-c", "--command", "--session-command"):
        call.script(text)
    if call.name == "sg" and len(options.rest) > 1:
        call.script(" ".join(options.rest[1:]))
    elif call.stdin is not None:
        call.script(call.stdin)


def flock(call: ProgramCall) -> None:
    """`flock FILE command` or `flock FILE -c script`."""
    rest = skip_options(call.args, "-w -E -W --timeout --wait --conflict-exit-code", 1)
    if rest[:1] and rest[0] in ("-c", "--command"):
        call.script(" ".join(rest[1:2]))
    elif rest:
        call.run(rest, call.stdin)


def watch(call: ProgramCall) -> None:
    """`watch`: its words, joined, are a script."""
    rest = skip_options(call.args, "-n -d -p -q --interval --equexit")
    if rest:
        if "-x" in call.args or "--exec" in call.args:
            call.run(rest, call.stdin)
        else:
            call.script(" ".join(rest))


def busybox(call: ProgramCall) -> None:
    """`busybox applet …`."""
    rest = [word for word in call.args if word not in ("--install", "--list")]
    for at, word in enumerate(rest):
        found = re.match(r"--coreutils-prog(?:-shebang)?=(.+)", word)
        if found:
            rest = [found[1], *rest[at + (2 if "shebang" in word else 1) :]]
            break
    if rest:
        call.run(rest, call.stdin)


_OWN_ONLY = "End only what you started, by its name."


def shell_words(call: ProgramCall) -> None:
    """`tmux`, `screen`, `at`-like programs whose last words are a script."""
    rest = [word for word in call.args]
    for at, word in enumerate(rest):
        if " " in word and at:
            call.script(word)
    subs = {
        "new",
        "new-session",
        "new-window",
        "split-window",
        "neww",
        "splitw",
        "respawn-pane",
        "run-shell",
        "run",
        "if-shell",
        "if",
        "pipe-pane",
        "send-keys",
        "send",
        "popup",
        "display-popup",
    }
    told = any(re.fullmatch(r"-\w*X\w*", word) for word in rest)
    if any(word.startswith("kill-") or (told and word in ("quit", "kill")) for word in rest):
        call.ask(
            "kill.session", "ends terminal sessions with everything that runs in them", _OWN_ONLY
        )
        return
    if call.name == "tmux":
        sources = [n for n, word in enumerate(rest) if word in ("source", "source-file")]
        for name in skip_options(rest[sources[0] + 1 :], "-t") if sources else ():
            if call.zone(name) is not Zone.INSIDE:
                call.doubt("code.unknown", f"runs the commands in {shown(name)}")
        spot = next((n for n, word in enumerate(rest) if word in subs), None)
        if spot is not None:
            tail = skip_options(rest[spot + 1 :], "-s -n -t -c -x -y -F -e -l -p -b")
            if tail and tail[-1] in ("Enter", "C-m", "ENTER"):
                tail = tail[:-1]
            if tail:
                call.script(" ".join(tail))
        return
    tail = skip_options(rest, "-S -t -c -e -h -p -s -T -x -L")
    if "-X" in rest:
        tail = rest[rest.index("-X") + 1 :]
        tail = tail[1:] if tail[:1] and tail[0] in ("stuff", "exec", "screen") else tail
    if tail:
        call.script(" ".join(tail))


def make_words(call: ProgramCall) -> None:
    """`ip netns exec NAME command`."""
    args = call.args
    if "exec" in args and "netns" in args:
        call.run(args[args.index("exec") + 2 :], call.stdin)
    elif any(
        word in ("add", "del", "delete", "flush", "set", "change", "replace") for word in args
    ):
        call.ask("system.network", "changes the machine's network")
