"""Inline code of other languages: calls that start commands, delete, write, kill or send."""

import base64
import binascii
import codecs
import re
from typing import TYPE_CHECKING

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.code_patterns import (
    BLOB,
    CHR,
    DELETE,
    DESTROYS,
    ENDS,
    ESCAPES,
    EVAL,
    FORKBOMB,
    HARM,
    HOMES,
    JOIN,
    KILL,
    LISTED,
    NETWORK,
    OBEYS_WIRE,
    PATH_JOIN,
    PRINTF,
    ROOTISH,
    RUN,
    SHOW,
    STARTS,
    STRING,
    WALK,
    WRITE,
)
from steersman.governance.guard.code_python import TooMuchError, rewritten
from steersman.governance.guard.code_texts import MAKES_LETTERS, spelled, with_home, with_names
from steersman.governance.guard.effects import payload
from steersman.governance.guard.expand import ansi
from steersman.governance.guard.marks import OUT, UNKNOWN, globbed, live, shown
from steersman.governance.guard.paths import OWN, absolute, zone
from steersman.governance.guard.places import secret
from steersman.governance.guard.scene import ASK, BLOCK, BREAK

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell


_NAMED = frozenset(("perl", "ruby", "php", "node", "lua", "go", "rust", "java", "swift", "nim"))


def scan(shell: "Shell", code: str, language: str, depth: int = 0) -> str:
    """Judge code by its literal calls; the answer is text it would print, when that is plain."""
    shell.scene.plain = False
    home = shell.scene.place.home
    known = _python(shell, code) if language == "python" else None
    text = with_home(code, home) if known is None else known
    text = HOMES.sub(lambda found: "'" + home + (found["t"] or "") + "'", text)
    text = CHR.sub(_characters, text)
    if language == "m4":
        text = text.replace("`", "'")
    for _ in range(6):
        text, count = JOIN.subn(lambda m: m[1] + m[2] + m[4] + m[1], text)
        if not count:
            break
    text = PATH_JOIN.sub(_joined, text)
    text = _aliases(text)
    if language in _NAMED:
        text = with_names(text)
    name = language.capitalize()
    if KILL.search(text) or KILL.search(code):
        shell.scene.note(BREAK, "kill.everything", f"{name} code kills every process.")
    if FORKBOMB.search(text) or FORKBOMB.search(code):
        shell.scene.note(BREAK, "forkbomb.code", f"{name} code starts processes without bound.")
    found = ROOTISH.search(text) or (LISTED.search(text) if "|" in text else None)
    if found:
        shell.scene.note(BREAK, "fs.root", f"Code deletes {shown(found[1])} with all below it.")
    if language in ("powershell", "cmd") and payload(text):
        shell.scene.note(BLOCK, "code.harm", f"Code holds a harmful command: {shown(text, 60)}.")
    _secrets(shell, text)
    _runs(shell, text, language)
    walks = known is None and _walks(shell, text)
    _deletes(shell, text, language, unclear=not walks)
    _writes(shell, text)
    _evals(shell, text, language, depth)
    _suspicion(shell, text, language)
    return _printed(text, language)


def _python(shell: "Shell", code: str) -> str | None:
    """Python as `code_python` reads it."""
    try:
        return rewritten(code, shell.scene.place.home, shell.cwd)
    except TooMuchError:
        shell.scene.too_complex("its Python code is too long")
        return None


def _aliases(text: str) -> str:
    """Renamed imports and attributes fetched by name, put back to their plain form."""
    for found in re.finditer(r"\bimport\s+(os|subprocess|shutil|pathlib)\s+as\s+(\w+)", text):
        text = re.sub(rf"\b{found[2]}\.", found[1] + ".", text)
    for found in re.finditer(
        r"\bfrom\s+(os|subprocess|shutil)\s+import\s+(\w+)\s+as\s+(\w+)", text
    ):
        text = re.sub(rf"\b{found[3]}\(", f"{found[1]}.{found[2]}(", text)
    return re.sub(r"getattr\([^,]*?['\"](\w+)['\"]\s*\)\s*,\s*['\"](\w+)['\"]\s*\)", r"\1.\2", text)


def _characters(found: re.Match[str]) -> str:
    numbers = re.findall(r"\d+", found[0].split("(", 1)[-1] if "(" in found[0] else found[0])
    made = "".join(chr(int(n)) for n in numbers if 31 < int(n) < 127)
    return "'" + made.replace("'", "\\'") + "'"


def _joined(found: re.Match[str]) -> str:
    parts = re.findall(r"['\"]([^'\"]*)['\"]", found[0])
    made = ""
    for part in parts:
        made = part if part.startswith("/") or not made else made.rstrip("/") + "/" + part
    head = "Path(" if found[0].startswith("Path") else ""
    return f"{head}'{made}'" + (")" if head else "")


def _strings(text: str) -> list[str]:
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


def _arguments(text: str, at: int) -> str:
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


def _runs(shell: "Shell", text: str, language: str) -> None:
    spans = (
        [found.span() for found in STRING.finditer(text)]
        if language not in ("lisp", "tcl", "editor", "gdb", "osa", "cmd", "powershell", "sql")
        else []
    )
    for found in RUN.finditer(text):
        if any(start < found.start() < end for start, end in spans):
            continue
        if language == "python" and found[0] in ("exec", "compile"):
            continue
        inside = _arguments(text, found.end())
        if found[0] == "Command::new":
            inside = text[found.end() :].partition(";")[0].replace(").arg", ", ")
        words = _strings(inside)
        if found[0] in ("qx", "$`"):
            words = _strings(found[0] + inside)
        if not words and language == "tcl":
            words = [inside.strip()] if inside.strip() else []
        _shell(shell, words, inside, found[0], text)
    for languages, pattern in ESCAPES:
        if not languages or language in languages:
            for found in pattern.finditer(text):
                _shell(shell, [next(group for group in found.groups() if group)], "", "escape")


def _shell(shell: "Shell", words: list[str], inside: str, name: str, text: str = "") -> None:
    if not words:
        name_ = re.match(r"\(?\s*\$?(\w+)\s*\)?\s*\Z", inside)
        given = (
            re.search(rf"\b{name_[1]}\s*=\s*(['\"])((?:\\.|(?!\1).)*)\1", text) if name_ else None
        )
        if given:
            words = [given[2]]
    if MAKES_LETTERS.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", inside)):
        shell.scene.note(ASK, "code.hidden", "Code starts a command that it spells by numbers.")
    if not words:
        if (
            (
                inside.strip("() \n")
                and name not in ("exec", "eval", "systemf", "system2")
                and re.search(r"[A-Za-z_$]", inside)
            )
            and not re.match(r"\bsh\.|process|run|call|(?!subprocess)\w+\.run", name)
            and "compile" not in name
        ):
            shell.scene.note(
                ASK, "code.runs", f"Code starts a command that is not known: {shown(name)}."
            )
        return
    inner = shell.copy()
    inner.depth += 1
    inner.via = (*shell.via, "code")
    if len(words) > 1 and ("[" in inside or "," in inside):
        inner.script(" ".join(_quote(word) for word in words))
        if words[0] in ("sh", "bash", "/bin/sh", "/bin/bash"):
            return
    inner.script(words[0])
    if len(words) > 1 and " " in words[-1]:
        inner.script(words[-1])


def _quote(word: str) -> str:
    return word if re.fullmatch(r"[\w./~*$-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _suspicion(shell: "Shell", text: str, language: str) -> None:
    """Nothing certain was found, but a harmful command or path stands in code that might use it."""
    worst = shell.scene.worst
    if worst is not None and worst.level >= ASK:
        return
    if re.fullmatch(r"\s*(?:print|puts|console\.log|echo|say)\b[^;\n]*;?\s*", text):
        return
    calm = language in ("python", "node", "ruby", "perl", "php", "awk", "lua", "c")
    for word in _strings(text):
        if (
            HARM.match(word)
            and (not calm or STARTS.search(text.replace(word, "")))
            and (not re.match(r"\s*(?:print|puts|console\.log|echo|say|cat)\b", text))
        ):
            shell.scene.note(
                ASK if calm else BLOCK,
                "code.harm",
                f"Code holds a harmful command: {shown(word, 60)}.",
            )
        elif re.match(
            r"/(?:\Z|etc|usr|home|bin|boot|var|lib|root|dev/sd)|~\Z", word
        ) and ENDS.search(text):
            call = ProgramCall(["code", word], shell, None)
            if call.zone(_tilde(shell, word)).name in ("ROOT", "TOP", "SYSTEM", "HOME", "DEVICE"):
                shell.scene.note(
                    ASK if calm else BLOCK, "code.harm", f"Code may change {shown(word, 60)}."
                )


def _tilde(shell: "Shell", word: str) -> str:
    return shell.scene.place.home + word[1:] if re.match(r"~(?:/|\Z)", word) else word


def _deletes(shell: "Shell", text: str, language: str, *, unclear: bool) -> None:
    """What is deleted; `unclear` when nothing else says where paths come from."""
    spans = [found.span() for found in STRING.finditer(text)]
    for found in DELETE.finditer(text):
        name = found[0]
        quoted = any(start < found.start() < end for start, end in spans)
        inside = _arguments(text, found.end())
        if name.startswith((".unlink", ".rmdir", "Path(")):
            before = re.search(
                r"Path\(\s*['\"]([^'\"]+)['\"]\s*\)\s*\.\s*(?:unlink|rmdir|rename)", text
            )
            words = [before[1]] if before else []
        else:
            words = _strings(inside)
            if not words and language in ("tcl", "powershell", "editor"):
                words = [w for w in inside.split() if not w.startswith("-")]
        call = ProgramCall([name.split("(")[0], *words], shell.copy(), None)
        many = re.search(
            r"(?i)rmtree|rm_r|rmSync|rimraf|recursive|RemoveAll|remove_dir_all|remove_tree|"
            r"removedirs|rename|replace|delete-directory|del_dir_r|Path\(|remove_entry|Remove-Item|"
            r"emptyDir|fs\.rm|\brd\b|removePath|deleteDir|file delete|move|rm\b",
            name + inside,
        )
        for word in words[:6]:
            word = _tilde(shell, word)
            if re.search(r"[/~.\w]", word) and not re.fullmatch(
                r"[\d\s]+|true|force|base64|utf-?8", word
            ):
                call.delete(word, recursive=bool(many) or word.rstrip("/") in ("", "~"))
        call.done()
        if (
            not words
            and ((unclear and not quoted) or many)
            and re.search(r"[A-Za-z_$@]", inside)
            and not name.startswith("Path(")
        ):
            call.doubt("code.deletes", "deletes paths that are not known from the text")


def _walks(shell: "Shell", text: str) -> bool:
    """A walk over a tree with a deletion in the same code deletes the tree; with a connection it
    sends it. True when there is a walk whose root is known."""
    roots = [found["root"] for found in WALK.finditer(text)]
    roots += [found[1] for found in re.finditer(r"<(~[^>\n]*|/[^>\n]*\*[^>\n]*)>", text)]
    for root in roots if NETWORK.search(text) else ():
        call = ProgramCall(["send", root], shell.copy(), None)
        if call.zone(_tilde(shell, root)) not in OWN:
            shell.scene.note(BLOCK, "exfil.code", f"Code sends the files below {shown(root)}.")
    for root in roots if DESTROYS.search(text) else ():
        ProgramCall(["delete", root], shell.copy(), None).delete(live(_tilde(shell, root)))
    for found in re.finditer(r"\bdelete\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]rf", text):
        ProgramCall(["delete", found[1]], shell.copy(), None).delete(_tilde(shell, found[1]))
    return bool(roots)


def _writes(shell: "Shell", text: str) -> None:
    for found in WRITE.finditer(text):
        groups = found.groupdict()
        if groups["a"]:
            if not re.search(r"[wax+]", groups["m"] or "") or "/" in (groups["m"] or ""):
                continue
            target: str | None = groups["a"]
        else:
            target = groups["p"] or groups["p2"] or groups["pw"] or groups["aw"] or groups["aw2"]
        if target is None and groups["rest"]:
            words = _strings(groups["rest"])
            copies = re.match(r"(?:copyFile|shutil\.copy|renameSync|os\.symlink)", found[0])
            target = (words[-1] if copies else words[0]) if words else None
        if target and not UNKNOWN.search(target):
            call = ProgramCall(["write", target], shell.copy(), None)
            call.write(
                _tilde(shell, target.strip()),
                "\n".join(_strings(text[found.end() :])[:4]),
                append="a" in (groups["m"] or ""),
            )
            call.done()


def _opened(text: str, word: str) -> bool:
    """True when the code opens this path to read it."""
    return (
        re.search(rf"\bopen\(\s*['\"]{re.escape(word)}['\"]\s*(?:\)|,\s*['\"]r)", text) is not None
    )


def _secrets(shell: "Shell", text: str) -> None:
    place = shell.scene.place
    network = NETWORK.search(text)
    for word in _strings(text):
        if ("/" not in word and not word.startswith(".")) or len(word) > 300:
            continue
        path = absolute(_tilde(shell, word), shell.cwd, place.home)
        if globbed(word) and network and zone(path, place) not in OWN:
            shell.scene.note(BLOCK, "exfil.code", f"Code sends the files at {shown(path)}.")
        if not secret(path, place) or (globbed(word) and not _opened(text, word)):
            continue
        if re.search(r"exists|isfile|access\(|\bstat\b", text) and not re.search(
            r"read|open\(|slurp", text
        ):
            continue
        rule, why = ("exfil.code", "sends") if network else ("secrets.read", "reads")
        shell.scene.note(BLOCK, rule, f"Code {why} credentials from {shown(path)}.")
    environment = re.search(
        r"os\.environ\b(?!\[|\.get|\.setdefault|\.pop)|process\.env\b(?![.\[])|\bENV\.to_|"
        r"%ENV\b|JSON\.stringify\(process\.env|getenv\(\)|dict\(os\.environ|\$_ENV\b",
        text,
    )
    if environment and network:
        shell.scene.note(BLOCK, "exfil.code", "Code sends the environment over the network.")
    elif (
        network
        and re.search(
            r"(?i)\b(?:exec|eval|system|Function|pickle\.loads|compile|iex|Invoke-Expression|"
            r"loadstring)\b",
            text,
        )
        and not re.search(r"literal_eval", text)
    ) and re.search(
        r"(?i)(?:exec|eval|system|Function|loads|compile|iex|Invoke-Expression|loadstring|"
        r"run|import)\b[^;\n]*(?:urlopen|requests|fetch|get\(|iwr|Invoke-WebRequest|"
        r"DownloadString|httpx|curl|URI\.open|LWP|http)|(?:get|request)\([^\n]*\beval\(|\.then\([^;\n]*eval|(?:urlopen|"
        r"requests|fetch|DownloadString|iwr)[^\n]*(?:exec|eval|iex|Function)",
        text,
    ):
        shell.scene.note(BLOCK, "net.run", "Code runs what it fetches from the network.")
    if (
        network
        and re.search(
            r"dup2|\bsubprocess|/bin/(?:ba|da|z)?sh\b|pty\.spawn|spawn\(['\"]/?\w*/?sh|"
            r"exec\w*\(['\"](?:/bin/)?(?:ba)?sh|cmd\.exe|\bopen\([^)]*>&|powershell",
            text,
        )
        and re.search(r"(?i)socket|connect|fsockopen|TCPClient|net\.dial|/inet/|net\.Socket", text)
    ):
        shell.scene.note(BLOCK, "net.reverse-shell", "Code connects a shell to another machine.")
    elif re.search(r"(?i)socket|/inet/", text) and OBEYS_WIRE.search(text):
        shell.scene.note(BLOCK, "net.reverse-shell", "Code runs what another machine sends.")
    if (
        network
        and re.search(
            r"(?i)data=|method:\s*['\"](?:POST|PUT|DELETE|PATCH)|\.post\(|\.put\(|\.delete\(|"
            r"\.patch\(|sendall|\.send\(",
            text,
        )
        and not re.search(r"localhost|127\.0\.0\.1", text)
    ):
        shell.scene.note(ASK, "net.send", "Code sends data over the network.")


def _evals(shell: "Shell", text: str, language: str, depth: int) -> None:
    if (
        not EVAL.search(text) and not re.search(r"system|popen|subprocess|\|\s*sh|exec", text)
    ) or depth > 3:
        return
    texts = [made for word in _strings(text) for made in _unpacked(word, text)]
    for made in texts + spelled(text):
        scan(shell, made, language, depth + 1)
        if re.search(r"system|popen|subprocess|exec|spawn|`", text):
            inner = shell.copy()
            inner.depth += 1
            inner.script(made)
    direct = re.search(
        r"\b(?:exec|eval|loadstring|Function|instance_eval)\b\s*\(?\s*(['\"])((?:\\.|"
        r"(?!\1).)*)\1",
        text,
    )
    if direct:
        scan(shell, ansi(direct[2]), language, depth + 1)
    elif re.search(
        r"\b(?:exec|eval|execfile|loadstring|pickle\.loads)\b\s*\(\s*(?!['\"])", text
    ) and language in ("python", "node", "ruby", "perl", "php", "lua"):
        _runs_code(shell, text)


def _runs_code(shell: "Shell", text: str) -> None:
    if not re.search(r"literal_eval|model\.eval\(\)|\.eval\(|re\.compile", text):
        shell.scene.note(
            ASK, "code.unknown", "Code runs other code that is not known from the text."
        )


def _unpacked(word: str, text: str) -> list[str]:
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


def _printed(text: str, language: str) -> str:
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
    if re.search(
        r"base64|b64|unhexlify|fromhex|pack\(|unpack|decode64|atob|rot13|\[::-1\]|"
        r"reverse",
        text,
    ) and SHOW.search(text):
        for word in _strings(text):
            for made in _unpacked(word, text):
                return made + "\n"
    found = re.search(
        r"\b(?:print|puts|console\.log|echo|say|write)\b\s*\(?\s*(['\"])((?:\\.|"
        r"(?!\1).)*)\1\s*\)?\s*;?\s*\Z",
        text,
    )
    return ansi(found[2]) + "\n" if found else OUT
