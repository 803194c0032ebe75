"""A shell read, not run: variables, folders, functions, pipes and redirects over the tree."""

import re
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

from tree_sitter import Language, Node, Parser

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.dispatch import run_words
from steersman.governance.guard.effects import payload
from steersman.governance.guard.expand import MAX_WORDS, QUOTES, one_word, raw_word, words_of
from steersman.governance.guard.forks import alternatives
from steersman.governance.guard.marks import NEXT, OUT, RANDOM, SPLIT, blur, literal, unknown
from steersman.governance.guard.options import listed
from steersman.governance.guard.redirects import lost_dash, read_redirects, write_sinks
from steersman.governance.guard.scene import ASK, BLOCK, BREAK, MAX_DEPTH, Scene
from steersman.governance.guard.variables import check_assignment
from steersman.governance.guard.visitors import VISITORS, tears, unnested
from steersman.records.patterns import pattern

_FAR = pattern("[\U00010000-\U0010ffff]")


def _grammar() -> object:
    """The grammar of bash alone: its package also imports what reads queries nobody asks for."""
    package = find_spec("tree_sitter_bash")
    assert package is not None
    found = PathFinder.find_spec("_binding", package.submodule_search_locations)
    assert found is not None
    assert found.loader is not None
    binding = module_from_spec(found)
    found.loader.exec_module(binding)
    grammar: object = binding.language()
    return grammar


_PARSER = Parser(Language(_grammar()))
_PLAIN_KINDS = frozenset(
    listed(
        """program list pipeline command command_name word string raw_string string_content number
        concatenation redirected_statement file_redirect file_descriptor comment
        negated_command herestring_redirect"""
    )
)
_CHANGES_SHELL = frozenset(
    listed(
        """cd pushd popd chdir eval source . read mapfile readarray export declare typeset local set
        shift alias unset printf builtin command trap hash"""
    )
)
_HEREDOC_FIRST = pattern(
    r"(<<-?[ \t]*(?:'\w+'|\"\w+\"|\\?\w+))((?:[ \t]+\d*>{1,2}(?:&\d|[ \t]*[\w./-]+))+)(?=[ \t]*\|)"
)
_BACKSLASH_FIRST = pattern(
    r"(<<-?[ \t]*(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s'\"<>|;&()]+)[^\n]*\n(?:[ \t]*\n)*)(?=\\)"
)
_BACKTICK = pattern(r"(?<!\\)`")
_UNESCAPE = pattern(r"\\([`$\\])")
_KEYED = pattern(r"\[[\"']?([^\]\"']+)[\"']?\]=(.*)\Z", re.DOTALL)
_SUBSTITUTION = pattern(r"\$\(|`|<\(")
_RESTARTS = pattern(r"(?:\A|[;&|\n(])\s*(?:\./|exec\s+|bash\s+)?\"?\$(?:0|BASH_SOURCE)\"?\s*[&|]")
Value = str | list[str]


def parse(text: str) -> Node:
    """The syntax tree of a script.

    The grammar's own scanner asks C whether a letter is a digit, and C looks that up in a table
    which letters far beyond it are outside of: such a letter could end the whole program.
    """
    nearer = _FAR.sub("\xff", text)
    return _PARSER.parse(nearer.encode("utf-8", "replace")).root_node


def _parsed(text: str) -> tuple[str, Node]:
    """A script and its tree. The grammar stumbles over `<<E 2>&1 |`, which is `2>&1 <<E |`, and
    takes a here-document's first line for words of the command when a backslash begins it."""
    if "<<" in text and "\\" in text:
        text = _BACKSLASH_FIRST.sub(r"\1 ", text)
    root = parse(text)
    if root.has_error and "<<" in text:
        moved = _HEREDOC_FIRST.sub(r"\2 \1", text)
        other = parse(moved)
        if not other.has_error:
            return moved, other
    return text, root


class Shell:
    """The state of one (sub)shell while its script is read."""

    def __init__(self, scene: Scene, cwd: str) -> None:
        self.scene = scene
        self.cwd = cwd
        self.before = cwd
        self.variables: dict[str, Value] = {}
        self.arguments: list[str] = []
        self.functions: dict[str, Node] = {}
        self.aliases: dict[str, str] = {}
        self.depth = 0
        self.via: tuple[str, ...] = ()
        self.stdin: str | None = None
        self.calling: tuple[str, ...] = ()
        self.loop = 0
        self.root = False
        self.forks: dict[str, list[Value]] = {}

    def copy(self) -> "Shell":
        """A subshell: what it changes stays inside."""
        other = Shell(self.scene, self.cwd)
        other.before = self.before
        other.variables = dict(self.variables)
        other.arguments = self.arguments
        other.functions = dict(self.functions)
        other.aliases = dict(self.aliases)
        other.depth, other.via, other.stdin = self.depth, self.via, self.stdin
        other.calling, other.loop = self.calling, self.loop
        other.root = self.root
        other.forks = dict(self.forks)
        return other

    def value(self, name: str) -> Value | None:
        """A variable's value; None when it cannot be known."""
        if name in self.variables:
            return self.variables[name]
        if name in ("@", "*"):
            return self.arguments
        if name.isdigit() and name != "0":
            at = int(name) - 1
            return self.arguments[at] if 0 <= at < len(self.arguments) else None
        return self._standard(name)

    def _standard(self, name: str) -> str | None:
        place = self.scene.place
        home = place.home
        known = {
            "HOME": home,
            "PWD": self.cwd,
            "OLDPWD": self.before,
            "USER": home.rsplit("/", 1)[-1],
            "LOGNAME": home.rsplit("/", 1)[-1],
            "TMPDIR": "/tmp",
            "IFS": " \t\n",
            "SHELL": "/bin/bash",
            "BASH": "/bin/bash",
            "0": "bash",
        }
        if name in ("USER", "LOGNAME"):
            self.scene.printed.add(known[name])
        if name in known:
            return known[name]
        if name == "!":
            return "%1"
        if name in ("$", "PPID", "BASHPID", "UID", "EUID", "RANDOM"):
            return "4242"
        return "1" if name in ("?", "#", "-", "LINENO", "SECONDS", "_") else None

    # ---- scripts

    def script(self, text: str, *, level: int = ASK) -> str:
        """Read a script in this shell; the answer is what it would print."""
        if self.depth >= MAX_DEPTH:
            self.scene.too_complex("it is nested too deeply")
            return OUT
        self.depth += 1
        text = text.replace(SPLIT, " ").replace(NEXT, " ")
        text, root = _parsed(literal(text))
        if _RESTARTS.search(text):
            self.scene.note(BREAK, "forkbomb.script", "The script starts itself again and again.")
        if root.has_error:
            self.scene.plain = False
            self.scene.note(
                level,
                "shape.syntax",
                "The command cannot be read as bash with certainty.",
                "Write it in plain, portable shell syntax.",
            )
        made = self.visit(root, None)
        if root.has_error:
            self._pieces(text)
        self.depth -= 1
        return made

    def _pieces(self, text: str) -> None:
        """A broken tree may hide commands: read every piece between separators by itself."""
        quoted = [a or b for a, b in re.findall(r"'([^']{4,})'|\"([^\"]{4,})\"", text)][:6]
        loop = re.search(r"\bfor\s+(\w+)\s*\(\s*([^\s)]+)", text)
        if loop:
            self.variables[loop[1]] = loop[2]
        if payload(text):
            self.scene.note(BLOCK, "shape.payload", "The command carries a well-known attack.")
        for target in re.findall(r"(?:<>|>>?\|?)\s*([^\s;&|<>()]+)", text)[:8]:
            call = ProgramCall([":"], self, None)
            call.write(target, "", append=False)
        for part in re.split(r"[;\n&|]+", text)[:40]:
            brace = re.match(r"\s*(?:[\w{(!]+\s+)?\{([\w./,~*-]+,[\w./,~*-]*)\}", part)
            if brace:
                quoted.append(brace[1].replace(",", " "))
        for piece in (
            quoted
            + re.split(r"[;\n&|{}]+|\$?\(\(?|\)|`|<<-?\s*\S*|\b\d*[<>]&-|\A[-=]\s*", text)[:40]
        ):
            piece = piece.strip().lstrip("=-0123456789<>& ")
            piece = re.sub(r"\A\{([\w./,~-]+)\}\Z", lambda m: m[1].replace(",", " "), piece)
            if piece and piece != text.strip():
                root = parse(piece)
                if not root.has_error:
                    self.copy().visit(root, None)

    def visit(self, node: Node, stdin: str | None) -> str:
        """Read one node; the answer is its output."""
        kind = node.type
        if kind not in _PLAIN_KINDS:
            self.scene.plain = False
        if not self.scene.continues():
            return OUT
        visitor = VISITORS.get(kind)
        if visitor is not None:
            return visitor(self, node, stdin)
        return self.each(node, stdin)

    def each(self, node: Node, stdin: str | None) -> str:
        made = ""
        for child in node.named_children:
            made += self.visit(child, stdin)
        return made

    def visit_inside(self, node: Node) -> None:
        """Commands hidden in a place that is not a command: arithmetic, subscripts, patterns."""
        self.scene.plain = False
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                self.substitute(child)
            else:
                self.visit_inside(child)

    def substitute(self, node: Node) -> str:
        """The output of `$(…)` or backticks."""
        self.scene.plain = False
        source = (node.text or b"").decode("utf-8", "replace")
        inner = self.copy()
        inner.depth += 1
        if inner.depth > MAX_DEPTH:
            self.scene.too_complex("it is nested too deeply")
            return OUT
        if source.startswith("$(<"):
            target = node.named_children[0] if node.named_children else None
            if target is not None and target.type == "file_redirect":
                call = ProgramCall(["cat"], inner, None)
                call.read(one_word(target.child_by_field_name("destination"), inner))
                call.done()
                return call.out
        if source.startswith("`"):
            parts = _BACKTICK.split(source)
            parts[1::2] = [inner.script(_UNESCAPE.sub(r"\1", part)) for part in parts[1::2]]
            self.scene.printed.update(part.strip() for part in parts[1::2])
            return self.scene.fit("".join(parts))
        made = self.scene.fit(inner.each(node, None))
        self.scene.printed.add(made.strip())
        if RANDOM in made:
            self.scene.note(BREAK, "exhaust.memory", "An endless output is gathered into one word.")
        return made

    def process(self, node: Node) -> str:
        """A `<(…)` or `>(…)`: a file whose content is the output."""
        self.scene.plain = False
        inner = self.copy()
        made = self.scene.fit(inner.each(node, OUT))
        path = f"/dev/fd/{60 + len(self.scene.files)}"
        self.scene.files[path] = made
        return path

    def reveal(self, value: Value | None) -> None:
        """Text that a builtin evaluates again: what it substitutes is run."""
        self.scene.plain = False
        text = value if isinstance(value, str) else ""
        if value is None or unknown(text):
            self.scene.note(ASK, "expand.again", "An unknown value is expanded a second time.")
        elif _SUBSTITUTION.search(text):
            self.scene.note(ASK, "expand.again", "Text is expanded a second time as shell code.")
            self.copy().script('echo "' + text.replace('"', '\\"') + '"')

    # ---- commands

    def run(self, words: list[str], stdin: str | None) -> str:
        """Read one command whose words are already expanded."""
        return run_words(words, self, stdin, [], [])

    def command(self, node: Node, stdin: str | None) -> str:
        """One simple command with its assignments and redirects."""
        words, assigns, redirects = self.split(node)
        return self.simple(words, assigns, redirects, stdin)

    def split(self, node: Node | None) -> tuple[list[Node], list[Node], list[Node]]:
        """The words, assignments and redirects of a command node."""
        words: list[Node] = []
        assigns: list[Node] = []
        redirects: list[Node] = []
        torn = node is not None and b"\n" in (node.text or b"")
        end = node.start_byte if node is not None else 0
        for child in node.children if node is not None else ():
            kind = child.type
            if torn and words and tears(node, end, child):
                self.scene.plain = False
                self.simple(words, assigns, redirects, None)
                words, assigns, redirects = [], [], []
            end = child.end_byte
            if kind == "command_name":
                words += child.named_children or [child]
            elif kind == "variable_assignment":
                assigns.append(child)
            elif kind.endswith("_redirect"):
                redirects.append(child)
            elif kind == "subshell":
                self.scene.plain = False
                self.scene.note(ASK, "shape.syntax", "A group appears where a word is expected.")
                self.visit(child, None)
            elif (child.is_named and kind != "comment") or kind in ("==", "=~", "$"):
                words.append(child)
        redirects, more = unnested(redirects)
        return words + more, assigns, redirects

    def simple(
        self, words: list[Node], assigns: list[Node], redirects: list[Node], stdin: str | None
    ) -> str:
        """Expand, redirect, and hand the words to their program."""
        if self.forks:
            made = self._forked(words, assigns, redirects, stdin)
            if made is not None:
                return made
        given: dict[str, Value] = {}
        for node in assigns:
            self.assign(node, given)
        expanded = words_of(words, self)
        dash = lost_dash(redirects)
        if dash is not None:
            before = [node for node in words if node.start_byte < dash.start_byte]
            expanded = [*words_of(before, self), "-", *words_of(words[len(before) :], self)]
        if not words:
            self.variables.update(given)
        if assigns and words:
            self.scene.plain = False
        for name, value in given.items():
            check_assignment(self, name, value, bool(words))
        streams = read_redirects(self, redirects, stdin)
        if not expanded:
            write_sinks(self, streams.sinks, "")
            self.only_read(streams.reads)
            return ""
        kept = {name: self.variables.get(name) for name in given} if words else {}
        self.variables.update(given)
        made = run_words(expanded, self, streams.stdin, streams.sinks, streams.reads)
        for name, old in kept.items():
            if old is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = old
        return made if streams.printed else ""

    def _forked(
        self, words: list[Node], assigns: list[Node], redirects: list[Node], stdin: str | None
    ) -> str | None:
        """Read a command for each value its variables may have; None when it is to be read once
        more here, for what it does to this shell."""
        made = None
        for other in alternatives(self, words + assigns + redirects):
            made = other.simple(words, assigns, redirects, stdin)
        again = not words or (words[0].text or b"").decode() in _CHANGES_SHELL
        return None if again else made

    def assign(self, node: Node, into: dict[str, Value]) -> None:
        """One assignment."""
        name_node = node.child_by_field_name("name")
        value_node = node.child_by_field_name("value")
        name = (name_node.text or b"").decode() if name_node else ""
        if name_node is not None and name_node.type == "subscript":
            self.visit_inside(name_node)
            name, _, index = name.partition("[")
            return self._element(name, index.rstrip("]"), value_node, into)
        value: Value
        if value_node is not None and value_node.type == "array":
            value = [self._keyed(name, item, into) for item in self._items(value_node)]
        else:
            value = one_word(value_node, self)
        operator = (node.text or b"")[len(name) : len(name) + 2]
        if operator == b"+=":
            old = self.value(name)
            if isinstance(old, list) and isinstance(value, list):
                value = old + value
                if len(value) > MAX_WORDS:
                    self.scene.too_complex("too many words")
                    value = [blur("".join(value))]
            elif isinstance(value, str):
                value = self.scene.fit((old if isinstance(old, str) else "") + value)
        into[name] = value
        return None

    def _items(self, node: Node) -> list[str]:
        """The words of `(…)`; the grammar keeps `[key]=value` apart."""
        return words_of(node.named_children, self)

    def _keyed(self, name: str, item: str, into: dict[str, Value]) -> str:
        """`[key]=value` in an array: the value, remembered under its key too."""
        found = _KEYED.match(literal(item))
        if found is None:
            return item
        into[f"{name}[{found[1]}]"] = found[2]
        return found[2]

    def _element(self, name: str, index: str, node: Node | None, into: dict[str, Value]) -> None:
        """`a[2]=x`: one element of an array."""
        old = into.get(name, self.variables.get(name))
        items = list(old) if isinstance(old, list) else []
        at = int(index) if index.isdigit() and int(index) < 100 else len(items)
        items += [""] * (at + 1 - len(items))
        items[at] = one_word(node, self)
        into[f"{name}[{index.strip(QUOTES)}]"] = items[at]
        into[name] = items

    def only_read(self, paths: list[str]) -> None:
        """Files that a redirect opens for a group of commands, or for none."""
        if paths:
            call = ProgramCall(["<", *paths], self, None)
            for path in paths:
                call.saw(path)
            call.done()

    def heredoc(self, node: Node) -> str:
        """The text of a here-document."""
        start = next((c for c in node.children if c.type == "heredoc_start"), None)
        body = next((c for c in node.children if c.type == "heredoc_body"), None)
        if body is None:
            return ""
        mark = (start.text or b"").decode() if start else ""
        if "'" in mark or '"' in mark or "\\" in mark:
            return (body.text or b"").decode("utf-8", "replace")
        if not any(child.type == "command_substitution" for child in body.named_children):
            text = (body.text or b"").decode("utf-8", "replace")
            if re.search(r"(?<!\\)(?:\$\(|`)", text):
                self.reveal(text)
        return raw_word(body, self, True)
