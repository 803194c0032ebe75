"""The guard's door: one command line in, one judgement out. Nothing is run or looked up."""

import re
import unicodedata
from typing import Literal

from steersman.governance.guard.marks import SECRET, TOKEN
from steersman.governance.guard.scene import ASK, BLOCK, BREAK, Finding, Scene
from steersman.governance.guard.shell import Shell
from steersman.records.judgement import CommandPlace, Judgement
from steersman.records.patterns import pattern

MAX_LENGTH = 10_000
_CONTROL = pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BEYOND = pattern(r"[^\x00-\x7f]")
_ODD_SPACE = pattern("[^\\S\\x00-\\x7f]")
_VERDICTS: dict[int, Literal["allow", "ask", "block"]] = {
    ASK: "ask",
    BLOCK: "block",
    BREAK: "block",
}


def judge(command: str, place: CommandPlace) -> Judgement:
    """Judge a command line by its text."""
    scene = Scene(place)
    text = command
    joined = ""
    odd = _odd(command)
    if odd:
        scene.plain = False
        scene.note(
            ASK, "shape.control", odd, "Write the command with ordinary characters and spaces."
        )
        text = _CONTROL.sub(" ", _BEYOND.sub(_plain_letter, command))
        joined = _CONTROL.sub("_", _ODD_SPACE.sub("_", command))
    if len(text) > MAX_LENGTH:
        scene.too_complex(f"it has more than {MAX_LENGTH:,} characters")
        text = text[:MAX_LENGTH] + "\n" + text[-MAX_LENGTH:]
    shell = Shell(scene, place.cwd or place.workspace)
    try:
        made = shell.script(text)
        for found in scene.environments:
            scene.note(found.level, found.rule, found.reason, found.instead)
        _printed(scene, made)
        if "\\\n" in text:
            Shell(scene, shell.cwd).script(text.replace("\\\n", ""))
        if joined:
            Shell(scene, place.cwd or place.workspace).script(joined[:MAX_LENGTH])
    except RecursionError:
        scene.too_complex("it is nested too deeply")
    except Exception as error:  # a guard that fails must not let anything pass
        scene.plain = False
        scene.note(ASK, "guard.defect", f"The guard could not read this: {error!r}.")
    return _said(scene)


def _printed(scene: Scene, text: str) -> None:
    """What the whole line prints enters the transcript."""
    if TOKEN in text:
        scene.note(
            BLOCK,
            "secrets.environment",
            "The command prints a credential from the environment.",
            "Use the variable where it is needed; never print it.",
        )
    elif SECRET in text:
        scene.note(
            ASK,
            "secrets.print",
            "What the command prints may contain credentials.",
            "Print only what you need.",
        )


def _odd(command: str) -> str:
    found = _CONTROL.search(command)
    if found:
        return f"The command contains the control character U+{ord(found[0]):04X}."
    for found in _BEYOND.finditer(command):
        kind = unicodedata.category(found[0])
        if kind in ("Zs", "Zl", "Zp", "Cf", "Cc", "Co", "Cs", "Cn"):
            return f"The command contains the invisible or odd character U+{ord(found[0]):04X}."
    return ""


def _plain_letter(found: re.Match[str]) -> str:
    letter = found[0]
    kind = unicodedata.category(letter)
    if kind in ("Zs", "Zl", "Zp"):
        return " "
    if kind in ("Cf", "Cc", "Co", "Cs", "Cn"):
        return ""
    plain = unicodedata.normalize("NFKC", letter)
    return plain if plain.isascii() else letter


def _said(scene: Scene) -> Judgement:
    worst = scene.worst or Finding(0, "plain", "Nothing in the command needs approval.")
    return Judgement(
        verdict=_VERDICTS.get(worst.level, "allow"),
        rule=worst.rule,
        reason=worst.reason,
        instead=worst.instead,
        breaker=worst.level == BREAK,
        plain=scene.plain,
        facts=tuple(scene.facts),
    )
