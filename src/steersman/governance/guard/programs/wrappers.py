"""Programs that start another program: how to find the words of the one that matters."""

import re
from typing import NamedTuple

from steersman.governance.guard.call import Call
from steersman.governance.guard.marks import EVERY, FILE, OUT, SECRET, UNSET, unknown
from steersman.governance.guard.options import read_options, skip_options
from steersman.governance.guard.variables import check_assignment

_ASSIGN = re.compile(r"([A-Za-z_]\w*)=(.*)\Z", re.DOTALL)


class Wrap(NamedTuple):
    """How a wrapper's own words are told from those it runs."""

    valued: str = ""
    operands: int = 0
    command: str = ""  # options whose value is a script
    root: bool = False
    joined: bool = False  # its words are joined and given to a shell
    light: bool = False
    after: str = ""  # the words begin after this one ("exec", "run")
    dashes: bool = False  # the words begin only after --


_W = Wrap
WRAPPERS: dict[str, Wrap] = {
    "timeout": _W("-s -k --signal --kill-after", 1, light=True),
    "gtimeout": _W("-s -k --signal --kill-after", 1, light=True),
    "time": _W("-f -o --format --output", light=True),
    "nice": _W("-n --adjustment", light=True),
    "ionice": _W("-c -n -p -P -u --class --classdata"),
    "nohup": _W(light=True),
    "stdbuf": _W("-i -o -e --input --output --error", light=True),
    "setsid": _W(),
    "chrt": _W("-T -P -D", 1),
    "taskset": _W("-p", 1),
    "numactl": _W("-C -N -m -l -p --cpunodebind --membind --physcpubind"),
    "chroot": _W("--userspec --groups", 1, root=True),
    "unshare": _W("-R -w -S -G --root --wd --setuid --setgid"),
    "nsenter": _W("-t -S -G --target --setuid --setgid", root=True),
    "setarch": _W(),
    "linux32": _W(),
    "linux64": _W(),
    "i386": _W(),
    "x86_64": _W(),
    "uname26": _W(),
    "strace": _W("-e -o -p -s -u -E -a -b -I -O -S -P -X"),
    "ltrace": _W("-e -o -p -s -u -n -a -A -D -F -l -x"),
    "truss": _W("-o -p"),
    "dtruss": _W("-n -p"),
    "valgrind": _W(),
    "catchsegv": _W(),
    "rlwrap": _W("-f -H -s -b -D -l"),
    "unbuffer": _W(),
    "chronic": _W(),
    "faketime": _W("-f", 1),
    "datefudge": _W("", 1),
    "eatmydata": _W(),
    "fakeroot": _W("-l -s -i -b"),
    "fakechroot": _W(),
    "proot": _W("-r -b -w -q"),
    "firejail": _W(),
    "dbus-run-session": _W("--config-file --dbus-daemon"),
    "dbus-launch": _W(),
    "xvfb-run": _W("-n -s -e -f -p -w"),
    "cpulimit": _W("-l -p -e -P"),
    "prlimit": _W("-p"),
    "ssh-agent": _W("-a -t"),
    "systemd-run": _W(
        "-u -p -E -t -M -H --unit --property --slice --uid --gid --on-calendar "
        "--on-active --setenv",
        root=True,
    ),
    "systemd-inhibit": _W("--what --who --why --mode"),
    "caffeinate": _W("-t -w"),
    "cgexec": _W("-g"),
    "runcon": _W("-t -u -r -l", 0),
    "setpriv": _W(
        "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits "
        "--selinux-label"
    ),
    "gosu": _W("", 1, root=True),
    "su-exec": _W("", 1, root=True),
    "setuidgid": _W("", 1, root=True),
    "s6-setuidgid": _W("", 1),
    "chpst": _W("-u -U -b -/ -n -l -L -m -d -o -p -f -c"),
    "softlimit": _W(),
    "envdir": _W("", 1),
    "pkexec": _W("--user", root=True),
    "doas": _W("-u -C", root=True),
    "run0": _W("-u --user", root=True),
    "calife": _W("", 0, root=True),
    "please": _W("-u", root=True),
    "hyperfine": _W(
        "-w -r -m -M -p -c -n -S -L -P -D -s --warmup --runs --min-runs --max-runs "
        "--export-json --export-markdown --prepare --cleanup --setup --shell --parameter-list",
        command="-p --prepare -c --cleanup -s --setup",
        joined=True,
    ),
    "entr": _W("-s"),
    "reflex": _W("-r -g -R -G -d"),
    "inotifywait": _W("-e -m"),
    "watchexec": _W("-e -w -i -s -d -f --exts --watch --ignore --signal --debounce --filter"),
    "parallel": _W(
        "-j -a -n -N -L -P -I -S -C --jobs --arg-file --colsep --results --joblog "
        "--timeout --delay --sshlogin --halt",
        joined=True,
    ),
    "sem": _W("-j --id --jobs", joined=True),
    "concurrently": _W("-n -c --names --prefix-colors -k", joined=True),
    "cross-env": _W(),
    "cross-env-shell": _W(joined=True),
    "dotenv": _W("-e -f -p", after="run"),
    "dotenvx": _W("-f --env-file", after="run"),
    "env-cmd": _W("-f -e"),
    "direnv": _W("", 1, after="exec"),
    "asdf": _W(after="exec"),
    "mise": _W(after="exec x"),
    "rtx": _W(after="exec x"),
    "rbenv": _W(after="exec"),
    "pyenv": _W(after="exec"),
    "nodenv": _W(after="exec"),
    "goenv": _W(after="exec"),
    "volta": _W("--node --npm --yarn", after="run"),
    "fnm": _W("--using", after="exec"),
    "nvm": _W("", 1, after="exec run"),
    "jenv": _W(after="exec"),
    "rvm": _W("", 1, after="do exec"),
    "chruby-exec": _W("", 1),
    "sdk": _W(after="exec"),
    "poetry": _W("-C -P --directory", after="run"),
    "pdm": _W("-p --project", after="run"),
    "hatch": _W("-e --env", after="run"),
    "rye": _W(after="run"),
    "pipenv": _W(after="run"),
    "pixi": _W("-e --environment --manifest-path", after="run exec"),
    "conda": _W("-n -p --name --prefix", after="run"),
    "mamba": _W("-n -p --name --prefix", after="run"),
    "micromamba": _W("-n -p", after="run"),
    "uv": _W(
        "--with --python -p --project --directory --group --extra --env-file --package "
        "--with-requirements --index-url --from",
        after="run",
    ),
    "bundle": _W("--gemfile", after="exec"),
    "bundler": _W(after="exec"),
    "devbox": _W("-c --config", after="run"),
    "flox": _W("-d -r", after="activate"),
    "nix": _W("-f", after="-c --command run"),
    "nix-shell": _W("-p --packages -A --run --command -I --arg", command="--run --command"),
    "guix": _W("-m", after="shell environment", dashes=True),
    "toolbox": _W("-c --container", after="run"),
    "distrobox": _W("-n --name", 1, after="enter", dashes=True),
    "distrobox-enter": _W("-n", dashes=True),
    "flatpak-spawn": _W("--env --directory"),
    "host-spawn": _W(),
    "aws-vault": _W("-d --duration --region", 1, after="exec"),
    "aws-okta": _W("", 1, after="exec"),
    "saml2aws": _W(after="exec", dashes=True),
    "chamber": _W("", 1, after="exec", dashes=True),
    "op": _W("--env-file --account", after="run", dashes=True),
    "doppler": _W("-p -c --project --config --command", after="run", command="--command"),
    "infisical": _W("--env --path --command", after="run", command="--command", dashes=True),
    "teller": _W(after="run", dashes=True),
    "sops": _W("", 1, after="exec-env exec-file", joined=True),
    "vagrant": _W("-c --command", after="ssh", command="-c --command", dashes=True),
    "multipass": _W("", 1, after="exec"),
    "lxc": _W("", 1, after="exec"),
    "incus": _W("", 1, after="exec"),
    "limactl": _W("", 1, after="shell"),
    "wsl": _W("-d -u -e", joined=True),
    "machinectl": _W("", 1, after="shell"),
    "adb": _W("-s -t", after="shell", joined=True),
    "cmake_e": _W(),
    "perf": _W("-e -o -F -p -t", after="stat record trace mem c2c"),
    "coverage": _W(),
    "script": _W("-c --command -T -I -O -B -t -o", command="-c --command"),
    "scriptreplay": _W(),
    "expect": _W("-c", command="-c"),
    "xterm": _W("-T -geometry -title", after="-e -x"),
    "gnome-terminal": _W("", after="-e -x --"),
    "konsole": _W("", after="-e"),
    "alacritty": _W("", after="-e"),
    "kitty": _W("", after="-e"),
    "foot": _W(),
    "x-terminal-emulator": _W("", after="-e"),
    "start-stop-daemon": _W("--pidfile --name --user", after="--exec -x -a --startas"),
    "daemonize": _W("-p -l -u -c -o -e -E"),
    "runuser": _W("-u -g -G -c -s --user", command="-c --command", root=True),
    "gdbserver": _W("", 1),
    "ccache": _W(),
    "sccache": _W(),
    "distcc": _W(),
    "icecc": _W(),
    "torsocks": _W(),
    "torify": _W(),
    "proxychains": _W("-f"),
    "proxychains4": _W("-f"),
    "tsocks": _W(),
    "uvx": _W("--from --with -p --python"),
    "pipx": _W("--spec --python --pip-args", after="run"),
    "tini": _W("-p -e"),
    "dumb-init": _W(),
    "catatonit": _W(),
    "retry": _W("-t -d"),
    "semaphore": _W(),
    "nodemon": _W("-x --exec -w --watch -e --ext -i", command="-x --exec"),
    "onchange": _W("-i -d"),
    "wait-on": _W(),
    "start-server-and-test": _W(joined=True),
    "run-one": _W(),
    "keychain": _W(),
    "bwrap": _W("--chdir --dev --proc --tmpfs --uid --gid --hostname --seccomp"),
    "nsjail": _W("-C --config", dashes=True),
    "capsh": _W(command="-c", after="-- ==", root=True),
    "proxychains-ng": _W("-f"),
    "enroot": _W("", 1, after="exec start"),
    "apptainer": _W("-B --bind", 1, after="exec"),
    "singularity": _W("-B --bind", 1, after="exec"),
    "udocker": _W("", 1, after="run"),
    "pueue": _W("-g -w", after="add", joined=True),
    "tsp": _W("-L -N -D"),
    "nq": _W(),
    "dtach": _W("-A -c -n -N", 0),
    "abduco": _W("-c -n -A", 0),
    "zellij": _W("-c -n", after="run", dashes=True),
    "wezterm": _W("--cwd", after="start", dashes=True),
    "tilix": _W("", after="-e"),
    "terminator": _W("", after="-e -x"),
    "urxvt": _W("", after="-e"),
    "pkgx": _W(),
    "envchain": _W("", 1),
    "berks": _W(after="exec"),
    "appraisal": _W(),
    "dip": _W(after="run"),
    "lando": _W(after="ssh"),
    "ddev": _W(after="exec"),
    "sail": _W(after="run exec"),
    "lima": _W(),
    "colima": _W(after="ssh", dashes=True),
    "orb": _W(),
    "sshpass": _W("-p -f -d -P"),
    "scl": _W(after="enable", joined=True),
    "spack": _W(),
    "srun": _W("-n -N -p -t -J"),
    "mpirun": _W("-n -np -H -hostfile --host"),
    "mpiexec": _W("-n -np"),
    "nvprof": _W(),
    "nsys": _W(after="profile"),
    "heaptrack": _W(),
    "samply": _W(after="record"),
    "py-spy": _W(after="record top", dashes=True),
    "tap": _W(),
    "systemd-cat": _W("-t -p"),
    "withlock": _W("", 1),
    "lckdo": _W("", 1),
    "setlock": _W("", 1),
    "with-lock-ex": _W("", 1),
    "lockrun": _W(dashes=True),
    "mintty": _W("", after="-e"),
    "winpty": _W(),
    "wine": _W(),
    "arch": _W("-arch"),
    "leaks": _W(dashes=True),
    "sandbox-exec": _W("-f -n -p -D"),
}


def wrapped(call: Call) -> None:
    """A wrapper of the table."""
    how = WRAPPERS[call.name]
    args = call.args
    if how.command:
        options = read_options(args, how.valued + " " + how.command)
        scripts = options.all(*how.command.split())
        for text in scripts:
            call.script(text)
        if scripts:
            _root(call, how)
            return
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
    _root(call, how)
    while rest and _ASSIGN.match(rest[0]):
        _assign(call, rest.pop(0))
    if not rest:
        _nothing(call)
    elif how.joined or (len(rest) == 1 and " " in rest[0]):
        call.script(" ".join(rest))
    else:
        call.run(rest, call.stdin, light=how.light)


def _own(call: Call) -> None:
    from steersman.governance.guard.programs.verbs import by_table

    if call.name in ("op", "doppler", "infisical", "chamber", "aws-vault", "sops", "teller"):
        from steersman.governance.guard.programs.system import secrets_tool

        secrets_tool(call)
        return
    by_table(call)


def _nothing(call: Call) -> None:
    if call.name in ("systemd-run", "pkexec", "doas", "nsenter", "chroot", "gosu"):
        call.ask("privilege.use", "starts a privileged shell")


def _root(call: Call, how: Wrap) -> None:
    if how.root:
        call.scene.plain = False
        call.shell.root = True
        call.ask(
            "privilege.use",
            "runs something with other rights",
            "Work without root; ask the user to run what needs it.",
        )


def _assign(call: Call, word: str) -> None:
    found = _ASSIGN.match(word)
    if found:
        check_assignment(call.shell, found[1], found[2], True)


_SPLIT = re.compile(r"-[a-zA-Z]*S=?(.*)\Z|--split-string(?:=(.*))?\Z", re.DOTALL)


def env(call: Call) -> None:
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
            call.ask(
                "secrets.environment",
                "prints the whole environment, which may hold credentials",
                "Print only the variable you need.",
            )


def printenv(call: Call) -> None:
    """`printenv NAME`: one variable; without a name, all of them."""
    names = [word for word in call.args if not word.startswith("-")]
    call.out = OUT
    if not names:
        call.out = SECRET
        call.ask("secrets.environment", "prints the whole environment, which may hold credentials")
    elif any(secret_name(name) for name in names):
        call.out = SECRET
        call.block("secrets.environment", "prints a credential from the environment")


def secret_name(name: str) -> bool:
    """True for the name of a variable that holds a credential."""
    return (
        re.search(
            r"(?i)(?:SECRET|TOKEN|PASSW(?:OR)?D|API_?KEY|PRIVATE_?KEY|CREDENTIAL|_KEY\Z|"
            r"ACCESS_KEY|_PAT\Z|_PW\Z)",
            name,
        )
        is not None
    )


def sudo(call: Call) -> None:
    """`sudo`: asks by itself, and what it runs is judged."""
    valued = (
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir "
        "--chroot --role --type --other-user --close-from --command-timeout"
    )
    args = call.args
    rest = skip_options(args, valued)
    options = read_options(args[: len(args) - len(rest)], valued)
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


def su(call: Call) -> None:
    """`su -c`, `sg group command`."""
    options = call.options("-c -s -g -G -w --command --session-command --shell --group")
    call.scene.plain = False
    call.ask("privilege.su", "becomes another user")
    for text in options.all("-c", "--command", "--session-command"):
        call.script(text)
    if call.name == "sg" and len(options.rest) > 1:
        call.script(" ".join(options.rest[1:]))
    elif call.stdin is not None:
        call.script(call.stdin)


def flock(call: Call) -> None:
    """`flock FILE command` or `flock FILE -c script`."""
    rest = skip_options(call.args, "-w -E -W --timeout --wait --conflict-exit-code", 1)
    if rest[:1] and rest[0] in ("-c", "--command"):
        call.script(" ".join(rest[1:2]))
    elif rest:
        call.run(rest, call.stdin)


def watch(call: Call) -> None:
    """`watch`: its words, joined, are a script."""
    rest = skip_options(call.args, "-n -d -p -q --interval --equexit")
    if rest:
        if "-x" in call.args or "--exec" in call.args:
            call.run(rest, call.stdin)
        else:
            call.script(" ".join(rest))


def xargs(call: Call) -> None:
    """`xargs`: a program with words from standard input, once or many times."""
    valued = (
        "-a -d -E -I -L -n -P -s -J -R --arg-file --delimiter --eof --replace --max-lines "
        "--max-args --max-procs --max-chars --process-slot-var"
    )
    rest = skip_options(call.args, valued)
    options = read_options(call.args[: len(call.args) - len(rest)], valued)
    text = call.stdin if call.stdin is not None else UNSET
    name = options.get("-a", "--arg-file")
    if name is not None:
        call.read(name)
        text = call.out
    separator = options.get("-d", "--delimiter")
    items = [
        item
        for item in re.split(
            "[\0\n]" if separator is None else re.escape(separator.replace("\\n", "\n")), text
        )
        if item.strip()
    ]
    if not options.has("-0", "--null", "-I", "--replace", "-i", "-d") and not unknown(text):
        items = text.replace("\0", " ").split()
    items = [item.strip("\n") for item in items][:40] or ([OUT] if unknown(text) else [])
    words = rest or ["echo"]
    marker = options.get("-I", "-J", "--replace") or ("{}" if options.has("-i") else None)
    if "\ue007" in text and options.get("-P", "--max-procs") is not None:
        call.breaker("forkbomb.xargs", "starts processes without bound")
    call.scene.plain = False
    if marker:
        for item in items or [OUT]:
            call.run([word.replace(marker, item) for word in words], None)
    else:
        call.run([*words, *items], None)


def busybox(call: Call) -> None:
    """`busybox applet …`."""
    rest = [word for word in call.args if word not in ("--install", "--list")]
    for at, word in enumerate(rest):
        found = re.match(r"--coreutils-prog(?:-shebang)?=(.+)", word)
        if found:
            rest = [found[1], *rest[at + (2 if "shebang" in word else 1) :]]
            break
    if rest:
        call.run(rest, call.stdin)


def shell_words(call: Call) -> None:
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
    if call.name == "tmux":
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


def make_words(call: Call) -> None:
    """`ip netns exec NAME command`."""
    args = call.args
    if "exec" in args and "netns" in args:
        call.run(args[args.index("exec") + 2 :], call.stdin)
    elif any(
        word in ("add", "del", "delete", "flush", "set", "change", "replace") for word in args
    ):
        call.ask("system.network", "changes the machine's network")


HANDLERS = {
    **{name: wrapped for name in WRAPPERS},
    "env": env,
    "genv": env,
    "printenv": printenv,
    "sudo": sudo,
    "sudoedit": sudo,
    "su": su,
    "sg": su,
    "flock": flock,
    "watch": watch,
    "viddy": watch,
    "xargs": xargs,
    "gxargs": xargs,
    "busybox": busybox,
    "toybox": busybox,
    "coreutils": busybox,
    "shx": busybox,
    "tmux": shell_words,
    "screen": shell_words,
    "ip": make_words,
}
__all__ = ["EVERY", "HANDLERS", "WRAPPERS"]
