"""The tables of a rule file: each becomes a rule, or a problem with the line it is in.

The parser of TOML gives no places, so the lines of tables and keys are found by looking for them.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import Struct

from steersman.governance.rule import SUBJECTS, Decision, Rule, RuleProblem, Source, subject
from steersman.governance.rule_examples import matching
from steersman.governance.rule_paths import Touch
from steersman.governance.rule_ready import ready
from steersman.governance.rule_words import Prefix, Word
from steersman.records.counting import counted

DECISIONS: tuple[str, ...] = get_args(Decision)
TOUCHES: tuple[str, ...] = get_args(Touch)
TEXTS = ("id", "decision", "tool", "path", "domain", "mcp", "reason")
LISTS = ("on", "match", "not_match")
SWITCHES = ("whole", "outside")
KEYS = frozenset((*TEXTS, *LISTS, *SWITCHES, "command"))
MOST = 1000
_HEADER = re.compile(r"\s*\[\[\s*(?:rule|\"rule\"|'rule')\s*\]\]")
_TABLE = re.compile(r"\s*\[")
_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*=")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


class Lines(Struct, frozen=True):
    """Where a table begins, and where its keys are."""

    table: int
    keys: Mapping[str, int]

    def of(self, *names: str) -> int:
        """The line of the first of these keys that is there, else of the table."""
        return next((self.keys[name] for name in names if name in self.keys), self.table)


class Reader:
    """Reads one file's text; `problems` are pairs of a line and a sentence."""

    def __init__(self, text: str, source: Source, file: str, *, workspace: str, home: str) -> None:
        self.problems: list[tuple[int, str]] = []
        self._text = text.removeprefix("\ufeff")
        self._source: Source = source
        self._file = file
        self._workspace = workspace
        self._home = home

    def rules(self) -> list[Rule]:
        """Every rule that could be read."""
        tables = self._tables()
        places = list(_places(self._text))
        if len(places) != len(tables):  # written as an array of inline tables
            line = _line_of(self._text, "rule")
            places = [Lines(line, {}) for _ in tables]
        found = []
        for table, lines in zip(tables, places, strict=True):
            rule = self._rule(table, lines)
            if rule is not None:
                found.append((rule, lines))
        self._apart(found)
        for rule, lines in found if not self.problems else ():
            self._examples(rule, lines)
        return [rule for rule, _ in found]

    def _wrong(self, line: int, text: str) -> None:
        self.problems.append((line, text))

    def _tables(self) -> list[dict[str, Any]]:
        try:
            data = tomllib.loads(self._text)
        except (ValueError, RecursionError) as error:
            at = _AT_LINE.search(str(error))
            line = int(at[1]) if at else self._text.count("\n") + 1
            told = _AT_LINE.sub("", str(error)).strip() or "it is nested too deeply"
            self._wrong(line, f"this is not TOML: {told[0].lower()}{told[1:]}")
            return []
        for name in data:
            if name != "rule":
                self._wrong(
                    _line_of(self._text, name), f"“{name}” is not known here: only [[rule]] is"
                )
        tables = data.get("rule", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._wrong(_line_of(self._text, "rule"), "rules are written as [[rule]] tables")
            return []
        if len(tables) > MOST:
            self._wrong(
                1, f"there are {counted(len(tables), 'rule')}, and more than {MOST} are not read"
            )
            return []
        return tables

    def _rule(self, table: dict[str, Any], lines: Lines) -> Rule | None:
        """A table as a rule, or None after telling all that is wrong with it."""
        before = len(self.problems)
        for name in table:
            if name not in KEYS:
                self._wrong(lines.of(name), f"“{name}” is not known in a rule")
        values = {name: self._text_of(table, name, lines) for name in TEXTS}
        lists = {name: self._list_of(table, name, lines) for name in LISTS}
        switches = {name: self._switch(table, name, lines) for name in SWITCHES}
        command = self._command(table, lines)
        self._subject(table, lines)
        self._fitting(table, values, lists, lines)
        if len(self.problems) > before:
            return None
        name = values.pop("id") or str(lines.table)
        fields = {**values, **lists, **switches, "command": command, "line": lines.table}
        fields |= {"id": f"{self._source}.{name}", "source": self._source, "file": self._file}
        rule = msgspec.convert(fields, Rule)
        try:
            ready(rule, self._home, _as_it_is)
        except RuleProblem as problem:
            self._wrong(lines.of(*SUBJECTS), problem.why.rstrip("."))
            return None
        return rule

    def _text_of(self, table: Mapping[str, Any], name: str, lines: Lines) -> str:
        value = table.get(name, "")
        if isinstance(value, str):
            return value
        self._wrong(lines.of(name), f"“{name}” must be a text")
        return ""

    def _list_of(self, table: Mapping[str, Any], name: str, lines: Lines) -> tuple[str, ...]:
        value = table.get(name, [])
        value = [value] if name == "on" and isinstance(value, str) else value
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self._wrong(lines.of(name), f"“{name}” must be a list of texts")
        return ()

    def _switch(self, table: Mapping[str, Any], name: str, lines: Lines) -> bool:
        value = table.get(name, False)
        if not isinstance(value, bool):
            self._wrong(lines.of(name), f"“{name}” must be true or false")
        elif value and "command" not in table:
            self._wrong(lines.of(name), f"“{name}” is only for rules about commands")
        return value is True

    def _command(self, table: Mapping[str, Any], lines: Lines) -> Prefix:
        value = table.get("command")
        if value is None:
            return ()
        if isinstance(value, str):
            try:
                return tuple(shlex.split(value))
            except ValueError as error:
                told = f"the command cannot be split into words: {str(error).lower()}"
                self._wrong(lines.of("command"), told)
                return ()
        if isinstance(value, list) and all(map(_is_word, value)):
            words: list[Word] = [w if isinstance(w, str) else tuple(w) for w in value]
            return tuple(words)
        told = "“command” must be a text, or a list of words and of lists of alternatives"
        self._wrong(lines.of("command"), told)
        return ()

    def _subject(self, table: Mapping[str, Any], lines: Lines) -> None:
        given = [name for name in SUBJECTS if name in table]
        if len(given) != 1:
            told = f"a rule is about one of {', '.join(SUBJECTS)}"
            about = f"; this one is about {' and '.join(given)}" if given else ""
            self._wrong(lines.of(*given[1:]), told + about)
        elif table[given[0]] in ("", []):
            self._wrong(lines.of(given[0]), f"“{given[0]}” is empty")

    def _fitting(
        self,
        table: Mapping[str, Any],
        values: Mapping[str, str],
        lists: Mapping[str, Sequence[str]],
        lines: Lines,
    ) -> None:
        """Tell of values that are texts, but not such as can be there."""
        decision = values["decision"]
        if "decision" not in table:
            self._wrong(lines.table, f"a rule needs a decision: {', '.join(DECISIONS)}")
        elif isinstance(table["decision"], str) and decision not in DECISIONS:
            told = f"“{decision}” is not a decision: {', '.join(DECISIONS)}"
            self._wrong(lines.of("decision"), told)
        if decision == "allow" and self._source == "project":
            told = "a project's rules can only tighten: “allow” belongs in the user's own file"
            self._wrong(lines.of("decision"), told)
        if isinstance(table.get("id"), str) and not _ID.fullmatch(values["id"]):
            told = "an id is made of letters, digits, “_”, “-” and “.”, at most 64 of them"
            self._wrong(lines.of("id"), told)
        for touch in lists["on"]:
            if touch not in TOUCHES:
                told = f"“{touch}” cannot be done to a path: {', '.join(TOUCHES)}"
                self._wrong(lines.of("on"), told)
        if "on" in table and "path" not in table:
            self._wrong(lines.of("on"), "“on” is only for rules about paths")
        elif table.get("on") == []:
            self._wrong(lines.of("on"), "“on” is empty: leave it out to mean everything")

    def _apart(self, found: Sequence[tuple[Rule, Lines]]) -> None:
        """Tell of rules with the same name, and of those that can never have a word."""
        names: dict[str, int] = {}
        subjects: dict[tuple[object, ...], list[Rule]] = {}
        for rule, lines in found:
            if rule.id in names:
                told = f"this rule has the same id as the one in line {names[rule.id]}"
                self._wrong(lines.of("id"), told)
            names.setdefault(rule.id, rule.line)
            for other in subjects.setdefault(_about(rule), []):
                if _contradict(rule, other):
                    told = (
                        f"this rule and the one in line {other.line} contradict each other:"
                        f" {rule.decision} and {other.decision} for {subject(rule)}"
                    )
                    self._wrong(lines.of("decision"), told)
            subjects[_about(rule)].append(rule)

    def _examples(self, rule: Rule, lines: Lines) -> None:
        """Tell of examples that do not come out as they should."""
        for name, expected in (("match", True), ("not_match", False)):
            for example in getattr(rule, name):
                try:
                    met = matching(rule, example, workspace=self._workspace, home=self._home)
                except ValueError as error:
                    self._wrong(lines.of(name), f"the example “{example}” is not valid: {error}")
                    continue
                if met is not expected:
                    verb = "is not matched, and should be" if expected else "is matched"
                    verb += "" if expected else ", and should not be"
                    self._wrong(lines.of(name), f"the example “{example}” {verb}")


def _about(rule: Rule) -> tuple[object, ...]:
    path = rule.path.rstrip("/") or rule.path
    domain = rule.domain.lower()
    return rule.tool, path, rule.command, rule.whole, rule.outside, domain, rule.mcp


def _contradict(one: Rule, other: Rule) -> bool:
    """True when one of two rules about the same is always overruled by the other."""
    if one.decision == other.decision:
        return False
    order = {"deny": 0, "ask": 1, "allow": 2}
    strict, lenient = sorted((one, other), key=lambda rule: order[rule.decision])
    return not strict.on or set(lenient.on or TOUCHES) <= set(strict.on)


def _is_word(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(choice, str) for choice in value)
    return isinstance(value, str)


def _as_it_is(path: str) -> str:
    return path


def _places(text: str) -> Iterator[Lines]:
    """The `[[rule]]` tables of a text, in order."""
    table, keys = 0, dict[str, int]()
    for number, line in _outside_texts(text):
        if _TABLE.match(line) and (_HEADER.match(line) or not table):
            if table:
                yield Lines(table, keys)
            table, keys = (number, {}) if _HEADER.match(line) else (0, {})
        elif table and (key := _KEY.match(line)):
            keys.setdefault(key[1], number)
    if table:
        yield Lines(table, keys)


def _line_of(text: str, name: str) -> int:
    """The line where a name of the file's own level seems to be given; the first if none does."""
    wanted = re.compile(rf"\s*(?:\[+\s*)?[\"']?{re.escape(name)}[\"']?\s*[.=\]]")
    return next((number for number, line in _outside_texts(text) if wanted.match(line)), 1)


def _outside_texts(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines that do not begin inside a text of several lines."""
    within = ""
    for number, line in enumerate(text.split("\n"), 1):
        if not within:
            yield number, line
        within = _still_within(line, within)


_STRINGS = re.compile(r'"""|\'\'\'|"(?:[^"\\]|\\.)*"|\'[^\']*\'|\\.|#.*')


def _still_within(line: str, within: str) -> str:
    """The marks of the text of several lines that is open after a line, if any is."""
    at = 0
    while at <= len(line):
        if within:
            end = re.compile(r"(?:\\.|[^\\])*?\"\"\"" if within == '"""' else r".*?'''")
            closed = end.match(line, at)
            if closed is None:
                return within
            within, at = "", closed.end()
            continue
        found = _STRINGS.search(line, at)
        if found is None or found[0].startswith("#"):
            return ""
        if found[0] in ('"""', "'''"):
            within = found[0]
        at = found.end()
    return within
