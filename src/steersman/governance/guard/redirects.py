"""What the redirects of a command open, and where its output goes when all of them are done."""

from typing import TYPE_CHECKING, NamedTuple

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.expand import one_word
from steersman.governance.guard.marks import NET
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from tree_sitter import Node

    from steersman.governance.guard.shell import Shell

Sinks = list[tuple[str, bool]]
_OUTPUT = pattern(r"/dev/(?:stdout|stderr|tty)|/(?:dev|proc/(?:self|thread-self|\$\$|\d+))/fd/\d+")
_NAMED = pattern(r"(?:\A|\s)\{\w+\}\Z")
_SOCKETS = ("/dev/tcp", "/dev/udp")
_BOTH = ("&>", "&>>", ">&")


def lost_dash(redirects: "list[Node]") -> "Node | None":
    """The here-document whose `-` before it the grammar has dropped: `make -f - <<X`."""
    for node in redirects:
        if node.type != "heredoc_redirect":
            continue
        before, parent = node.prev_sibling, node.parent
        if before is not None and parent is not None:
            start = parent.start_byte
            gap = (parent.text or b"")[before.end_byte - start : node.start_byte - start]
            if gap.strip() == b"-":
                return node
    return None


class Streams(NamedTuple):
    """What is fed in, which files are written (and whether appended to) and read, and whether the
    output still goes to where it would go without redirects."""

    stdin: str | None
    sinks: Sinks
    reads: list[str]
    printed: bool


class _Reader:
    def __init__(self, shell: "Shell", stdin: str | None) -> None:
        self.shell = shell
        self.stdin = stdin
        self.sinks: Sinks = []
        self.reads: list[str] = []
        self.printing = {"1"}  # descriptors that lead to the output

    def take(self, node: "Node") -> None:
        if node.type == "herestring_redirect":
            self.stdin = one_word(node.named_children[-1], self.shell) + "\n"
        elif node.type == "heredoc_redirect":
            self.stdin = self.shell.heredoc(node)
        else:
            operator = next((c.type for c in node.children if not c.is_named), ">")
            if operator.endswith("&-"):
                self.printing.discard(_descriptor(node, operator))
            for target in node.children_by_field_name("destination")[:1]:
                self._file(_descriptor(node, operator), operator, one_word(target, self.shell))

    def _file(self, descriptor: str, operator: str, path: str) -> None:
        if operator == "<":
            call = ProgramCall(["<"], self.shell, None)
            call.read(path)
            self.stdin = call.out
            self.reads.append(path)
        elif operator in ("<&", ">&") and (path.rstrip("-").isdigit() or path in ("-", "")):
            self._copy(descriptor, path.rstrip("-"))
        elif operator == "<>" or path.startswith(_SOCKETS):
            self._write(descriptor, operator, path, append=True)
            if path.startswith(_SOCKETS):
                self.stdin = self.shell.scene.files.setdefault(path, NET)
        elif _OUTPUT.fullmatch(path):
            self._copy(descriptor, path.rpartition("/")[2])
        else:
            self._write(descriptor, operator, path, append=operator in (">>", "&>>"))

    def _copy(self, descriptor: str, source: str) -> None:
        """`2>&1`, `>/dev/stdout`: what is printed elsewhere than into a file may come back."""
        if not source:
            self.printing.discard(descriptor)
        elif source not in ("1", "stdout") or "1" in self.printing:
            self.printing.add(descriptor)
        else:
            self.printing.discard(descriptor)

    def _write(self, descriptor: str, operator: str, path: str, *, append: bool) -> None:
        self.sinks.append((path, append))
        self.printing.discard(descriptor)
        if operator in _BOTH:
            self.printing.discard("2")


def read_redirects(shell: "Shell", nodes: list["Node"], stdin: str | None) -> Streams:
    """Follow the redirects of one command from left to right."""
    reader = _Reader(shell, stdin)
    for node in nodes:
        reader.take(node)
    return Streams(reader.stdin, reader.sinks, reader.reads, bool(reader.printing))


def _descriptor(node: "Node", operator: str) -> str:
    """The descriptor a redirect is about; `{name}>x` is one the shell chooses."""
    given = next((c for c in node.children if c.type == "file_descriptor"), None)
    if given is not None:
        return (given.text or b"").decode()
    before = node.prev_sibling
    if (
        before is not None
        and before.end_byte == node.start_byte
        and _NAMED.search((before.text or b"")[-64:].decode("utf-8", "replace"))
    ):
        return "chosen"
    return "0" if operator.startswith("<") else "1"


def write_sinks(shell: "Shell", sinks: Sinks, made: str) -> None:
    """Files that a group, a function or no command at all writes its output to."""
    for path, append in sinks:
        call = ProgramCall([":"], shell, None)
        call.write(path, made, append=append)
        call.done()
