"""Options of ordinary tools that run a command, load code, or write a file."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE, shown
from steersman.governance.guard.paths import Zone
from steersman.records.patterns import pattern

# Options that take a file whose lines the program prints, if only in its complaints.
READS: dict[str, str] = {
    "file": "-m --magic-file -f --files-from",
    "wc": "--files0-from",
    "du": "--files0-from -X --exclude-from",
    "sort": "--files0-from",
    "dig": "-f",
    "ip": "-b",
    "arp": "-f --file",
    "ss": "-F --filter",
    "column": "-f",
    "jq": "-f --from-file --rawfile --slurpfile",
    "units": "-f --file",
    "diff": "--from-file --to-file",
    "tar": "-T --files-from",
    "rsync": "--files-from",
    "xmllint": "--dtdvalid --schema --relaxng",
    "ld": "-T --script",
}
# run: the value is a command · helper: code is loaded from it · write: a file is written
# code: editor or debugger commands · folder: the tool takes its project from there
FLAGS: dict[str, dict[str, str]] = {
    "mysql": {"--pager": "run", "--tee": "write"},
    "man": {"-P": "run", "--pager": "run", "-H": "run", "--html": "run", "-C": "helper"},
    "info": {"-o": "write", "--output": "write"},
    "go": {
        "-exec": "run",
        "-toolexec": "run",
        "-vettool": "helper",
        "-overlay": "helper",
        "-o": "write",
    },
    "cargo": {"--config": "cargo", "-Z": "quiet"},
    "eslint": {
        "--rulesdir": "helper",
        "--resolve-plugins-relative-to": "helper",
        "-c": "helper",
        "--config": "helper",
        "--plugin": "helper",
        "--parser": "helper",
        "-f": "helper",
        "--format": "helper",
        "-o": "write",
        "--output-file": "write",
    },
    "prettier": {"--plugin": "helper", "--config": "helper", "--plugin-search-dir": "helper"},
    "tsc": {
        "--plugins": "helper",
        "-p": "helper",
        "--project": "helper",
        "--outDir": "write",
        "--outFile": "write",
    },
    "babel": {
        "--presets": "helper",
        "--plugins": "helper",
        "--config-file": "helper",
        "-o": "write",
        "-d": "write",
        "--out-dir": "write",
    },
    "webpack": {"--config": "helper", "-c": "helper"},
    "vite": {"--config": "helper", "-c": "helper"},
    "rollup": {"-c": "helper", "--config": "helper", "-p": "helper", "--plugin": "helper"},
    "jest": {
        "--config": "helper",
        "-c": "helper",
        "--globalSetup": "helper",
        "--setupFiles": "helper",
        "--transform": "helper",
        "--reporters": "helper",
        "--runner": "helper",
        "--testEnvironment": "helper",
        "--rootDir": "folder",
    },
    "vitest": {"--config": "helper", "-c": "helper", "--reporter": "helper"},
    "mocha": {
        "-r": "helper",
        "--require": "helper",
        "--config": "helper",
        "-R": "helper",
        "--reporter": "helper",
        "--file": "helper",
    },
    "stylelint": {"--config": "helper", "--custom-formatter": "helper"},
    "postcss": {"--config": "helper", "-u": "helper", "--use": "helper"},
    "esbuild": {"--outfile": "write", "--outdir": "write"},
    "pytest": {
        "-p": "plugin",
        "-c": "helper",
        "--confcutdir": "quiet",
        "--rootdir": "folder",
        "--basetemp": "quiet",
    },
    "pylint": {"--load-plugins": "plugin", "--init-hook": "code", "--rcfile": "helper"},
    "mypy": {"--config-file": "helper"},
    "flake8": {"--config": "helper"},
    "ruff": {"--config": "quiet"},
    "sphinx-build": {"-c": "helper"},
    "ansible-playbook": {
        "-i": "quiet",
        "--vault-password-file": "helper",
        "-M": "helper",
        "--module-path": "helper",
    },
    "npm": {
        "--prefix": "folder",
        "-C": "folder",
        "--script-shell": "run",
        "--node-options": "helper",
        "--globalconfig": "helper",
        "--userconfig": "helper",
    },
    "pnpm": {"--dir": "folder", "-C": "folder", "--script-shell": "run"},
    "yarn": {"--cwd": "folder", "--use-yarnrc": "helper"},
    "make": {
        "--eval": "make",
        "-f": "helper",
        "--file": "helper",
        "--makefile": "helper",
        "-C": "folder",
        "--directory": "folder",
        "-I": "helper",
    },
    "just": {
        "--shell": "run",
        "-f": "helper",
        "--justfile": "helper",
        "-d": "folder",
        "-c": "run",
        "--command": "run",
    },
    "gradle": {
        "-I": "helper",
        "--init-script": "helper",
        "-b": "helper",
        "--build-file": "helper",
        "-c": "helper",
        "-p": "folder",
        "--project-dir": "folder",
        "-g": "helper",
    },
    "mvn": {
        "-f": "helper",
        "--file": "helper",
        "-s": "helper",
        "--settings": "helper",
        "-gs": "helper",
    },
    "cmake": {"-C": "helper", "-P": "helper", "-DCMAKE_TOOLCHAIN_FILE": "helper"},
    "ninja": {"-C": "folder", "-f": "helper"},
    "meson": {},
    "bazel": {"--bazelrc": "helper", "--run_under": "run", "--output_base": "quiet"},
    "buck2": {},
    "terraform": {
        "-chdir": "folder",
        "-plugin-dir": "helper",
        "-backend-config": "quiet",
        "-out": "write",
    },
    "tofu": {"-chdir": "folder", "-plugin-dir": "helper"},
    "terragrunt": {"--terragrunt-working-dir": "folder", "--terragrunt-tfpath": "helper"},
    "pulumi": {"-C": "folder", "--cwd": "folder"},
    "helm": {"--post-renderer": "run"},
    "kubectl": {"--kubeconfig": "quiet"},
    "cdk": {"--app": "run", "-a": "run"},
    "tcpdump": {"-z": "helper", "-w": "write"},
    "tshark": {"-w": "write", "-X": "helper"},
    "nmap": {"--script": "helper", "-oN": "write"},
    "nano": {"-s": "run", "--speller": "run", "-f": "helper", "--rcfile": "helper"},
    "code": {"--extensions-dir": "helper", "--user-data-dir": "helper"},
    "less": {"-o": "write", "-O": "write", "--log-file": "write"},
    "bat": {"--pager": "run"},
    "delta": {"--pager": "run"},
    "jq": {"-L": "quiet"},
    "ruby": {},
    "irb": {"-r": "helper"},
    "rspec": {"-r": "helper", "-I": "helper"},
    "rubocop": {"-r": "helper", "--require": "helper", "-c": "helper"},
    "rake": {"-f": "helper", "-e": "code", "-r": "helper", "-I": "helper"},
    "bundle": {"--gemfile": "helper"},
    "php-cs-fixer": {"--config": "helper"},
    "phpunit": {"--bootstrap": "helper", "-c": "helper"},
    "phpstan": {"-c": "helper", "-a": "helper", "--autoload-file": "helper"},
    "ffmpeg": {},
    "convert": {},
    "pandoc": {
        "-F": "helper",
        "--filter": "helper",
        "-L": "helper",
        "--lua-filter": "helper",
        "-o": "write",
        "--output": "write",
        "--pdf-engine": "helper",
    },
    "latex": {},
    "pdflatex": {"-shell-escape": "quiet"},
    "xelatex": {},
    "latexmk": {"-e": "code", "-r": "helper", "-pdflatex": "run"},
    "dot": {"-o": "write"},
    "plantuml": {},
    "mvnw": {"-f": "helper", "-s": "helper"},
    "gradlew": {"-I": "helper"},
    "ctags": {"--options": "helper", "-f": "write"},
    "cscope": {},
    "clang-tidy": {"-load": "helper", "--load": "helper"},
    "clang-format": {},
    "opt": {"-load": "helper"},
    "java": {
        "-javaagent": "helper",
        "-agentpath": "helper",
        "-agentlib": "helper",
        "-cp": "quiet",
        "-XX:OnError": "run",
        "-XX:OnOutOfMemoryError": "run",
    },
    "javac": {"-processorpath": "helper", "-processor": "quiet"},
    "rustc": {"-C": "rustc", "--codegen": "rustc"},
    "clippy-driver": {},
    "nvcc": {"-ccbin": "helper"},
    "ld": {"-plugin": "helper", "--plugin": "helper", "-dynamic-linker": "helper"},
    "git-lfs": {},
    "svn": {
        "--editor-cmd": "run",
        "--diff-cmd": "run",
        "--diff3-cmd": "run",
        "--config-option": "quiet",
    },
    "hg": {"--config": "hg", "-R": "folder"},
    "fossil": {},
    "cvs": {"-e": "run"},
    "wc": {},
    "entr": {},
    "nodemon": {},
    "gdb": {},
    "strip": {},
    "objdump": {},
    "readelf": {},
    "nm": {},
    "objcopy": {},
    "locate": {"-d": "quiet"},
    "updatedb": {},
    "gunicorn": {"-c": "helper", "--config": "helper", "--chdir": "folder"},
    "uvicorn": {"--app-dir": "folder"},
    "celery": {"--workdir": "folder"},
    "flask": {"--app": "quiet"},
    "docker": {},
    "playwright": {"--config": "helper", "-c": "helper"},
    "cypress": {"--config-file": "helper", "-C": "helper", "--project": "folder", "-P": "folder"},
    "cp": {},
    "pre-commit": {"-c": "helper", "--config": "helper"},
    "tox": {"-c": "helper"},
    "nox": {"-f": "helper", "--noxfile": "helper"},
    "invoke": {"-r": "folder", "-c": "quiet"},
    "fab": {"-r": "folder"},
    "locust": {"-f": "helper"},
    "k6": {},
    "artillery": {},
    "mkdocs": {"-f": "helper"},
    "hugo": {"-s": "folder"},
    "jekyll": {"-p": "helper", "-s": "folder"},
    "scrapy": {},
    "jupyter": {"--config": "helper"},
    "logrotate": {},
    "iverilog": {},
    "ltrace": {},
    "gpg": {"--agent-program": "helper", "--dirmngr-program": "helper"},
    "ssh-keygen": {"-D": "helper"},
    "ssh-add": {"-s": "helper"},
    "zsh": {},
}
_SAME = {
    "gmake": "make",
    "code-insiders": "code",
    "codium": "code",
    "cursor": "code",
    "windsurf": "code",
    "yarnpkg": "yarn",
    "pdftex": "pdflatex",
    "lualatex": "pdflatex",
    "npx": "npx",
    "py.test": "pytest",
}
_MAKE_TOOLS = pattern(
    r"(?:CC|CXX|CPP|LD|AR|AS|SHELL|MAKE|RM|INSTALL|PYTHON|NODE|GO|CARGO|[A-Z_]*(?:CMD|"
    r"COMMAND|WRAPPER|RUNNER|LAUNCHER))\Z"
)


def check_flags(call: ProgramCall) -> None:
    """Judge every option of the table that is there."""
    name = _SAME.get(call.name, call.name)
    table = FLAGS.get(name)
    if table:
        for at, word in enumerate(call.args):
            if word == "--":
                break
            if word[:1] == "-":
                _option(call, at, table, name in ("go", "terraform", "tofu"))
    if name in ("make", "just", "task", "ninja", "cmake", "configure"):
        _make_tools(call)
    if name in ("less", "more", "most", "view"):
        for word in call.args:
            if word.startswith("+") and "!" in word:
                _script(call, "runs a command in the pager", word.split("!", 1)[1])


def _option(call: ProgramCall, at: int, table: dict[str, str], single: bool) -> None:
    word = call.args[at]
    key, equals, value = word.partition("=")
    kind = table.get(key)
    if kind is None and not single and word[1:2] != "-" and len(word) > 2:
        key, value, equals, kind = word[:2], word[2:], "=", table.get(word[:2])
    if kind is None:
        return
    if not equals:
        value = call.args[at + 1] if at + 1 < len(call.args) else ""
    _one(call, key, kind, value)


def _make_tools(call: ProgramCall) -> None:
    for word in call.args:
        key, equals, value = word.partition("=")
        if equals and _MAKE_TOOLS.match(key) and re.search(r"[\s/;|$(]", value):
            _script(call, f"makes {key} `{shown(value, 50)}`", value)


def _script(call: ProgramCall, why: str, text: str) -> None:
    """A tool is made to run a command: asked about, and the command is judged."""
    call.doubt("flag.run", why)
    call.script(text)
    call.wrapper = False


def _one(call: ProgramCall, key: str, kind: str, value: str) -> None:
    if kind == "run":
        if re.fullmatch(
            r"(?:cat|less|more|most|bat|sh|bash|/bin/(?:ba)?sh|true)?(?:\s-\S+)*", value
        ):
            return
        call.doubt("flag.run", f"runs `{shown(value, 50)}` through {key}")
        call.script(value)
        call.wrapper = False
    elif kind == "helper":
        made = call.stdin if value in ("-", "/dev/stdin") else call.content(value)
        if made is not None:
            _given(call, key, made)
        elif value in ("-", "/dev/stdin"):
            call.doubt("flag.helper", f"takes code or settings from standard input through {key}")
        if value.startswith(("/", "~", "../")) and call.zone(value) is not Zone.INSIDE:
            call.doubt("flag.helper", f"takes code or settings from {shown(value)} through {key}")
    elif kind == "folder":
        if value and call.zone(value) not in (Zone.INSIDE, Zone.WORKSPACE):
            call.doubt("flag.folder", f"runs a project from elsewhere, in {shown(value)}")
    elif kind == "write":
        if (
            value
            and value != "-"
            and call.zone(value) not in (Zone.INSIDE, Zone.TEMP, Zone.HARMLESS)
        ):
            call.write(value, FILE)
    elif kind in ("code", "make", "cargo", "hg", "rustc", "plugin"):
        _code(call, key, kind, value)


def _given(call: ProgramCall, key: str, made: str) -> None:
    """Code or settings this very line wrote."""
    from steersman.governance.guard.effects import harmful, remote_code

    if call.name in ("make", "gmake", "bmake", "remake"):
        _rules(call, made)
    elif remote_code(made) in ("net", "installer") or harmful(call.shell, made):
        call.block("flag.content", f"takes harmful code or settings through {key}")


def _code(call: ProgramCall, key: str, kind: str, value: str) -> None:
    from steersman.governance.guard.code import scan

    pattern = _SETTINGS.get(kind)
    if kind == "make":
        _rules(call, value)
    elif pattern is not None:
        found = pattern.search(value)
        if found:
            text = found[1].strip().strip("[]").strip()
            if text[:1] in "\"'":
                text = text[1:-1].replace('\\"', '"')
            _script(call, f"makes {call.name} run `{shown(text, 50)}`", text.replace('", "', " "))
        elif value.startswith("/") and call.zone(value) is not Zone.INSIDE:
            call.doubt("flag.helper", "takes settings from elsewhere")
    elif kind == "plugin":
        if not re.match(r"no:|(?:xdist|randomly|timeout|cov|asyncio|mock|sugar|anyio)\b", value):
            call.doubt("flag.helper", f"loads the plugin {shown(value)}")
    else:
        scan(call.shell, value, "python")


_SETTINGS = {
    "cargo": pattern(
        r"(?:rustc-wrapper|rustc|linker|runner|rustdoc|credential-provider)"
        r"\s*=\s*(.+)"
    ),
    "hg": pattern(
        r"\A(?:alias\.\w+|hooks\.[\w.-]+|ui\.(?:editor|ssh|merge)|extensions\.\w+|pager\.pager)"
        r"=!?(.*)"
    ),
    "rustc": pattern(r"\Alinker=(.*/.*)"),
}


def _rules(call: ProgramCall, value: str) -> None:
    """`make --eval`: recipes and `$(shell …)`."""
    call.doubt("flag.run", "gives make rules on the command line")
    for part in re.split(r"[\n;]", value):
        found = re.match(r"[^:=\t]*:+(.*)", part)
        text = (found[1] if found else part).strip().lstrip("@-+")
        if text:
            call.script(text.replace("$$", "$"))
    for text in re.findall(r"\$\(shell ([^)]*)\)", value):
        call.script(text)
    call.wrapper = False
