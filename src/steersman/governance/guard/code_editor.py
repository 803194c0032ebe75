"""Commands of vi and its kin: the other languages among them, and calls of the editor's own
functions, from Vimscript and from Lua, put into words that the reader of code knows."""

import re

from steersman.governance.guard.code_patterns import STRING
from steersman.governance.guard.code_texts import arguments, glued, strings
from steersman.records.patterns import pattern

_LANGUAGES = {
    "lu": "lua",
    "py": "python",
    "ru": "ruby",
    "pe": "perl",
    "tc": "tcl",
    "mz": "lisp",
}
_NAMES = (
    r"(?P<{0}>lua(?:do)?|py(?:thon)?[3x]?(?:do)?|rub(?:y|ydo)?|perl?(?:do)?|tcl(?:do)?|"
    r"mz(?:scheme)?)\b(?!\s*(?:=[^=]|\())"
)
# A command in another language fills its line, or what follows it up to a mark.
_SPOKEN = pattern(
    r"(?m)^[ \t:]*(?:[%\d,.$]*[ \t]*)(?:(?:sil(?:ent)?|noa(?:utocmd)?|keep\w+|verb(?:ose)?|"
    r"uns(?:ilent)?|sandbox|\w*do)!?[ \t]+)*"
    + _NAMES.format("name")
    + r"!?[ \t]*(?:<<[ \t]*(?:trim[ \t]*)?(?P<mark>\w*)[ \t]*\n(?P<many>(?:.*\n)*?)[ \t]*"
    r"(?:(?P=mark)|\.)[ \t]*$|(?P<one>[^\n]*))"
)
_AFTER_BAR = pattern(r"\|[ \t:]*" + _NAMES.format("name") + r"[ \t]+(?P<one>[^\n]*)")
# Patterns of a text and what replaces them are no commands, except an expression after `\=`.
_REPLACED = pattern(
    r"(?m)(?P<at>(?:^|\|)[ \t:]*[%\d,.$]*[ \t]*)"
    r"(?:s(?:ubstitute)?(?P<s>[/#@,;+])(?:\\.|(?!(?P=s))[^\n\\])*(?P=s)(?!\\=)"
    r"(?:\\.|(?!(?P=s))[^\n\\])*(?:(?P=s)|$)"
    r"|(?:g(?:lobal)?!?|v(?:global)?)(?P<g>[/#@,;+])(?:\\.|(?!(?P=g))[^\n\\])*(?P=g))"
)
_TYPED = pattern(r"(?i)<(?:cr|enter|esc|bar|space)>")


def spoken(code: str) -> tuple[str, list[tuple[str, str]]]:
    """What is the editor's own in a text of commands, and the rest, each with its language."""
    code = _TYPED.sub("\n", code)
    found = [
        (_LANGUAGES[part["name"][:2]], (part["many"] or part["one"]).lstrip("= \t"))
        for part in _SPOKEN.finditer(code)
    ]
    own = _REPLACED.sub(lambda part: part["at"], _SPOKEN.sub("", code))
    # A bar may also be one of a shell's, so what follows it stays the editor's too.
    found += [(_LANGUAGES[part["name"][:2]], part["one"]) for part in _AFTER_BAR.finditer(own)]
    return own, found


# The editor's functions that change files: in Vimscript by themselves, in Lua below `vim`.
_FUNCTIONS = {
    "delete": "unlink",
    "rm": "rm_rf",
    "fs_unlink": "unlink",
    "fs_rmdir": "rm_rf",
    "rename": "os.rename",
    "fs_rename": "os.rename",
    "writefile": "writeFile",
    "fs_open": "open",
    "fs_copyfile": "copyFile",
    "filecopy": "copyFile",
}
_BELOW = r"(?:\bvim\.(?:fn|fs|uv|loop)\.|\b(?:uv|luv|loop)\.(?=fs_))"
_ANY = "|".join(_FUNCTIONS)
_CALL = pattern(rf"(?P<below>{_BELOW}|(?<![\w.#:>]))(?P<name>{_ANY})\b(?=\()")
_HANDED = pattern(
    rf"\b(?:vim\.(?:fn\.)?call|nvim_call_function|p?call|vim\.schedule_wrap)\(\s*"
    rf"(?:(['\"])(?P<a>{_ANY})\1|{_BELOW}(?P<b>{_ANY})\b)\s*,\s*(?P<list>[\[{{])?"
)
_METHOD = pattern(rf"(?P<of>(['\"])[^'\"\n]*\2)->(?P<name>{_ANY})\((?P<none>\s*\))?")
_BY_KEY = pattern(rf"\bvim\.(fn|fs|uv|loop)\[\s*['\"]({_ANY})['\"]\s*\]")
_LONG = pattern(r"\[(=*)\[(.*?)\]\1\]", re.DOTALL)
_SAME_PATH = pattern(
    r"(?:\bvim\.(?:fn|fs)\.|(?<![\w.]))(?:expand|resolve|simplify|fnamemodify|fnameescape|shellescape|"
    r"normalize)"
    r"\(\s*(?P<path>(['\"])[^'\"%#<\n][^'\"\n]*\2)[^()\n]*\)"
)
_JOINED = pattern(r"\bvim\.fs\.joinpath\((?P<parts>(?:\s*(['\"])[^'\"\n]*\2\s*,?)+)\)")


def quoted(text: str) -> str:
    """Lua in which long strings are strings."""
    return _LONG.sub(
        lambda found: "'" + found[2].replace("'", '"').replace("\n", "\\n") + "'", text
    )


def plain_calls(text: str, language: str) -> str:
    """Calls of the editor's functions as calls that every language has; a path that is not a
    plain text becomes a name, of which nobody knows what it is."""
    text = _JOINED.sub(lambda found: "'" + "/".join(strings(found["parts"])) + "'", text)
    text = glued(_SAME_PATH.sub(lambda found: found["path"], text))
    text = _BY_KEY.sub(r"vim.\1.\2", text)
    text = _HANDED.sub(lambda found: f"vim.fn.{found['a'] or found['b']}(", text)
    text = _METHOD.sub(
        lambda found: f"{found['name']}({found['of']}{')' if found['none'] else ','}", text
    )
    made, at = "", 0
    for found in _CALL.finditer(text):
        bare = not found["below"]
        if found.start() < at or (bare and (language != "editor" or found["name"] == "rm")):
            continue
        inside = arguments(text, found.end())
        made += text[at : found.start()] + _plain_call(found["name"], _parts(inside[1:-1]))
        at = found.end() + len(inside)
    text = made + text[at:]
    return re.sub(rf"{_BELOW}(?:delete|rm|fs_unlink|fs_rmdir)\b", "rm_rf(path)", text)


def _plain_call(name: str, parts: list[str]) -> str:
    if parts == [""]:
        return f"{name}()"
    known = [part if STRING.fullmatch(part) else "path" for part in parts]
    if name == "delete":
        many = any("r" in part for part in parts[1:2])
        return f"{'rm_rf' if many else 'unlink'}({known[0]})"
    if name == "writefile":
        return f"writeFile({', '.join(known[1:2])})"
    kept = known[:1] if name in ("rm", "fs_unlink", "fs_rmdir") else known[:2]
    return f"{_FUNCTIONS[name]}({', '.join(kept)})"


def _parts(inside: str) -> list[str]:
    """The arguments of a call."""
    parts, start, at = [], 0, 0
    while at < len(inside):
        if inside[at] in "([{'\"":
            skipped = STRING.match(inside, at)
            at += len(skipped[0] if skipped else arguments(inside, at)) or 1
        elif inside[at] == ",":
            parts.append(inside[start:at].strip())
            start = at = at + 1
        else:
            at += 1
    return [*parts, inside[start:].strip()]


_GIVEN = pattern(
    r"(?:\b(?P<other>lua|py3?x?|pyx|perl|ruby)eval(?=\()|\bvim\.(?:cmd|command|eval)(?=\s*[(\"'])"
    r"|\bnvim_(?:command|exec2?|input|feedkeys|eval|cmd)(?=\()|(?<![\w.])(?:execute|feedkeys)(?=\()"
    r"|(?P<own>(?<![\w.])exe(?:cute)?(?=[ \t]+['\"\w$])))"
)


def given(text: str, language: str) -> tuple[list[tuple[str, str]], bool]:
    """Texts that code gives to the editor to run, with their languages; and whether there are
    some that nobody can read."""
    made: list[tuple[str, str]] = []
    hidden = False
    for found in _GIVEN.finditer(text):
        if found["own"] and language != "editor":
            continue
        inside = arguments(text, found.end())
        words = strings(inside)
        spoken_in = _LANGUAGES[found["other"][:2]] if found["other"] else "editor"
        made += [(spoken_in, word.lstrip("=")) for word in words]
        hidden = hidden or (not words and re.search(r"\w", inside) is not None)
    return made, hidden
