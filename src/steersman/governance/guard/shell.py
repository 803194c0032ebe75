"""A shell read, not run: variables, folders, functions, pipes and redirects "
"over the syntax tree."""

import re
from collections.abc import Callable

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from steersman.governance.guard.call import Call
from steersman.governance.guard.dispatch import run_words
from steersman.governance.guard.effects import payload
from steersman.governance.guard.expand import one_word, raw_word, words_of
from steersman.governance.guard.marks import NEXT, OUT, RANDOM, SPLIT, UNSET, literal, unknown
from steersman.governance.guard.options import listed
from steersman.governance.guard.scene import ASK, BLOCK, BREAK, MAX_DEPTH, Scene
from steersman.governance.guard.variables import check_assignment

_PARSER = Parser(Language(tree_sitter_bash.language()))
_PLAIN_KINDS = frozenset(
    listed(
        """program list pipeline command command_name word string raw_string string_content number
        concatenation redirected_statement file_redirect file_descriptor comment
        negated_command herestring_redirect"""
    )
)
_SUBSTITUTION = re.compile(r"\$\(|`|<\(")
_RESTARTS = re.compile(
    r"(?:\A|[;&|\n(])\s*(?:\./|exec\s+|bash\s+)?\"?\$(?:0|BASH_SOURCE)\"?\s*[&|]"
)
Value = str | list[str]


def parse(text: str) -> Node:
    """The syntax tree of a script."""
    return _PARSER.parse(text.encode("utf-8", "replace")).root_node


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
        self.background = False
        self.root = False

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
        root = parse(literal(text))
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
            call = Call([":"], self, None)
            call.write(target, "", append=False)
        for part in re.split(r"[;\n&|]+", text)[:40]:
            brace = re.match(r"\s*(?:\w+\s+)?\{([\w./,~*-]+,[\w./,~*-]*)\}", part)
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
        visitor = _VISITORS.get(kind)
        if visitor is not None:
            return visitor(self, node, stdin)
        return self._each(node, stdin)

    def _each(self, node: Node, stdin: str | None) -> str:
        made = ""
        for child in node.named_children:
            made += self.visit(child, stdin)
        return made

    def visit_inside(self, node: Node) -> None:
        """Commands hidden in a place that is no command: arithmetic, subscripts, patterns."""
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
                call = Call(["cat"], inner, None)
                call.read(one_word(target.child_by_field_name("destination"), inner))
                call.done()
                return call.out
        if source.startswith("`") and "\\`" in source:
            return inner.script(source[1:-1].replace("\\`", "`"))
        return inner._each(node, None)

    def process(self, node: Node) -> str:
        """A `<(…)` or `>(…)`: a file whose content is the output."""
        self.scene.plain = False
        inner = self.copy()
        made = inner._each(node, OUT)
        path = f"/dev/fd/{60 + len(self.scene.files)}"
        self.scene.files[path] = made
        return path

    def reveal(self, value: Value | None) -> None:
        """Text that a builtin evaluates again: what it substitutes is run."""
        self.scene.plain = False
        text = value if isinstance(value, str) else ""
        if value is None or unknown(text):
            self.scene.note(ASK, "expand.again", "A value nobody knows is expanded a second time.")
        elif _SUBSTITUTION.search(text):
            self.scene.note(ASK, "expand.again", "Text is expanded a second time as shell code.")
            self.copy().script('echo "' + text.replace('"', '\\"') + '"')

    # ---- commands

    def run(self, words: list[str], stdin: str | None) -> str:
        """Read one command whose words are already expanded."""
        return run_words(words, self, stdin, [])

    def command(self, node: Node, stdin: str | None) -> str:
        """One simple command with its assignments and redirects."""
        words, assigns, redirects = self._split(node)
        return self.simple(words, assigns, redirects, stdin)

    def _split(self, node: Node | None) -> tuple[list[Node], list[Node], list[Node]]:
        """The words, assignments and redirects of a command node."""
        words: list[Node] = []
        assigns: list[Node] = []
        redirects: list[Node] = []
        torn = node is not None and b"\n" in (node.text or b"")
        end = node.start_byte if node is not None else 0
        for child in node.children if node is not None else ():
            kind = child.type
            if torn and words and _tears(node, end, child):
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
                self.scene.note(ASK, "shape.syntax", "A group stands where a word should be.")
                self.visit(child, None)
            elif (child.is_named and kind != "comment") or kind in ("==", "=~", "$"):
                words.append(child)
        return words, assigns, redirects

    def simple(
        self, words: list[Node], assigns: list[Node], redirects: list[Node], stdin: str | None
    ) -> str:
        """Expand, redirect, and hand the words to their program."""
        given: dict[str, Value] = {}
        for node in assigns:
            self.assign(node, given)
        expanded = words_of(words, self)
        if not words:
            self.variables.update(given)
        if assigns and words:
            self.scene.plain = False
        for name, value in given.items():
            check_assignment(self, name, value, bool(words))
        feeds, sinks = self.redirects(redirects, stdin)
        if not expanded:
            for path, append in sinks:
                call = Call([":"], self, None)
                call.write(path, "", append=append)
                call.done()
            return ""
        kept = {name: self.variables.get(name) for name in given} if words else {}
        if words:
            self.variables.update(given)
        made = run_words(expanded, self, feeds, sinks)
        for name, value in kept.items():
            if value is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = value
        return "" if sinks else made

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
            value = words_of(value_node.named_children, self)
        else:
            value = one_word(value_node, self)
        operator = (node.text or b"")[len(name) : len(name) + 2]
        if operator == b"+=":
            old = self.value(name)
            if isinstance(old, list) and isinstance(value, list):
                value = old + value
            elif isinstance(value, str):
                value = (old if isinstance(old, str) else "") + value
        into[name] = value
        return None

    def _element(self, name: str, index: str, node: Node | None, into: dict[str, Value]) -> None:
        """`a[2]=x`: one element of an array."""
        old = into.get(name, self.variables.get(name))
        items = list(old) if isinstance(old, list) else []
        at = int(index) if index.isdigit() and int(index) < 100 else len(items)
        items += [""] * (at + 1 - len(items))
        items[at] = one_word(node, self)
        into[name] = items

    def redirects(
        self, nodes: list[Node], stdin: str | None
    ) -> tuple[str | None, list[tuple[str, bool]]]:
        """What the redirects feed in, and the files they open for writing."""
        sinks: list[tuple[str, bool]] = []
        for node in nodes:
            if node.type == "herestring_redirect":
                stdin = one_word(node.named_children[-1], self) + "\n"
                continue
            if node.type == "heredoc_redirect":
                stdin = self.heredoc(node)
                continue
            operator = next((c.type for c in node.children if not c.is_named), ">")
            for target in node.children_by_field_name("destination"):
                path = one_word(target, self)
                if operator == "<":
                    call = Call(["<"], self, None)
                    call.read(path)
                    stdin = call.out
                    call.done(silent=True)
                elif operator in ("<&", ">&", "<&-", ">&-") and (
                    path.isdigit() or path == "-" or not path
                ):
                    continue
                elif operator == "<>" or "/dev/tcp" in path or "/dev/udp" in path:
                    sinks.append((path, True))
                    if path.startswith("/dev/tcp") or path.startswith("/dev/udp"):
                        stdin = self.scene.files.setdefault(path, "\ue004")
                else:
                    sinks.append((path, operator.startswith(">>")))
        return stdin, sinks

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


def _tears(node: Node | None, start: int, child: Node) -> bool:
    """A line's end between two words that the grammar took for one command: it misreads a line
    that begins with a backslash."""
    if node is None or node.text is None:
        return False
    gap = node.text[start - node.start_byte : child.start_byte - node.start_byte]
    return (child.text or b"").startswith(b"\n") or b"\n" in gap.replace(b"\\\n", b"")


# ---- visitors of the tree's kinds


def _command(shell: Shell, node: Node, stdin: str | None) -> str:
    return shell.command(node, stdin if stdin is not None else shell.stdin)


def _redirected(shell: Shell, node: Node, stdin: str | None) -> str:
    body = node.child_by_field_name("body")
    nodes = node.children_by_field_name("redirect")
    made = _with_redirects(shell, body, nodes, stdin)
    for redirect in nodes:
        if redirect.type == "heredoc_redirect":
            made = _after_heredoc(shell, redirect, made)
    return made


def _with_redirects(shell: Shell, body: Node | None, nodes: list[Node], stdin: str | None) -> str:
    """A command with redirects; of a list or a pipeline they belong to the last part."""
    if body is None or body.type == "command":
        words, assigns, inner = shell._split(body)
        feed = stdin if stdin is not None else shell.stdin
        return shell.simple(words, assigns, inner + nodes, feed)
    parts = body.named_children
    if body.type == "list" and len(parts) > 1:
        for part in parts[:-1]:
            shell.visit(part, stdin)
        return _with_redirects(shell, parts[-1], nodes, stdin)
    if body.type == "pipeline" and len(parts) > 1:
        for part in parts[:-1]:
            stdin = shell.copy().visit(part, stdin)
        return _with_redirects(shell.copy(), parts[-1], nodes, stdin)
    feeds, sinks = shell.redirects(nodes, stdin)
    kept, shell.stdin = shell.stdin, feeds if feeds is not None else shell.stdin
    made = shell.visit(body, feeds)
    shell.stdin = kept
    for path, append in sinks:
        call = Call([":"], shell, None)
        call.write(path, made, append=append)
        call.done(silent=True)
    return "" if sinks else made


def _after_heredoc(shell: Shell, node: Node, made: str) -> str:
    for child in node.named_children:
        if child.type == "pipeline":
            made = _pipeline(shell, child, made)
        elif child.type not in (
            "heredoc_start",
            "heredoc_body",
            "heredoc_end",
            "file_descriptor",
            "file_redirect",
            "herestring_redirect",
            "word",
            "string",
            "raw_string",
            "concatenation",
            "simple_expansion",
        ):
            made = shell.visit(child, None)
    return made


def _pipeline(shell: Shell, node: Node, stdin: str | None) -> str:
    flow = stdin
    children = node.named_children
    for child in children:
        inner = shell.copy() if len(children) > 1 or stdin is not None else shell
        flow = inner.visit(child, flow)
    return flow or ""


def _subshell(shell: Shell, node: Node, stdin: str | None) -> str:
    return shell.copy()._each(node, stdin)


def _for(shell: Shell, node: Node, stdin: str | None) -> str:
    name = (node.child_by_field_name("variable").text or b"").decode()  # type: ignore[union-attr]
    values = words_of(node.children_by_field_name("value"), shell)
    body = node.child_by_field_name("body")
    if not node.children_by_field_name("value"):
        values = shell.arguments or [UNSET]
    made = ""
    for value in values[:24] or [OUT]:
        shell.variables[name] = value
        if body is not None:
            made += shell.visit(body, stdin)
    return made


_ENDLESS = ((b":",), (b"true",), (b"1",), (b"((1))",), (b"[ 1 ]",), (b"/bin/true",))


def _while(shell: Shell, node: Node, stdin: str | None) -> str:
    condition = node.children_by_field_name("condition")
    first = (condition[0].text or b"").strip() if condition else b""
    endless = (first,) in _ENDLESS or first in (b"((1))", b"(( 1 ))", b"[[ 1 ]]", b"sleep 0")
    endless = endless or (
        node.children[0].type == "until" and first in (b"false", b"/bin/false", b"! true")
    )
    if endless:
        shell.loop += 1
    for part in condition:
        if part.is_named:
            shell.visit(part, stdin)
    body = node.child_by_field_name("body")
    made = shell.visit(body, stdin) if body is not None else ""
    if (
        endless
        and body is not None
        and re.search(rb"\b(\w+)=\"?\$\{?\1\}?\$\{?\1", body.text or b"")
    ):
        shell.scene.note(
            BREAK, "exhaust.memory", "An endless loop doubles a text until memory is gone."
        )
    if endless:
        if body is not None and _backgrounds(body):
            shell.scene.note(
                BREAK,
                "forkbomb.loop",
                "An endless loop starts background processes without bound.",
                "Start a fixed number of processes and wait for them.",
            )
        shell.loop -= 1
    return made + (RANDOM if endless and made else "")


def _backgrounds(node: Node) -> bool:
    if node.type == "&":
        return True
    return any(_backgrounds(child) for child in node.children)


def _c_for(shell: Shell, node: Node, stdin: str | None) -> str:
    header = (node.text or b"").split(b"do", 1)[0]
    if re.search(rb"\(\(\s*;\s*;", header):
        body = node.child_by_field_name("body")
        if body is not None and _backgrounds(body):
            shell.scene.note(
                BREAK, "forkbomb.loop", "An endless loop starts background processes without bound."
            )
    for child in node.named_children:
        if child.type in ("do_group", "compound_statement"):
            shell.visit(child, stdin)
        else:
            shell.visit_inside(child)
    return OUT


def _branches(shell: Shell, node: Node, stdin: str | None) -> str:
    made = ""
    for child in node.named_children:
        before = dict(shell.variables)
        made += shell.visit(child, stdin)
        if child.type in ("elif_clause", "else_clause"):
            for name, value in before.items():
                if shell.variables.get(name) != value and child.type == "else_clause":
                    shell.variables.setdefault(name, value)
    return made


def _case(shell: Shell, node: Node, stdin: str | None) -> str:
    made = ""
    value = node.child_by_field_name("value")
    if value is not None:
        one_word(value, shell)
    for item in node.named_children:
        if item.type != "case_item":
            continue
        for child in item.named_children:
            if child in item.children_by_field_name("value"):
                raw_word(child, shell)
            else:
                made += shell.visit(child, stdin)
    return made


def _function(shell: Shell, node: Node, stdin: str | None) -> str:
    name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name_node is None or body is None:
        return ""
    name = (name_node.text or b"").decode()
    shell.functions[name] = body
    calls = _calls(body, name_node.text or b"")
    if calls and (_backgrounds(body) or calls > 1 or b"|" in (body.text or b"")):
        shell.scene.note(
            BREAK,
            "forkbomb.function",
            f"The function {name} starts copies of itself without end.",
            "Do not start processes recursively.",
        )
        return ""
    inner = shell.copy()
    inner.calling = (*inner.calling, name)
    inner.depth += 1
    if inner.depth <= MAX_DEPTH:
        inner.visit(body, stdin)
    return ""


def _calls(node: Node, name: bytes) -> int:
    count = 1 if node.type == "command_name" and node.text == name else 0
    return count + sum(_calls(child, name) for child in node.named_children)


def _assignment(shell: Shell, node: Node, stdin: str | None) -> str:
    given: dict[str, Value] = {}
    shell.assign(node, given)
    shell.variables.update(given)
    for name, value in given.items():
        check_assignment(shell, name, value, False)
    return ""


def _declaration(shell: Shell, node: Node, stdin: str | None) -> str:
    text = (node.text or b"").decode("utf-8", "replace")
    words = [text.split(None, 1)[0]]
    reference = False
    for child in node.named_children:
        if child.type == "variable_assignment":
            given: dict[str, Value] = {}
            shell.assign(child, given)
            if reference:
                _refer(shell, given)
            shell.variables.update(given)
            for name, value in given.items():
                check_assignment(shell, name, value, True)
                words.append(name + "=" + (value if isinstance(value, str) else "…"))
        else:
            more = words_of([child], shell)
            reference = reference or any(re.match(r"-\w*n", word) for word in more)
            words += more
    call = Call(words, shell, stdin)
    call.out = "\ue003" if len(words) == 1 or words[1:] == ["-p"] else ""
    call.done()
    return call.out


def _refer(shell: Shell, given: dict[str, Value]) -> None:
    """`declare -n a=b`: from now on `$a` is what `$b` is."""
    for name, other in given.items():
        value = shell.value(other) if isinstance(other, str) else None
        given[name] = UNSET if value is None else value


def _unset(shell: Shell, node: Node, stdin: str | None) -> str:
    for word in words_of(node.named_children, shell):
        if _SUBSTITUTION.search(word):
            shell.reveal(word)
        shell.variables.pop(word, None)
    return ""


def _test(shell: Shell, node: Node, stdin: str | None) -> str:
    plain = shell.scene.plain
    for child in node.named_children:
        _test_part(shell, child)
    shell.scene.plain = plain and (node.text or b"").startswith(b"[ ")
    shell.scene.plain = False
    return ""


def _test_part(shell: Shell, node: Node) -> None:
    if node.type.endswith("_expression"):
        for child in node.named_children:
            _test_part(shell, child)
        return
    if node.type in {"raw_string", "string"}:
        text = raw_word(node, shell, True)
        if node.type == "raw_string" and re.search(r"\w\[.*(\$\(|`)", text):
            shell.reveal(text)
        return
    words_of([node], shell)


def _heredoc_alone(shell: Shell, node: Node, stdin: str | None) -> str:
    return _after_heredoc(shell, node, shell.heredoc(node))


def _silent(shell: Shell, node: Node, stdin: str | None) -> str:
    return ""


def _expression(shell: Shell, node: Node, stdin: str | None) -> str:
    shell.visit_inside(node)
    return ""


def _substitution(shell: Shell, node: Node, stdin: str | None) -> str:
    return shell.substitute(node)


def _word_alone(shell: Shell, node: Node, stdin: str | None) -> str:
    raw_word(node, shell)
    return ""


def _file_redirect(shell: Shell, node: Node, stdin: str | None) -> str:
    _, sinks = shell.redirects([node], None)
    for path, append in sinks:
        call = Call([":"], shell, None)
        call.write(path, "", append=append)
        call.done(silent=True)
    return ""


def _compound(shell: Shell, node: Node, stdin: str | None) -> str:
    if (node.text or b"").startswith(b"(("):
        shell.visit_inside(node)
        return ""
    return shell._each(node, stdin)


_VISITORS: dict[str, Callable[[Shell, Node, str | None], str]] = {
    "command": _command,
    "redirected_statement": _redirected,
    "pipeline": _pipeline,
    "subshell": _subshell,
    "for_statement": _for,
    "while_statement": _while,
    "c_style_for_statement": _c_for,
    "if_statement": _branches,
    "case_statement": _case,
    "function_definition": _function,
    "variable_assignment": _assignment,
    "declaration_command": _declaration,
    "unset_command": _unset,
    "test_command": _test,
    "heredoc_redirect": _heredoc_alone,
    "comment": _silent,
    "compound_statement": _compound,
    "command_substitution": _substitution,
    "process_substitution": _substitution,
    "file_redirect": _file_redirect,
    "string": _word_alone,
    "raw_string": _silent,
    "word": _silent,
    "number": _silent,
    "concatenation": _word_alone,
    "expansion": _word_alone,
    "simple_expansion": _silent,
    "arithmetic_expansion": _word_alone,
    "subscript": _expression,
    "binary_expression": _expression,
    "unary_expression": _expression,
    "heredoc_body": _silent,
    "heredoc_start": _silent,
    "herestring_redirect": _silent,
}

__all__ = ["Shell", "parse"]
