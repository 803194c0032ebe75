"""Texts that inline code builds: letters from numbers, names and homes inside strings."""

import base64
import binascii
import codecs
import re
from typing import TYPE_CHECKING

from steersman.governance.guard.code_patterns import (
    BLOB,
    HOMES,
    JOIN,
    PRINTF,
    RENAMED,
    SAYS,
    SHOW,
    STRING,
)
from steersman.governance.guard.expand import ansi
from steersman.governance.guard.marks import OUT
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell

# What turns numbers into letters, in any language.
MAKES_LETTERS = pattern(
    r"\bchr\b|\bpack\b|fromC(?:har|ode)\w+|string\.char|Buffer\.from|%c|:chr\b|\.chr\b|\bchar\("
    r"|array_map|Character|\bfromlist|\bbyte\b|List\.to_string|rune\("
)
_NUMBER = r"(?:0[xX][0-9a-fA-F]{2}|0[oO]?[0-7]{2,3}|\d{1,3})"
_NUMBERS = pattern(rf"(?<![\w.]){_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER})+(?![\w.])")
_INTERPOLATED = pattern(
    rf"(?:[#$]\{{|@\{{\[)\s*(?:{HOMES.text.replace('(?P<t>', '(?:')})\s*(?:\]\}}|\}})"
)
_HOME_IN_TEXT = pattern(
    r"\$ENV\{['\"]?HOME['\"]?\}|\$HOME\b|\{?\$_(?:SERVER|ENV)\[['\"]?HOME['\"]?\]\}?"
)
_DOUBLE = pattern(r"([\"`])((?:\\.|(?!\1)[^\\])*)\1", re.DOTALL)
_GIVEN = pattern(
    r"(?:\b(?:my|our|const|let|var|local|String)\s+(?:mut\s+)?)?[$@]?\b(?P<n>[A-Za-z_]\w*)(?:\s*,\s*\w+)?\s*:?=\s*(?P<q>['\"])"
    r"(?P<v>[^'\"\n]{1,200})(?P=q)\s*(?=[;,\n)|]|\Z)"
)
# A regular expression of JavaScript, and a name that is given one.
_EXPRESSION = r"(?<![\w)\]])/(?![/*])(?:\\.|[^/\\\n])+/[a-z]*"
_MATCHES = pattern(rf"({_EXPRESSION})\s*\.exec\b")
_MATCHER = pattern(rf"\b(\w+)\s*=\s*(?:new\s+RegExp\b|{_EXPRESSION}\s*[;,\n)])")


def with_home(text: str, home: str) -> str:
    """Homes that are inside a string, put in plainly."""
    text = _INTERPOLATED.sub(lambda _: home, text)
    return _DOUBLE.sub(
        lambda found: found[1] + _HOME_IN_TEXT.sub(lambda _: home, found[2]) + found[1], text
    )


def with_names(text: str) -> str:
    """Variables that were given a string once, put in where they are used."""
    given = {found["n"]: found["v"] for found in _GIVEN.finditer(text)}
    for name, value in list(given.items())[:8]:
        inside = re.compile(rf"[#$]\{{\s*{name}\s*\}}|\$\{{?{name}\b\}}?|\{{\${name}\}}")
        outside = re.compile(
            rf"(?<![\w.$'\"]){re.escape(name)}\b(?!\s*:?=(?!=)|['\"(:])|\${name}\b(?!\s*=(?!=))"
        )
        bare, quoted = (text.replace("\\", r"\\") for text in (value, f"'{value}'"))
        made, at = "", 0
        for found in STRING.finditer(text):
            made += outside.sub(quoted, text[at : found.start()])
            live = found[0][:1] in '"`' or found[0].startswith("q")
            made += inside.sub(bare, found[0]) if live else found[0]
            at = found.end()
        text = made + outside.sub(quoted, text[at:])
    return text


def spelled(text: str) -> list[str]:
    """The texts that lists of numbers spell, where the code makes letters of numbers."""
    if not MAKES_LETTERS.search(text):
        return []
    made = []
    for found in _NUMBERS.finditer(text):
        letters = [_letter(number) for number in re.findall(_NUMBER, found[0])]
        if len(letters) > 1 and all(letters):
            made.append("".join(letters))
    if re.search(r"\bhex\b|\(16\)|,\s*16\)", text):
        for found in re.finditer(r"(?:\b[0-9a-fA-F]{2}[\s,'\"]+){2,}[0-9a-fA-F]{2}\b", text):
            codes = re.findall(r"[0-9a-fA-F]{2}", found[0])
            made.append("".join(_letter("0x" + code) for code in codes))
    form = re.search(r"['\"]((?:[^'\"]*%c)+[^'\"]*)['\"]\s*[,%]\s*\(?((?:\s*\d+\s*,?)+)", text)
    if form:
        numbers = iter(re.findall(r"\d+", form[2]))
        made.append(re.sub("%c", lambda _: _letter(next(numbers, "63")) or "?", form[1]))
    return made


def _letter(number: str) -> str:
    digits = number.lower()
    if digits.startswith("0x"):
        code = int(digits, 16)
    elif len(digits) > 1 and digits.startswith("0"):
        code = int(digits.replace("o", ""), 8) if set(digits[1:]) <= set("o01234567") else 0
    else:
        code = int(digits)
    return chr(code) if 31 < code < 127 or code in (9, 10) else ""


def strings(text: str) -> list[str]:
    """The strings of a piece of code."""
    made = []
    for found in STRING.finditer(text):
        value = next(
            (
                v
                for v in (found["s"], found["b"], found["p"], found["k"], found["o"])
                if v is not None
            ),
            "",
        )
        made.append(ansi(value) if "\\" in value else value)
    return made


def arguments(text: str, at: int) -> str:
    """The text of a call's arguments, up to the closing bracket or the end of the statement."""
    depth, quote, spot = 0, "", at
    while spot < len(text) and spot - at < 4000:
        letter = text[spot]
        if quote:
            if letter == "\\":
                spot += 1
            elif letter == quote:
                quote = ""
        elif letter in "'\"`":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth <= 0:
                return text[at : spot + 1]
        elif letter in ";\n" and depth == 0:
            return text[at:spot]
        spot += 1
    return text[at:spot]


def tilde(shell: "Shell", word: str) -> str:
    """A path with its home folder put in."""
    return shell.scene.place.home + word[1:] if re.match(r"~(?:/|\Z)", word) else word


def matching(text: str) -> str:
    """JavaScript in which a regular expression's `exec` is not the one that starts commands."""
    text = _MATCHES.sub(r"\1.test", text)
    for name in dict.fromkeys(found[1] for found in _MATCHER.finditer(text)):
        if len(re.findall(rf"\b{name}\s*=(?!=)", text)) == 1:
            text = re.sub(rf"\b{name}\.exec\b", f"{name}.test", text)
    return text


def glued(text: str) -> str:
    """Strings that are added to one another, as one."""
    for _ in range(6):
        text, count = JOIN.subn(lambda m: m[1] + m[2] + m[4] + m[1], text)
        if not count:
            break
    return text


def aliases(text: str) -> str:
    """Renamed imports and attributes fetched by name, put back to their plain form."""
    for found in re.finditer(r"\bimport\s+(os|subprocess|shutil|pathlib)\s+as\s+(\w+)", text):
        text = re.sub(rf"\b{found[2]}\.", found[1] + ".", text)
    for found in re.finditer(
        r"\bfrom\s+(os|subprocess|shutil)\s+import\s+(\w+)\s+as\s+(\w+)", text
    ):
        text = re.sub(rf"\b{found[3]}\(", f"{found[1]}.{found[2]}(", text)
    for found in RENAMED.finditer(text):
        text = re.sub(
            rf"(?<![\w.]){found['n'] or found['m']}\(", f"{found['f'] or found['g']}(", text
        )
    text = re.sub(r"\[\s*['\"](eval|exec|compile|__import__)['\"]\s*\]\s*\(", r".\1(", text)
    return re.sub(r"getattr\([^,]*?['\"](\w+)['\"]\s*\)\s*,\s*['\"](\w+)['\"]\s*\)", r"\1.\2", text)


def characters(found: re.Match[str]) -> str:
    """The letters of `chr(…)`, as a string."""
    numbers = re.findall(
        r"0x[0-9a-fA-F]+|\d+", found[0].split("(", 1)[-1] if "(" in found[0] else found[0]
    )
    made = "".join(chr(int(n, 0)) for n in map(_decimal, numbers) if 31 < int(n, 0) < 127)
    return "'" + made.replace("'", "\\'") + "'"


def _decimal(number: str) -> str:
    return number if number.startswith("0x") else number.lstrip("0") or "0"


def joined(found: re.Match[str]) -> str:
    """The parts of a path, as one."""
    parts = re.findall(r"['\"]([^'\"]*)['\"]", found[0])
    made = ""
    for part in parts:
        made = part if part.startswith("/") or not made else made.rstrip("/") + "/" + part
    head = "Path(" if found[0].startswith("Path") else ""
    return f"{head}'{made}'" + (")" if head else "")


def unpacked(word: str, text: str) -> list[str]:
    """What a string holds in the encodings that the code speaks of."""
    made = []
    clean = re.sub(r"\s", "", word)
    if "[::-1]" in text or "reverse" in text:
        made.append(word[::-1])
    if "rot13" in text or "rot_13" in text:
        made.append(codecs.encode(word, "rot13"))
    if re.fullmatch(r"(?:[0-9a-fA-F]{2}){4,}", clean):
        made.append(bytes.fromhex(clean).decode("utf-8", "replace"))
    elif BLOB.match(clean) and len(clean) % 4 in (0, 2, 3):
        try:
            raw = base64.b64decode(
                clean.replace("-", "+").replace("_", "/") + "=" * (-len(clean) % 4)
            )
            plain = raw.decode("utf-8")
            if plain.isprintable() or "\n" in plain:
                made.append(plain)
        except (ValueError, binascii.Error):
            pass
    return [item for item in made if item]


def printed(text: str, language: str) -> str:
    """What code prints, when that is plain."""
    if language == "awk":
        found = PRINTF.search(text)
        if found:
            from steersman.governance.guard.programs.texts import _formatted

            values = re.findall(r"\d+|\"[^\"]*\"", found[2])
            plain = [
                chr(int(v)) if v.isdigit() and "%c" in found[1] else v.strip('"') for v in values
            ]
            return _formatted(ansi(found[1]), plain)
        return ""
    if SHOW.search(text) and spelled(text):
        return "".join(spelled(text)) + "\n"
    if re.search(
        r"base64|b64|unhexlify|fromhex|pack\(|unpack|decode64|atob|rot13|\[::-1\]|"
        r"reverse",
        text,
    ) and SHOW.search(text):
        for word in strings(text):
            for made in unpacked(word, text):
                return made + "\n"
    found = SAYS.search(text)
    return "".join(strings(found[1])) + "\n" if found else OUT
