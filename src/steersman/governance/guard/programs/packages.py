"""Package managers and runners: where code comes from, and what a runner starts."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.code import scan
from steersman.governance.guard.marks import NET, shown
from steersman.governance.guard.options import read_options, skip_options
from steersman.governance.guard.paths import OWN, Zone
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.governance.guard.programs.interpreters import interpreter, run_stdin
from steersman.governance.guard.programs.known_packages import KNOWN_BINS, SCOPES
from steersman.governance.guard.programs.serving import SERVERS, serve
from steersman.governance.guard.programs.verbs import by_table, locked
from steersman.governance.guard.programs.wrap_table import WRAPPERS
from steersman.governance.guard.programs.wrappers import wrapped
from steersman.records.patterns import pattern

# Who is known to look after what they give out, by the last two parts of a host's name.
_VOUCHED = {
    "org": "pypi pythonhosted npmjs rubygems golang bitbucket codeberg pytorch debian "
    "fedoraproject packagist maven apache anaconda mozilla uber",
    "com": "npmjs npmmirror yarnpkg github gitlab google googlesource nvidia microsoft ubuntu "
    "githubusercontent azure amazonaws cloudflare docker hashicorp",
    "io": "crates k8s jsr jfrog conda rsc",
    "in": "gopkg",
    "dev": "go",
    "land": "deno",
    "sh": "esm",
    "co": "honnef",
    "cc": "mvdan",
    "tools": "gotest",
}


def _vouched(host: str) -> bool:
    """Whether someone known gives out what is at a host."""
    labels = host.split(".")
    return len(labels) > 1 and labels[-2] in _VOUCHED.get(labels[-1], "").split()


_SOURCE = pattern(r"(?:git\+|hg\+|svn\+|bzr\+)?(?:https?|git|ssh|ftp)://\S+|git@[\w.-]+:\S+")


def installer(call: ProgramCall) -> None:
    """Any package manager: unknown sources are refused, then the table decides."""
    if call.name in ("bundle", "bundler"):
        _frozen(call)
    if call.name in WRAPPERS and not _owns(call):
        wrapped(call)
        return
    if call.name == "mix" and call.args[:1] == ["do"]:
        _steps(call)
        return
    if call.name == "mix" and call.args[:1] == ["run"]:
        for code in call.options("-e --eval").all("-e", "--eval"):
            scan(call.shell, code, "elixir")
    _sources(call)
    if not (call.name in _PIPS and _own_environment(call)):
        by_table(call)
    _outside(call)
    words = [word for word in call.args if not word.startswith("-")]
    if call.name in ("conda", "mamba", "micromamba") and words[:1] == ["init"]:
        call.ask("startup.append", "edits the shell's start-up files")


_FREEZES = ("BUNDLE_FROZEN", "BUNDLE_DEPLOYMENT")


def _frozen(call: ProgramCall) -> None:
    """`bundle` takes options from its settings, too: `frozen` is `--frozen`."""
    words = [word for word in call.args if not word.startswith("-") and word != "set"]
    name = f"BUNDLE_{words[1].upper()}" if words[:1] == ["config"] and len(words) > 2 else ""
    if name in _FREEZES:
        call.shell.variables[name] = words[2]
    elif words[:1] == ["install"] and any(
        call.shell.variables.get(name) in ("1", "true") for name in _FREEZES
    ):
        call.args = [*call.args, "--frozen"]


def _steps(call: ProgramCall) -> None:
    """`mix do a, b + c`: one after the other."""
    step: list[str] = []
    for word in [*call.args[1:], "+"]:
        if word.rstrip(",") and word != "+":
            step.append(word.rstrip(","))
        if (word.endswith(",") or word == "+") and step:
            call.run(["mix", *step], None, light=True)
            step = []


_PIPS = ("pip", "pip3", "pip-sync")
_PIP_VALUED = "-r --requirement -c --constraint -e --editable -i --index-url --python --group"


def _own_environment(call: ProgramCall) -> bool:
    """True when `pip` fills the project's virtual environment with what the project names, or
    installs what the project names by its hashes."""
    options = call.options(_PIP_VALUED)
    words = options.rest if call.name == "pip-sync" else options.rest[1:]
    if call.name != "pip-sync" and options.rest[:1] not in (["install"], ["sync"]):
        return False
    if options.has("--user", "--target", "-t", "--prefix", "--root", "--break-system-packages"):
        return False
    program = call.words[0]
    folder = call.shell.variables.get("VIRTUAL_ENV") or ("/bin/" in program and program)
    own = isinstance(folder, str) and call.zone(folder) in OWN
    pinned = options.has("--require-hashes") and not words and not options.has("-e", "--editable")
    if not (own or pinned) or not locked(call):
        return False
    named = [*words, *options.all("-r", "--requirement", "-e", "--editable")]
    if any(call.content(word) is not None for word in named):
        return False
    return bool(named) and all(
        word in ("pip", "setuptools", "wheel")
        or (_OF_PROJECT.match(word) and call.zone(word.partition("[")[0]) in OWN)
        for word in named
    )


_OF_PROJECT = pattern(r"\.(?:/.*)?(?:\[[\w,.-]+\])?\Z|[\w./-]*\.(?:txt|in|toml|lock)\Z")


def _owns(call: ProgramCall) -> bool:
    after = WRAPPERS[call.name].after.split()
    sub = next((word for word in call.args if not word.startswith("-")), "")
    return bool(after) and sub not in after


def _sources(call: ProgramCall) -> None:
    options = read_options(
        call.args,
        "-i --index-url --extra-index-url --registry -f --find-links --source -s "
        "--index --default-index --git --trusted-host --clear-sources --repo --repofrompath",
    )
    urls = options.all(
        "-i",
        "--index-url",
        "--extra-index-url",
        "--registry",
        "-f",
        "--find-links",
        "--source",
        "--index",
        "--default-index",
        "--git",
        "--trusted-host",
        "--repofrompath",
    )
    urls += [
        word
        for word in options.rest
        if _SOURCE.match(word.split(" @ ")[-1].strip()) or _SOURCE.search(word)
    ]
    for url in urls:
        found = _SOURCE.search(url)
        host = host_of((found[0] if found else url).split("+", 1)[-1])
        if "." not in host and not found and not LOCAL.match(host):
            continue
        if url.startswith((".", "/")):
            continue
        call.network.append(shown(host))
        if not _vouched(host) and not LOCAL.match(host):
            call.block(
                "pkg.untrusted",
                f"installs code from {shown(host)}, an unknown source",
                "Use the public registry, or ask the user.",
            )
        else:
            call.ask("pkg.source", f"installs code straight from {shown(host)}")


def _outside(call: ProgramCall) -> None:
    options = read_options(call.args, "--target -t --prefix --root -d")
    folder = options.get("--target", "--root") or (
        options.get("-t") if call.name.startswith("pip") else None
    )
    if folder and call.zone(folder) not in (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE):
        call.write(folder + "/package", "")


def npm(call: ProgramCall) -> None:
    """`npm`, `pnpm`, `yarn`, `bun`: scripts of the project run; `exec` runs packages."""
    args = call.args
    if call.name == "bun" and args[:1] and args[0] in ("-e", "--eval", "-p", "--print", "-"):
        interpreter(call)
        return
    if call.name == "bun" and args[-2:] == ["run", "-"]:
        run_stdin(call, "node")
        return
    rest = skip_options(
        args, "--prefix -w --workspace --registry -C --dir --filter -F --cwd --loglevel"
    )
    sub = rest[0] if rest else ""
    if sub in ("exec", "x", "dlx") or call.name == "bunx":
        options = read_options(rest[1:], "-c --call -p --package")
        for text in options.all("-c", "--call"):
            call.script(text)
        tail = skip_options(rest[1:], "-c --call -p --package")
        if len(tail) == 1 and " " in tail[0]:
            call.script(tail[0])
        elif tail:
            _package(call, tail)
        return
    if rest[:2] == ["config", "set"] and "shell" in "".join(rest[2:3]):
        call.doubt("flag.run", "makes scripts run through another program")
        call.script(" ".join(rest[3:]))
        call.wrapper = False
    _sources(call)
    if sub == "run" and not rest[1:]:
        return
    by_table(call)


def deno(call: ProgramCall) -> None:
    """`deno eval CODE`, `deno run SCRIPT`."""
    options = read_options(
        call.args, "--import-map --config -c --lock --cert --allow-read --allow-net"
    )
    sub, rest = (options.rest[0], options.rest[1:]) if options.rest else ("", [])
    if sub == "eval":
        for code in rest:
            scan(call.shell, code, "node")
    elif (sub in ("", "repl") or (sub == "run" and rest[:1] == ["-"])) and call.stdin is not None:
        run_stdin(call, "node")
    elif sub in ("run", "install", "serve", "x", "cache") and rest and "://" in rest[0]:
        host = host_of(rest[0])
        if _vouched(host) and host != "raw.githubusercontent.com":
            call.ask("pkg.run", "runs code from the network")
        else:
            call.block("net.run", f"runs code from {shown(host)}, an unknown source")
    elif sub in ("", "install", "add", "remove", "upgrade", "publish", "deploy", "compile", "repl"):
        call.ask("pkg.install", "installs, publishes or runs something interactively")
    elif sub == "run" and rest and call.zone(rest[0]) is not Zone.INSIDE:
        call.doubt("code.unknown", "runs an unreviewed script")


def uvx(call: ProgramCall) -> None:
    """`uvx`, `pipx run`: a Python package is started, perhaps fetched first."""
    _sources(call)
    options = read_options(call.args, "--from --with -p --python --spec")
    for url in options.all("--from", "--spec", "--with"):
        if _SOURCE.search(url) and not _vouched(host_of(url.split("+", 1)[-1])):
            call.block("net.run", f"runs code from {shown(host_of(url.split('+', 1)[-1]))}")
    tail = skip_options(call.args, "--from --with -p --python --spec")
    if tail:
        _package(call, tail)


def npx(call: ProgramCall) -> None:
    """`npx`, `bunx`, `pnpx`: a package is started, perhaps fetched first."""
    valued = "-c --call -p --package"
    tail = skip_options(call.args, valued)
    options = read_options(call.args[: len(call.args) - len(tail)], valued)
    for text in options.all("-c", "--call"):
        call.script(text)
    if tail:
        _package(call, tail, fetched=not options.has("--no-install", "--no"))


def _package(call: ProgramCall, words: list[str], *, fetched: bool = True) -> None:
    name = re.sub(r"(?<=.)@[\w.^~-]+\Z", "", words[0])
    if _SOURCE.match(words[0]) or words[0].startswith(("github:", "gist:")):
        host = host_of(words[0])
        if _vouched(host) or words[0].startswith("github:"):
            call.ask("pkg.run", "runs a package straight from its source")
        else:
            call.block("net.run", f"runs code from {shown(host)}, an unknown source")
        return
    if name == "husky":
        call.ask("hook.install", "installs hooks that run later automatically")
        return
    short = name.rsplit("/", 1)[-1]
    from steersman.governance.guard.programs import known

    if short in SERVERS and not known(short):
        serve(call, short, words[1:])
    elif known(short):
        call.run([short, *words[1:]], call.stdin)
        call.scene.plain = False
    elif not fetched:
        call.unknown_code = True
        if words[1:2] and words[1] in ("deploy", "publish", "release", "push", "delete", "login"):
            call.ask("pkg.publish", "changes something elsewhere")
    elif short not in KNOWN_BINS and name.split("/")[0] not in SCOPES:
        call.unknown_code = True
        call.network.append("*")
        call.ask("pkg.run", "fetches and runs an unreviewed package")


def go(call: ProgramCall) -> None:
    """`go`: remote packages are code from elsewhere."""
    words = [word for word in call.args if not word.startswith("-")]
    if words[:1] == ["run"] and call.stdin and {"-", "/dev/stdin"} & {*call.args}:
        scan(call.shell, call.stdin, "go")
    if words[:1] and words[0] in ("run", "install", "get"):
        for word in words[1:2]:
            if NET in word or NET in (call.content(word) or ""):
                call.block("net.run", "runs what was fetched from the network")
            host = word.split("/", 1)[0].split("@")[0]
            if words[0] == "get":
                call.ask("pkg.install", "adds a dependency")
            elif ("." in host.strip(".") and "@" in word) or (
                words[0] in ("get", "install") and "." in host.strip(".")
            ):
                call.network.append(shown(host))
                if not _vouched(host):
                    call.block(
                        "net.run",
                        f"runs or installs code from {shown(host)}, an unknown source",
                    )
                else:
                    call.ask("pkg.install", "installs or runs a package from the network")
    by_table(call)


def uv(call: ProgramCall) -> None:
    """`uv pip …`, `uv run …`, `uv tool run …`."""
    rest = skip_options(call.args, "--project --directory --python -p --color")
    if rest[:1] == ["venv"]:
        call.shell.variables["VIRTUAL_ENV"] = call.path(".venv")
    if rest[:1] == ["pip"]:
        call.run(["pip", *rest[1:]], None, light=True)
    elif rest[:2] == ["tool", "run"]:
        _package(call, skip_options(rest[2:], "--from --with -p"))
    else:
        installer(call)
