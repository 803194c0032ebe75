"""Keys: what each does, which it is, and what a person's `keys.toml` makes of them.

Pure. A key is `always` heard, or only while `reading`, when a person has put the focus on the
conversation; everywhere else letters are text. The file beside `config.toml` names an action and
its keys:

    diff = "ctrl+d"
    down = ["j", "down"]
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from steersman.host.settings import own_file
from steersman.records.plain_files import whole_plain

Where = Literal["always", "reading"]
_LARGEST = 1 << 20
PATIENCE = 0.25  # seconds that something new is on the screen before keys answer it
SEEN = 0.8  # seconds after which a request for permission has been seen
_MODIFIERS = r"(?:(?:ctrl|shift|alt|super|meta)\+)*"
_KEY = re.compile(rf"{_MODIFIERS}(?:f[1-9]\d?|[a-z_]{{2,}}|[^\s,+]|\+)")
# Needed for writing; an action that took one of these would take it from the composer.
_TEXT = re.compile(r"(?:shift\+)?[^\s]|space|enter|backspace|left|right|up|down")


class Key(Struct, frozen=True):
    """One thing that keys do. `short` is for the footer, empty when it is not shown there."""

    name: str
    keys: tuple[str, ...]
    about: str
    short: str = ""
    where: Where = "reading"


TABLE = (
    Key("help", ("f1",), "Show this help.", "help", "always"),
    Key("palette", ("ctrl+p",), "Find any command by name.", "commands", "always"),
    Key("stop", ("escape",), "Close the pane that covers the conversation; else stop the "
        "turn; twice: edit the newest message that waits. Stops reading. Twice with "
        "nothing to stop or send: go back to a message.",
        "stop", "always"),
    Key("leave", ("ctrl+c",), "Stop what runs, then clear what is written, then twice: quit.",
        "quit", "always"),
    Key("mode", ("shift+tab",), "Switch to the next mode: code, plan, ask, debug, spec.", "mode",
        "always"),
    Key("detach", ("ctrl+b",), "Detach; the turn keeps running. In a draft: move left.", "detach",
        "always"),
    Key("suspend", ("ctrl+z",), "Suspend; fg in the shell continues.", "", "always"),
    Key("quit_now", ("ctrl+q",), "Quit; asks where that stops a turn or jobs.", "", "always"),
    Key("status", ("f2",), "Show or hide the status.", "status", "always"),
    Key("log", ("f3",), "Show or hide the task log.", "log", "always"),
    Key("diff_pane", ("f4",), "Show or hide the changes.", "diff", "always"),
    Key("mentioned", ("f5",), "Go to the files in context, and drop some.", "", "always"),
    Key("todo", ("f6",), "Show or hide the todo list.", "todo", "always"),
    Key("read", ("f7", "ctrl+o"), "Read the conversation, or stop reading: the letters below are "
        "keys until you write.",
        "read", "always"),
    Key("page_up", ("pageup",), "Scroll the conversation up.", "", "always"),
    Key("page_down", ("pagedown",), "Scroll the conversation down.", "", "always"),
    Key("approvals_now", ("f8",), "Go to what waits for an answer, or to what the turn changed.",
        "", "always"),
    Key("queued", ("f9",), "Go to the queued messages.", "", "always"),
    Key("down", ("j",), "Scroll down.", "down"),
    Key("up", ("k",), "Scroll up.", "up"),
    Key("top", ("g",), "Go to the beginning.", ""),
    Key("end", ("G",), "Go to the end, and follow.", ""),
    Key("search", ("slash",), "Search the conversation, upwards; n and N go to the next and the "
        "previous place."),
    Key("diff", ("D",), "Show what was changed.", "diff"),
    Key("retry", ("r",), "Try the last step again; asks first.", "retry"),
    Key("approvals", ("a",), "Open what waits for your approval. With nothing waiting: choose the "
        "approvals level.", "approvals"),
    Key("write", ("i",), "Write.", "write"),
    Key("quit", ("q",), "Quit; asks first.", "quit"),
    Key("ask_help", ("?",), "Show this help.", "help"),
)  # fmt: skip
SCROLLS = ("down", "up", "top", "end", "page_up", "page_down")  # the conversation's own as well
NAMES = {key.name: key for key in TABLE}


class Keymap(Struct, frozen=True):
    """The keys in force, and what was wrong with those that a person asked for."""

    keys: tuple[Key, ...]
    problems: tuple[str, ...] = ()

    def of(self, name: str) -> str:
        """The first key of an action, as a person reads it."""
        return shown(self.keys_of(name)[0])

    def keys_of(self, name: str) -> tuple[str, ...]:
        """The keys of an action, as Textual names them."""
        return next(key.keys for key in self.keys if key.name == name)

    def changed(self) -> dict[str, str]:
        """Only what is not as built in: for Textual, by the name of the action."""
        changed = {
            key.name: ",".join(key.keys) for key in self.keys if key.keys != NAMES[key.name].keys
        }
        scrolls = {name: keys for name, keys in changed.items() if name in SCROLLS}
        return {**changed, **{f"transcript.{name}": keys for name, keys in scrolls.items()}}


DEFAULT = Keymap(TABLE)


def keys_file(environ: Mapping[str, str]) -> Path:
    """Where a person's keys are."""
    return own_file(environ, "keys.toml")


def load_keys(environ: Mapping[str, str]) -> Keymap:
    """The keys in force; a file that cannot be read changes none."""
    path = keys_file(environ)
    if not os.path.exists(path):
        return DEFAULT
    import tomllib

    try:
        wanted = tomllib.loads(whole_plain(path, _LARGEST).decode())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return Keymap(TABLE, (f"{path} cannot be read, so the default keys are used: {error}",))
    inner = wanted.get("keys")
    return remapped(inner if isinstance(inner, dict) else wanted)


def remapped(wanted: Mapping[str, Any]) -> Keymap:
    """The built-in keys with those a person wants; what does not work is reported and left out."""
    problems: list[str] = []
    chosen: dict[str, tuple[str, ...]] = {}
    for name, value in wanted.items():
        keys = _read(name, value, problems)
        if keys:
            chosen[name] = keys
    while clashes := _clashes(chosen):
        for name, told in clashes.items():
            problems.append(told)
            del chosen[name]
    table = tuple(
        Key(key.name, chosen.get(key.name, key.keys), key.about, key.short, key.where)
        for key in TABLE
    )
    return Keymap(table, tuple(problems))


def _read(name: str, value: Any, problems: list[str]) -> tuple[str, ...]:
    if name not in NAMES:
        problems.append(f"keys.toml: there is no action “{name}”. There are: {', '.join(NAMES)}.")
        return ()
    given: Sequence[Any] = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list) or not given:
        problems.append(f"keys.toml: “{name}” must be a key or a list of keys.")
        return ()
    keys = tuple(str(key).strip() for key in given)
    for key in keys:
        if not _KEY.fullmatch(key):
            problems.append(f"keys.toml: “{key}” for {name} is not a key, such as ctrl+d or f5.")
            return ()
        if NAMES[name].where == "always" and _TEXT.fullmatch(key):
            problems.append(f"keys.toml: “{key}” for {name} is needed for writing.")
            return ()
    return keys


def _clashes(chosen: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Wanted keys that another action has; the built-in one, or the earlier one, keeps it."""
    owner: dict[str, str] = {}
    told: dict[str, str] = {}
    for key in TABLE:
        if key.name not in chosen:
            owner.update({one: key.name for one in key.keys})
    for name, keys in chosen.items():
        taken = next((one for one in keys if owner.get(one, name) != name), None)
        if taken is not None:
            told[name] = (
                f"keys.toml: {taken} is wanted for {name}, but {owner[taken]} has it; "
                f"{name} keeps {NAMES[name].keys[0]}."
            )
        else:
            owner.update(dict.fromkeys(keys, name))
    return told


_SHOWN = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "enter": "Enter", "tab": "Tab",
          "question_mark": "?", "space": "Space"}  # fmt: skip


def shown(key: str) -> str:
    """A key as a person reads it: `ctrl+p` is `^P`."""
    *modifiers, last = key.split("+") if key != "+" else [key]
    last = _SHOWN.get(last, last.upper() if len(last) > 1 or modifiers else last)
    if modifiers == ["ctrl"]:
        return f"^{last}"
    return "+".join([*(one.capitalize() for one in modifiers), last])


class Hint(Struct, frozen=True):
    """What the footer says of one key."""

    key: str
    words: str


class Now(Struct, frozen=True):
    """What decides what keys do.

    `doing` is what the seat does, or "running" while a command of the user's own runs; `focus` is
    where the keys go: the composer, a card that asks, the conversation, a dialog, or elsewhere.
    `queued` when messages wait, `asked` when something waits for an answer, `written` when the
    composer has text, `closed` when Esc closed the card and nothing was written since.
    `card` is what Esc does at the card; `over` when a pane covers the
    conversation.
    """

    doing: str
    focus: str
    queued: bool = False
    asked: bool = False
    written: bool = False
    closed: bool = False
    card: str = "later"
    over: bool = False


def escape(now: Now) -> str:
    """What Esc does, in a word; empty where nothing is to be stopped or left."""
    if now.focus != "writing":
        return {"asking": now.card, "dialog": ""}.get(now.focus, "write")
    if now.over:
        return "close"  # what covers the conversation goes first; the turn continues
    if now.asked and (now.written or not now.closed):
        return "answer"  # only who closed the card stops the turn, whose question waits
    return "" if now.doing == "nothing" else "stop"


def leave(now: Now) -> str:
    """What Ctrl+C does, in a word."""
    if now.doing != "nothing":
        return "stop"
    return "clear" if now.written else "quit"


def hints(keymap: Keymap, now: Now) -> list[Hint]:
    """What is worth saying now, the most useful first: the only place that says it."""

    def named(*names: str) -> list[Hint]:
        return [Hint(keymap.of(name), does.get(name, NAMES[name].short)) for name in names]

    does = {"stop": escape(now), "leave": leave(now)}
    doing, focus, waiting = now.doing, now.focus, now.queued and not now.written
    if focus == "dialog":  # it names its own keys
        return named("leave")
    if focus == "asking":
        return named("stop", "help", "palette")
    general = named("palette", "help", "log", "diff_pane", "status", "todo")
    if focus == "reading":
        letters = named("down", "up", "diff", "retry", "approvals", "quit", "ask_help")
        return [*named("stop"), *letters, *named("palette")]
    if focus == "elsewhere" or now.over:
        return [*named("stop"), *general]
    queued = [Hint("Enter", "send the oldest now"), Hint("Up", "edit the newest")]
    if doing == "working":
        enter = queued if waiting else [Hint("Enter", "queue")]
        return [*enter, *named("stop", *(() if now.written else ("detach",))), *general]
    if doing == "running":
        return [Hint("Enter", "send"), *named("leave", "palette", "mode", "help"), *general[2:]]
    if waiting:
        return [*queued, *named("palette", "mode"), *general[1:]]
    return [Hint("Enter", "send"), *named("palette", "mode", "read", "help", "leave"), *general[2:]]


def reminder(keymap: Keymap) -> str:
    """The keys that are used most, on a few lines."""
    of = keymap.of
    return (
        "Enter sends · Alt+Enter new line · Up earlier messages · ^R searches them\n"
        "@ file · $ skill · / command · ! shell · # a line to remember\n"
        f"{of('mode')} next mode · {of('stop')} stops · {of('stop')} twice rewinds · "
        f"{of('leave')} stops, clears, quits · ^D quits\n"
        f"{of('read')} to read · {of('approvals_now')} to answer or review · {of('palette')} finds "
        f"a command · {of('help')} shows all keys"
    )


def fitted(wanted: Sequence[Hint], width: int) -> list[Hint]:
    """As many as fit, in their order; two columns lie between them."""
    kept: list[Hint] = []
    room = width
    for hint in wanted:
        need = len(hint.key) + 1 + len(hint.words) + (2 if kept else 0)
        if need > room:
            break
        kept.append(hint)
        room -= need
    return kept
