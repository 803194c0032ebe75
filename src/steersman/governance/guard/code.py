"""Inline code of other languages: calls that start commands, delete, write, kill or send."""

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.code_editor import given, plain_calls, quoted, spoken
from steersman.governance.guard.code_leaks import fetched, lookups, secrets, serves
from steersman.governance.guard.code_patterns import (
    CHDIR,
    CHR,
    COPIES,
    DELETE,
    DESTROYS,
    ENDS,
    ENVIRONMENT,
    ESCAPES,
    EVAL,
    FORKBOMB,
    HARM,
    HOMES,
    KILL,
    LETTERS,
    LINK,
    LISTED,
    NETWORK,
    ONLY_SAYS,
    PATH_JOIN,
    ROOTISH,
    RUN,
    SHOWN,
    STARTS,
    STRING,
    TEMPORARY,
    WALK,
    WALKER,
    WRITE,
)
from steersman.governance.guard.code_python import rewritten
from steersman.governance.guard.code_services import services
from steersman.governance.guard.code_tcl import rewritten as plain_tcl
from steersman.governance.guard.code_texts import (
    MAKES_LETTERS,
    aliases,
    arguments,
    characters,
    glued,
    joined,
    matching,
    printed,
    spelled,
    strings,
    tilde,
    unpacked,
    with_home,
    with_names,
)
from steersman.governance.guard.code_values import TooMuchError
from steersman.governance.guard.effects import payload
from steersman.governance.guard.expand import ansi
from steersman.governance.guard.links import link
from steersman.governance.guard.marks import UNKNOWN, UNSET, globbed, live, shown, unknown
from steersman.governance.guard.paths import OWN, absolute
from steersman.governance.guard.scene import ASK, BLOCK, BREAK

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell


# Languages in which quotes do not always make a text.
UNQUOTED = frozenset(("lisp", "editor", "gdb", "osa", "cmd", "powershell", "sql"))
_NAMED = frozenset(
    ("perl", "ruby", "php", "node", "lua", "go", "rust", "java", "swift", "nim", "editor")
)


def scan(shell: "Shell", code: str, language: str, depth: int = 0) -> str:
    """Judge code by its literal calls; the answer is text it would print, when that is plain."""
    shell.scene.plain = False
    home = shell.scene.place.home
    if language == "editor":
        code, others = spoken(code)
        _inside(shell, others, depth)
    known = _read(shell, code, language)
    text = _worded(with_home(code, home) if known is None else known, language, home)
    shell = _moved(shell, text)
    _links(shell, text)
    name = language.capitalize()
    if KILL.search(text) or KILL.search(code):
        shell.scene.note(BREAK, "kill.everything", f"{name} code kills every process.")
    if FORKBOMB.search(text) or FORKBOMB.search(code):
        shell.scene.note(BREAK, "forkbomb.code", f"{name} code starts processes without limit.")
    found = ROOTISH.search(text) or (LISTED.search(text) if "|" in text else None)
    if found:
        shell.scene.note(
            BREAK, "fs.root", f"Code deletes {shown(found[1])} and everything below it."
        )
    if language in ("powershell", "cmd") and payload(text):
        shell.scene.note(BLOCK, "code.harm", f"Code contains a harmful command: {shown(text, 60)}.")
    lookups(shell, text)
    whole = text if known is None else f"{code}\n{text}"
    fetched(shell, whole if language == "tcl" else text, quoted=language not in UNQUOTED)
    services(shell, whole)
    serves(shell, text)
    _runs(shell, text, language)
    walks = known is None and _walks(shell, text)
    _deletes(shell, text, language, unclear=not walks)
    secrets(shell, text)
    _writes(shell, text)
    _evals(shell, text, language, depth)
    if language in ("editor", "lua", "python"):
        _gives(shell, text, language, depth)
    _suspicion(shell, text, language)
    return printed(text, language)


def _worded(text: str, language: str, home: str) -> str:
    """Code in the words that are looked for: homes, names and joined texts put in plainly."""
    text = HOMES.sub(lambda found: "'" + home + (found["t"] or "") + "'", text)
    text = ENVIRONMENT.sub(f"'{UNSET}'", text)
    text = CHR.sub(characters, text)
    text = LETTERS.sub(
        lambda found: f"'{spelled(found[0])[-1]}'" if spelled(found[0]) else found[0], text
    )
    if language == "node":
        text = matching(text)
    elif language == "m4":
        text = text.replace("`", "'")
    elif language == "lua":
        text = re.sub(r"(?<=['\")\w])\s*\.\.\s*(?=['\"\w])", " + ", quoted(text))
    elif language == "awk":
        text = re.sub(r"(['\"])\s+(?=\")", r"\1 + ", with_names(text))
    text = glued(text)
    text = PATH_JOIN.sub(joined, text)
    text = aliases(text)
    if language in _NAMED:
        text = glued(with_names(text))
    if language in ("editor", "lua"):
        text = plain_calls(text, language)
    return text


def _inside(shell: "Shell", parts: list[tuple[str, str]], depth: int) -> None:
    """Code inside code, each part in its own language."""
    for language, code in parts if depth < 4 else ():
        scan(shell, code, language, depth + 1)


def _gives(shell: "Shell", text: str, language: str, depth: int) -> None:
    """What code gives to an editor to run."""
    parts, hidden = given(text, language)
    _inside(shell, parts, depth)
    if hidden:
        _runs_code(shell, text)


def _read(shell: "Shell", code: str, language: str) -> str | None:
    """Code of a language that has a reader of its own, as that reader says it."""
    home = shell.scene.place.home
    if language == "tcl":
        return plain_tcl(code, home)
    try:
        return rewritten(code, home, shell.cwd) if language == "python" else None
    except TooMuchError:
        shell.scene.too_complex("its Python code is too long")
        return None


def _moved(shell: "Shell", text: str) -> "Shell":
    """The shell as it is after the code has changed its folder."""
    found = CHDIR.search(text)
    if found is None:
        return shell
    moved = shell.copy()
    home = shell.scene.place.home
    moved.cwd = absolute(tilde(shell, found["to"] or home), shell.cwd, home)
    return moved


def _links(shell: "Shell", text: str) -> None:
    """Links the code makes."""
    for found in LINK.finditer(text):
        words = [tilde(shell, word) for word in strings(arguments(text, found.end()))]
        if len(words) > 1:
            link(ProgramCall(["link", *words], shell, None), words[0], words[1])


def _runs(shell: "Shell", text: str, language: str) -> None:
    spans = [found.span() for found in STRING.finditer(text)] if language not in UNQUOTED else []
    for found in RUN.finditer(text):
        if any(start < found.start() < end for start, end in spans):
            continue
        if language == "python" and found[0] in ("exec", "compile"):
            continue
        inside = arguments(text, found.end())
        if found[0] == "Command::new":
            inside = text[found.end() :].partition(";")[0].replace(").arg", ", ")
        words = strings(inside)
        if found[0] in ("qx", "$`"):
            words = strings(found[0] + inside)
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
        shell.scene.note(
            ASK, "code.hidden", "Code starts a command that it builds from character codes."
        )
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
        line = words if name == "Process.Start" else [_quote(word) for word in words]
        inner.script(" ".join(line))
        if " " not in words[0]:
            return
    inner.script(words[0])
    if len(words) > 1 and " " in words[-1]:
        inner.script(words[-1])


def _quote(word: str) -> str:
    return word if re.fullmatch(r"[\w./~*$-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _suspicion(shell: "Shell", text: str, language: str) -> None:
    """Nothing certain was found, but a harmful command or path is in code that might use it."""
    worst = shell.scene.worst
    if worst is not None and worst.level >= ASK:
        return
    if SHOWN.match(text) or ONLY_SAYS.match(text):
        return
    calm = language in ("python", "node", "ruby", "perl", "php", "awk", "lua", "c")
    for word in strings(text):
        if (
            HARM.match(word)
            and (not calm or STARTS.search(text.replace(word, "")))
            and (not re.match(r"\s*(?:print|puts|console\.log|echo|say|cat)\b", text))
        ):
            shell.scene.note(
                ASK if calm else BLOCK,
                "code.harm",
                f"Code contains a harmful command: {shown(word, 60)}.",
            )
        elif re.match(
            r"/(?:\Z|etc|usr|home|bin|boot|var|lib|root|dev/sd)|~\Z", word
        ) and ENDS.search(text):
            call = ProgramCall(["code", word], shell, None)
            if call.zone(tilde(shell, word)).name in ("ROOT", "TOP", "SYSTEM", "HOME", "DEVICE"):
                shell.scene.note(
                    ASK if calm else BLOCK, "code.harm", f"Code may change {shown(word, 60)}."
                )


def _deletes(shell: "Shell", text: str, language: str, *, unclear: bool) -> None:
    """What is deleted; `unclear` when nothing else says where paths come from."""
    spans = [found.span() for found in STRING.finditer(text)]
    for found in DELETE.finditer(text):
        name = found[0]
        quoted = any(start < found.start() < end for start, end in spans)
        if quoted and language == "tcl":
            continue
        inside = arguments(text, found.end())
        if name.startswith((".unlink", ".rmdir", "Path(")):
            before = re.search(
                r"Path\(\s*['\"]([^'\"]+)['\"]\s*\)\s*\.\s*(?:unlink|rmdir|rename)", text
            )
            words = [before[1]] if before else []
        else:
            words = strings(inside)
            if not words and language == "powershell":
                words = [w for w in inside.split() if not w.startswith("-")]
        call = ProgramCall([name.split("(")[0], *words], shell.copy(), None)
        many = re.search(
            r"(?i)rmtree|rm_r|rmSync|rimraf|recursive|RemoveAll|remove_dir_all|remove_tree|"
            r"removedirs|rename|replace|delete-directory|del_dir_r|Path\(|remove_entry|Remove-Item|"
            r"emptyDir|fs\.rm|\brd\b|removePath|delete(?:Dir|Tree)|file delete|move|rm\b|"
            r",\s*['\"]s['\"]",
            name + inside,
        )
        for word in words[:6]:
            word = tilde(shell, word)
            if (globbed(word) or unknown(word) or re.search(r"[/~.\w]", word)) and not re.fullmatch(
                r"[\d\s]+|true|force|base64|utf-?8", word
            ):
                call.delete(word, recursive=bool(many) or word.rstrip("/") in ("", "~"))
        call.done()
        if (
            not words
            and ((unclear and not quoted) or many)
            and re.search(r"[A-Za-z_$@]", inside)
            and not name.startswith("Path(")
            and not TEMPORARY.search(inside)
        ):
            call.doubt("code.deletes", "deletes paths that are not known from the text")


def _walks(shell: "Shell", text: str) -> bool:
    """A walk over a tree with a deletion in the same code deletes the tree; with a connection it
    sends it. True when there is a walk whose root is known."""
    roots = [found["root"] for found in WALK.finditer(text)]
    if not roots and WALKER.search(text) and shell.scene.place.home in strings(text):
        roots.append(shell.scene.place.home)
    roots += [found[1] for found in re.finditer(r"<(~[^>\n]*|/[^>\n]*\*[^>\n]*)>", text)]
    for root in roots if NETWORK.search(text) else ():
        call = ProgramCall(["send", root], shell.copy(), None)
        if call.zone(tilde(shell, root)) not in OWN:
            shell.scene.note(BLOCK, "exfil.code", f"Code sends the files below {shown(root)}.")
    for root in roots if DESTROYS.search(text) else ():
        ProgramCall(["delete", root], shell.copy(), None).delete(live(tilde(shell, root)))
    for found in re.finditer(r"\bdelete\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]rf", text):
        ProgramCall(["delete", found[1]], shell.copy(), None).delete(tilde(shell, found[1]))
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
            words = strings(groups["rest"])
            copies = re.match(COPIES, found[0])
            target = (words[-1] if copies else words[0]) if words else None
        if target and globbed(target):
            ProgramCall(["overwrite", target], shell.copy(), None).delete(tilde(shell, target))
        elif target and not UNKNOWN.search(target):
            call = ProgramCall(["write", target], shell.copy(), None)
            call.write(
                tilde(shell, target.strip()),
                "\n".join(strings(text[found.end() :])[:4]),
                append="a" in (groups["m"] or ""),
            )
            call.done()


def _evals(shell: "Shell", text: str, language: str, depth: int) -> None:
    if (
        not EVAL.search(text) and not re.search(r"system|popen|subprocess|\|\s*sh|exec|`", text)
    ) or depth > 3:
        return
    texts = [made for word in strings(text) for made in unpacked(word, text)]
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
        r"\b(?:exec|eval|execfile|loadstring|pickle\.loads|Function|vm\.run\w+)\b\s*\(\s*(?!['\")])",
        text,
    ) and language in ("python", "node", "ruby", "perl", "php", "lua", "tcl"):
        _runs_code(shell, text)


def _runs_code(shell: "Shell", text: str) -> None:
    if not re.search(r"literal_eval|model\.eval\(\)|\.eval\(|re\.compile", text):
        shell.scene.note(
            ASK, "code.unknown", "Code runs other code that is not known from the text."
        )
