"""Package managers and runners: where code comes from, and what a runner starts."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.code import scan
from steersman.governance.guard.marks import shown
from steersman.governance.guard.options import listed, read_options, skip_options
from steersman.governance.guard.paths import OWN, Zone
from steersman.governance.guard.patterns import pattern
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.governance.guard.programs.interpreters import interpreter
from steersman.governance.guard.programs.serving import SERVERS, serve
from steersman.governance.guard.programs.verbs import by_table, locked
from steersman.governance.guard.programs.wrap_table import WRAPPERS
from steersman.governance.guard.programs.wrappers import wrapped

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
    """Whether somebody known gives out what is at a host."""
    labels = host.split(".")
    return len(labels) > 1 and labels[-2] in _VOUCHED.get(labels[-1], "").split()


_SOURCE = pattern(r"(?:git\+|hg\+|svn\+|bzr\+)?(?:https?|git|ssh|ftp)://\S+|git@[\w.-]+:\S+")


def installer(call: ProgramCall) -> None:
    """Any package manager: sources nobody vouches for are refused, then the table decides."""
    if call.name in ("bundle", "bundler"):
        _frozen(call)
    if call.name in WRAPPERS and not _owns(call):
        wrapped(call)
        return
    if call.name == "mix" and call.args[:1] == ["do"]:
        _steps(call)
        return
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
                f"installs code from {shown(host)}, which nobody vouches for",
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
    if call.name == "bun" and args[:1] and args[0] in ("-e", "--eval", "-p", "--print"):
        interpreter(call)
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
    elif sub in ("run", "install", "serve", "x", "cache") and rest and "://" in rest[0]:
        host = host_of(rest[0])
        if _vouched(host) and host != "raw.githubusercontent.com":
            call.ask("pkg.run", "runs code from the network")
        else:
            call.block("net.run", f"runs code from {shown(host)}, which nobody vouches for")
    elif sub in ("", "install", "add", "remove", "upgrade", "publish", "deploy", "compile", "repl"):
        call.ask("pkg.install", "installs, publishes or runs something interactively")
    elif sub == "run" and rest and call.zone(rest[0]) is not Zone.INSIDE:
        call.doubt("code.unknown", "runs a script nobody has read")


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
    options = read_options(call.args, "-c --call -p --package")
    for text in options.all("-c", "--call"):
        call.script(text)
    tail = skip_options(call.args, "-c --call -p --package")
    if tail:
        _package(call, tail, fetched=not options.has("--no-install", "--no"))


_KNOWN_BINS = frozenset(
    listed(
        """tsc eslint prettier jest vitest mocha webpack vite rollup esbuild playwright cypress
        ts-node tsx next nuxt astro svelte-kit remix turbo nx lerna rimraf mkdirp
        cross-env concurrently serve http-server storybook stylelint commitlint
        lint-staged husky prisma drizzle-kit sequelize knex typeorm babel swc postcss
        tailwindcss autoprefixer nodemon pm2 wrangler vercel netlify firebase
        create-react-app create-next-app create-vite degit depcheck npm-check-updates
        ncu madge dependency-cruiser size-limit bundlesize c8 nyc ava tap uvu karma
        protractor ng vue-cli-service expo react-native gatsby eleventy docusaurus
        vuepress vitepress typedoc jsdoc documentation api-extractor swagger-cli
        openapi-generator-cli openapi-typescript graphql-codegen apollo relay-compiler
        json-server msw changeset semantic-release release-it np standard xo biome
        oxlint oxc knip ts-prune tsup unbuild microbundle parcel snowpack wmr
        markdownlint markdownlint-cli markdownlint-cli2 cspell alex textlint remark
        html-validate pa11y lighthouse sass less stylus node-gyp prebuildify electron
        electron-builder cowsay envinfo browserslist update-browserslist-db ts-jest tsd
        dtslint publint attw sort-package-json syncpack license-checker audit-ci snyk
        better-npm-audit tslint"""
    )
)


def _package(call: ProgramCall, words: list[str], *, fetched: bool = True) -> None:
    name = re.sub(r"(?<=.)@[\w.^~-]+\Z", "", words[0])
    if _SOURCE.match(words[0]) or words[0].startswith(("github:", "gist:")):
        host = host_of(words[0])
        if _vouched(host) or words[0].startswith("github:"):
            call.ask("pkg.run", "runs a package straight from its source")
        else:
            call.block("net.run", f"runs code from {shown(host)}, which nobody vouches for")
        return
    if name == "husky":
        call.ask("hook.install", "installs hooks that run later by themselves")
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
    elif short not in _KNOWN_BINS:
        call.unknown_code = True
        call.network.append("*")
        call.ask("pkg.run", "fetches and runs a package nobody has looked at")


def go(call: ProgramCall) -> None:
    """`go`: remote packages are code from elsewhere."""
    words = [word for word in call.args if not word.startswith("-")]
    if words[:1] == ["run"] and call.stdin and {"-", "/dev/stdin"} & {*call.args}:
        scan(call.shell, call.stdin, "go")
    if words[:1] and words[0] in ("run", "install", "get"):
        for word in words[1:2]:
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
                        f"runs or installs code from {shown(host)}, which nobody vouches for",
                    )
                else:
                    call.ask("pkg.install", "installs or runs a package from the network")
    by_table(call)


def mvn(call: ProgramCall) -> None:
    """`mvn`, `gradle` and other builders: `exec` plugins run commands."""
    given = dict(
        word[2:].split("=", 1) for word in call.args if word.startswith("-D") and "=" in word
    )
    program = given.get("exec.executable")
    if program:
        call.run([program, *given.get("exec.args", "").split()], None)
        call.wrapper = False
    call.args = [_task(call.name, word) for word in call.args if not _AT_HOME.search(word)]
    if call.name == "cmake" and call.args[:1] == ["-E"]:
        _cmake_tool(call)
        return
    if call.name == "cmake":
        for word in call.args:
            if word == "--install" and not _staged(call):
                call.ask("fs.write-outside", "installs outside the workspace")
            found = re.match(r"-DCMAKE_(?:C|CXX)_COMPILER(?:_LAUNCHER)?=(.+)", word)
            if found and "/tmp" in found[1]:
                call.doubt("flag.helper", f"compiles with {shown(found[1])}")
    if call.name == "java":
        _java(call)
    by_table(call)


# Publishing to a folder of this machine.
_AT_HOME = pattern(
    r"(?:\A|[:/+]|To)(?:publish(?:\w*To)?MavenLocal|MavenLocal|publishLocal|publishM2)\Z"
)


def _task(program: str, word: str) -> str:
    """A task without the project it belongs to: `:app:publish`, `core/publishSigned`."""
    if program in ("gradle", "gradlew") and ":" in word and not word.startswith("-"):
        return word.rpartition(":")[2]
    if program == "sbt" and re.fullmatch(r"[\w-]+/[\w:]+", word):
        return word.rpartition("/")[2]
    return word


def _staged(call: ProgramCall) -> bool:
    """True when an installation goes to a folder of the workspace."""
    for at, word in enumerate(call.args):
        found = re.match(r"(?:DESTDIR|PREFIX|prefix|--prefix)=(.+)", word)
        folder = (
            found[1]
            if found
            else call.args[at + 1]
            if word == "--prefix" and at + 1 < len(call.args)
            else None
        )
        if folder and call.zone(folder) in (Zone.INSIDE, Zone.TEMP):
            return True
    return False


def _java(call: ProgramCall) -> None:
    options = read_options(call.args, "-cp -classpath -jar --module-path -p -m", True)
    for word in call.args:
        found = re.match(r"-(?:javaagent|agentpath|agentlib):(.+)", word)
        if found and call.zone(found[1]) is not Zone.INSIDE:
            call.doubt("flag.helper", f"loads {shown(found[1])} into the program")
    name = options.get("-jar")
    if name and call.zone(name) is not Zone.INSIDE:
        made = call.content(name)
        (call.block if made and "\ue004" in made else call.ask)(
            "code.unknown", "runs a program from outside the project"
        )


def _cmake_tool(call: ProgramCall) -> None:
    sub, rest = (call.args[1], call.args[2:]) if len(call.args) > 1 else ("", [])
    if sub in ("env", "time"):
        while rest and (
            ("=" in rest[0] and not rest[0].startswith("-"))
            or rest[0].startswith("--unset")
            or rest[0] == "--"
        ):
            rest = rest[1:]
        call.run(rest, None)
    elif sub == "chdir":
        call.shell = call.shell.copy()
        call.shell.cwd = call.path(rest[0]) if rest else call.shell.cwd
        call.run(rest[1:], None)
    elif sub in ("remove", "remove_directory", "rm"):
        call.run(["rm", "-rf", *rest], None)
    elif sub in ("create_symlink", "create_hardlink"):
        call.run(["ln", "-s" if "sym" in sub else "-f", *rest], None)
    elif sub in (
        "copy",
        "copy_directory",
        "rename",
        "copy_if_different",
        "make_directory",
        "touch",
    ):
        for word in rest[-1:]:
            call.write(word)


def make(call: ProgramCall) -> None:
    """`make`: project targets; `install` may go anywhere."""
    if not _staged(call):
        by_table(call)
    check_flags(call)
    content = call.content("Makefile")
    if content is not None and content != "\ue002":
        for line in re.findall(r"(?m)^\t@?-?(.+)$", content):
            call.script(line.replace("$$", "$"))
            call.wrapper = False


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
