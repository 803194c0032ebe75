"""Programs that are judged by their subcommand: tables of verbs, first match wins.

A table is text. Each line is a verdict (`safe`, `ask`, `block`, `break`), a rule, a reason after
`--`, and after `:` patterns separated by `;`. A pattern is words; `a|b` means either, `x*` any
ending, `~ w` the word anywhere, `& -f|--force` that one of these options must be there, `! -n`
that none of these may be there, and a last `$` that no further word follows. `else` is the
verdict when nothing matches.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import shown
from steersman.governance.guard.options import Options, read_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import secret
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.governance.guard.programs.tables import Table, table_of
from steersman.governance.guard.programs.tables_cloud import CLOUD
from steersman.governance.guard.variables import REGISTRIES


class Row(NamedTuple):
    """One pattern of a table."""

    verdict: str
    rule: str
    reason: str
    words: tuple[re.Pattern[str], ...]
    anywhere: bool
    needs: tuple[frozenset[str], ...]
    lacks: frozenset[str]
    whole: bool


_HEAD = re.compile(
    r"(safe|ask|block|break|else)\s*([\w.-]*)\s*(?:--\s*([^:]*?))?\s*:\s*(.*)\Z", re.DOTALL
)
_SAY = {
    "cloud.delete": "destroys something in the cloud",
    "cloud.change": "changes something in the cloud",
    "k8s.delete": "destroys something in a cluster",
    "k8s.change": "changes a cluster",
    "iac.destroy": "destroys infrastructure",
    "iac.change": "changes infrastructure",
    "pkg.install": "installs packages, which may run their scripts",
    "pkg.system": "changes the system's packages",
    "pkg.publish": "publishes something",
    "pkg.remove": "removes packages",
    "docker.delete": "deletes container data",
    "docker.change": "changes containers",
    "docker.everything": "deletes everything the container engine keeps",
    "docker.publish": "publishes an image",
    "db.drop": "destroys a database",
    "db.change": "changes a database",
    "secrets.print": "prints stored credentials",
    "hosting.delete": "destroys something on a hosting service",
    "hosting.change": "changes something on a hosting service",
    "remote.delete": "deletes something on another machine",
    "remote.change": "changes something on another machine",
    "tool.unknown": "does something unknown",
    "code.unknown": "runs unreviewed code",
    "net.listen": "waits for connections",
    "system.change": "changes the system",
    "device.change": "changes a device or what is stored on it",
    "sign.change": "signs something, or removes a signature",
    "jobs.change": "starts or stops jobs of a cluster",
    "backup.change": "changes or deletes backups",
    "windows.system": "changes a Windows system",
    "vcs.change": "changes a repository",
}
_INSTEAD = {
    "docker.everything": "Remove what you made by its name, for example `docker rm NAME`.",
    "docker.delete": "Remove what you made by its name, for example `docker rm NAME`.",
    "pkg.install": "To install what the lock file names, use `npm ci`, `uv sync` or the like.",
}


@lru_cache(maxsize=256)
def rows(program: str) -> tuple[Row, ...]:
    """The rows of a program's table, read once."""
    found_table = table_of(program)
    made: list[Row] = []
    text = found_table[1].text.strip() if found_table else ""
    for line in re.split(r"\n(?=\s*(?:safe|ask|block|break|else)\b)", text):
        found = _HEAD.match(line.strip())
        assert found is not None, (program, line)
        verdict, rule, reason, patterns = found.groups()
        if verdict == "else":
            verdict, patterns = rule, "*"
            rule = "tool.unknown"
        for pattern in patterns.split(";"):
            if pattern.strip():
                made.append(
                    _row(verdict, rule, reason or _SAY.get(rule, "changes something"), pattern)
                )
    return tuple(made)


def _row(verdict: str, rule: str, reason: str, pattern: str) -> Row:
    parts = re.split(r"\s+(?=[&!]\s)", " " + pattern.strip())
    needs, lacks = [], frozenset[str]()
    for part in parts[1:]:
        options = frozenset(part[1:].strip().split("|"))
        if part[0] == "&":
            needs.append(options)
        else:
            lacks = lacks | options
    words = parts[0].split()
    anywhere = words[:1] == ["~"]
    whole = words[-1:] == ["$"]
    words = words[anywhere : len(words) - whole]
    return Row(
        verdict,
        rule,
        reason,
        tuple(_token(word) for word in words),
        anywhere,
        tuple(needs),
        lacks,
        whole,
    )


@lru_cache(maxsize=4096)
def _token(word: str) -> re.Pattern[str]:
    made = "|".join(re.escape(part).replace(r"\*", ".*") for part in word.split("|"))
    return re.compile(f"(?:{made})\\Z", re.DOTALL)


def _fits(row: Row, words: list[str], options: Options) -> bool:
    if row.lacks and any(flag in options.flags for flag in row.lacks):
        return False
    for need in row.needs:
        if not any(_flag(flag, options) for flag in need):
            return False
    if row.whole and len(words) > len(row.words):
        return False
    if row.anywhere:
        return any(row.words[0].match(word) for word in words)
    if len(row.words) > len(words):
        return len(row.words) == 1 and row.words[0].pattern == "(?:.*)\\Z"
    return all(token.match(word) for token, word in zip(row.words, words, strict=False))


def _flag(flag: str, options: Options) -> bool:
    name, equals, value = flag.partition("=")
    if equals:
        return any(value in given for given in options.flags.get(name, ()))
    return name in options.flags


def by_table(call: ProgramCall, name: str = "") -> None:
    """Judge a call by the table of its program."""
    found = table_of(name or call.name)
    if found is None:
        call.ask("tool.unknown", _SAY["tool.unknown"])
        return
    name, table = found
    check_flags(call)
    options = read_options(call.args, table.valued, table.single)
    _uploads(call, name)
    for variable in (
        f"{call.name.upper()}_ARGS",
        "TF_CLI_ARGS",
        f"TF_CLI_ARGS_{options.rest[0] if options.rest else ''}",
    ):
        given = call.shell.variables.get(variable)
        if isinstance(given, str) and call.name in ("terraform", "tofu", "terragrunt", "tf"):
            options = read_options([*call.args, *given.split()], table.valued, table.single)
    words = options.rest
    if call.stdin is not None and re.match(r"(?i)\s*y(?:es)?\b", call.stdin):
        for flag in ("-y", "--yes", "-auto-approve", "--force", "-f"):
            options.flags.setdefault(flag, []).append("")
    if not words and options.has("--version", "--help", "-h", "-V", "-v", "-version", "version"):
        return
    if _only_tells(call, table, options):
        return
    for row in rows(name):
        if _fits(row, words, options) and (row.rule != "pkg.locked" or locked(call)):
            if row.rule.startswith("db.") and _for_tests(call):
                return
            _say(call, row)
            return


_ENDPOINTS = ("--endpoint-url", "--endpoint", "--api-endpoint", "--emulator-host")
_DOUBLES = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "STORAGE_EMULATOR_HOST")


def _double(call: ProgramCall, options: Options) -> bool:
    """True when a cloud's program speaks to a stand-in on this machine."""
    given = options.all(*_ENDPOINTS)
    given += [v for name in _DOUBLES if isinstance(v := call.shell.variables.get(name), str)]
    return call.name == "awslocal" or (
        bool(given) and all(LOCAL.match(host_of(url)) is not None for url in given)
    )


def _only_tells(call: ProgramCall, table: Table, options: Options) -> bool:
    """Help, or a run that only says what it would do."""
    words = options.rest
    if table.doubles and _double(call, options):
        return True
    if options.has("--help", "-help") or (table.dry and options.has(*table.dry.split())):
        return True
    if words[:1] == ["help"] or (call.name == "aws" and words[-1:] == ["help"]):
        return True
    return call.args[-1:] == ["-h"] and "-h" not in table.valued.split()


def _uploads(call: ProgramCall, table: str) -> None:
    """A cloud's own copy command given a credential file."""
    if table not in CLOUD:
        return
    for word in call.args:
        text = re.sub(r"\A(?:--?[\w-]+=|file(?:b)?://)", "", word)
        local = ("/" in text or text.startswith((".", "~"))) and "://" not in text
        if local and secret(call.path(text), call.place) and not word.startswith("--kubeconfig"):
            call.block("exfil.copy", f"hands credentials from {shown(call.path(text))} to a remote")


_STAGES = (
    *("RAILS_ENV", "RACK_ENV", "NODE_ENV", "APP_ENV", "MIX_ENV", "FLASK_ENV", "ENV"),
    "DJANGO_SETTINGS_MODULE",
)
_STAGE_FLAGS = ("-e", "--env", "--settings", "--database")
_ELSEWHERE = ("DATABASE_URL", "DB_HOST", "PGHOST", "DB_URL")
_TESTS = re.compile(r"(?:.*[._-])?test(?:s|ing)?\Z")


def _for_tests(call: ProgramCall) -> bool:
    """True when the database is the one for tests, which is made again all the time."""
    stages = [call.shell.variables.get(name) for name in _STAGES]
    stages += [word.partition("=")[2] for word in call.args if word.startswith(_STAGES)]
    stages += [value for flag, value in pairwise(call.args) if flag in _STAGE_FLAGS]
    stages += [
        value
        for flag, equals, value in (word.partition("=") for word in call.args)
        if equals and flag in _STAGE_FLAGS
    ]
    stages += [_near(call.shell.variables.get(name)) for name in _ELSEWHERE]
    given = [stage for stage in stages if stage is not None]
    return bool(given) and all(isinstance(s, str) and _TESTS.match(s) for s in given)


def _near(address: str | list[str] | None) -> str | None:
    """The database that an address on this machine names; nothing for one elsewhere."""
    if address is None:
        return None
    if not isinstance(address, str) or "host=" in address or not LOCAL.match(host_of(address)):
        return ""
    return address.partition("?")[0].rpartition("/")[2] if "://" in address else None


_MANIFEST = re.compile(
    r"(?i)(?:package(?:-lock)?\.json|pyproject\.toml|setup\.(?:py|cfg)|[\w.-]*requirements[\w.-]*"
    r"|[\w.-]+\.lockb?|pnpm-lock\.yaml|Pipfile|Gemfile|composer\.json|mix\.exs|go\.(?:mod|sum)"
    r"|\.(?:npm|yarn)rc[\w.]*)\Z"
)


def locked(call: ProgramCall) -> bool:
    """True when an installation is of what this project already names, and nothing else.

    What this very line wrote or fetched is not yet the project's.
    """
    shell = call.shell
    if call.zone(".") not in (Zone.WORKSPACE, Zone.INSIDE):
        return False
    if any(name in REGISTRIES for name in shell.variables):
        return False
    return not any(
        _MANIFEST.match(path.rsplit("/", 1)[-1]) or f"{shell.cwd}/".startswith(path + "/")
        for path in call.scene.files
    )


def _say(call: ProgramCall, row: Row) -> None:
    instead = _INSTEAD.get(row.rule, "")
    if row.verdict == "ask":
        call.ask(row.rule, row.reason, instead)
    elif row.verdict == "block":
        call.block(row.rule, row.reason, instead)
    elif row.verdict == "break":
        call.breaker(row.rule, row.reason, instead)
    if (
        row.rule.startswith(
            ("cloud", "k8s", "iac", "hosting", "remote", "pkg.publish", "docker.publish")
        )
        and row.verdict != "safe"
    ):
        call.remote = row.reason
    if row.rule.startswith("pkg"):
        call.network.append("*")
