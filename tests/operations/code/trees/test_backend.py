"""What syntax trees alone can answer: definitions, uses by scope, declarations, syntax errors."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steersman.operations.code.backend import Spot, Target, Unable, Wanted
from steersman.operations.code.index.build import update
from steersman.operations.code.index.store import Index
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.code.trees.backend import TreeBackend
from steersman.operations.workspace import Workspace
from steersman.records.action import Action, Read, Search
from steersman.records.errors import ToolProblem

SHOP = {
    "shop/__init__.py": "from .client import Client, connect\n",
    "shop/client.py": (
        "class Client:\n"
        "    timeout = 5\n"
        "    limit = timeout * 2\n"
        "\n"
        "    def send(self, part):\n"
        "        return self.encode(part)\n"
        "\n"
        "    def encode(self, part):\n"
        "        return part\n"
        "\n"
        "\n"
        "def connect(host):  # connect, they say\n"
        "    def helper(): return host\n"
        "    client = Client()\n"
        "    client.send('connect')\n"
        "    helper()\n"
        "    return client\n"
    ),
    "shop/other.py": "def connect():\n    return 1\n\nconnect()\n",
    "shop/local.py": (
        "from shop.client import connect\n"
        "\n"
        "def shadow(connect):\n"
        "    return connect()\n"
        "\n"
        "def own():\n"
        "    connect = 1\n"
        "    return lambda: connect\n"
        "\n"
        "def real(send=None):\n"
        "    call(connect=1)\n"
        "    return connect('x')\n"
        "\n"
        "def changes():\n"
        "    global connect\n"
        "    connect = None\n"
    ),
    "app.py": "import shop.client as c\n\nc.connect('x')\nthing.connect()\n",
    "unrelated.py": "import sqlite3\nfrom socket import connect\n\nconnect()\nhelper()\n",
    "web.js": "function connect() {}\nconnect();\n",
    "README.md": "# Shop\n\n## How to connect\n",
}


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Files in a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


class Asking:
    """A backend in a folder, with leave to search it or for what is given."""

    def __init__(
        self, folder: Path, *granted: Action, secret: str = "", index: Index | None = None
    ) -> None:
        self.root = os.path.realpath(folder)
        self.workspace = Workspace(self.root, granted or [Search(self.root, "")], secret)
        self.backend = TreeBackend(self.root, index=lambda: index)
        self._bench: Any = SimpleNamespace(workspace=self.workspace)

    def path(self, name: str) -> str:
        """A real path."""
        return os.path.join(self.root, name)

    def overview(self, name: str, depth: int = 0) -> list[Symbol]:
        """The symbols of a file."""
        return asyncio.run(self.backend.overview(self.path(name), depth, self._bench))

    def find(self, name: str, within: str = ".", **more: Any) -> list[Symbol]:
        """Definitions."""
        within = os.path.normpath(self.path(within))
        return asyncio.run(self.backend.find(Wanted(name, within, **more), self._bench))

    def uses(self, name: str, within: str = ".") -> list[Reference]:
        """Uses of the one symbol of that name."""
        (symbol,) = self.find(name, within)
        return asyncio.run(self.backend.references(Target(symbol, self.root), self._bench))

    def declaration(self, name: str, line: int, word: str, column: int = 0) -> list[str]:
        """Where the name in a line is defined, as paths and lines."""
        text = Path(self.path(name)).read_text().splitlines()[line - 1]
        spot = Spot(self.path(name), line, column or text.index(word) + 1, word)
        found = asyncio.run(self.backend.declaration(spot, self._bench))
        return [f"{one.path}:{one.line} {one.name_path}" for one in found]

    def complaints(self, *names: str) -> list[Diagnostic]:
        """What does not parse."""
        paths = tuple(os.path.normpath(self.path(name)) for name in names)
        return asyncio.run(self.backend.diagnostics(paths, self._bench))


@pytest.fixture
def shop(tmp_path: Path) -> Asking:
    """The shop, with leave to search all of it."""
    return Asking(plant(tmp_path, SHOP))


def places(uses: list[Reference]) -> list[str]:
    """Uses as a person writes them."""
    return [f"{use.path}:{use.line}:{use.column}" for use in uses]


class TestFind:
    """Definitions by name."""

    @pytest.mark.parametrize(
        ("name", "found"),
        [
            ("send", ["Client/send"]),
            ("Client/send", ["Client/send"]),
            ("/Client/send", ["Client/send"]),
            ("/send", []),
            ("Other/send", []),
            ("nobody", []),
            ("send[0]", ["Client/send"]),
        ],
    )
    def test_by_name_and_by_path(self, shop: Asking, name: str, found: list[str]) -> None:
        assert [one.name_path for one in shop.find(name)] == found

    def test_by_a_part_of_the_name_in_one_folder_by_kind(self, shop: Asking) -> None:
        found = shop.find("on", "shop", substring=True, kinds=("function",))
        assert [(one.path, one.name) for one in found] == [
            ("shop/client.py", "connect"),
            ("shop/other.py", "connect"),
        ]

    def test_every_language_is_looked_through(self, shop: Asking) -> None:
        paths = [one.path for one in shop.find("connect", substring=True)]
        assert paths == ["README.md", "shop/client.py", "shop/other.py", "web.js"]

    def test_with_members_to_a_depth(self, shop: Asking) -> None:
        (alone,) = shop.find("Client")
        assert alone.children == ()
        (whole,) = shop.find("Client", depth=1)
        names = [child.name for child in whole.children]
        assert names == ["timeout", "limit", "send", "encode"]

    def test_with_its_text(self, tmp_path: Path) -> None:
        text = (
            "import x\n\n@cached\n@other(1)\ndef f():\n    return 1\n\n"
            "class A:\n    @property\n    def p(self): return 2\n"
        )
        asking = Asking(
            plant(tmp_path, {"a.py": text, "b.ts": "export const y = 1, z = () => 2;\n"})
        )
        assert asking.find("f", body=True)[0].body == "@cached\n@other(1)\ndef f():\n    return 1"
        assert asking.find("p", body=True)[0].body == "    @property\n    def p(self): return 2"
        assert asking.find("z", body=True)[0].body == "export const y = 1, z = () => 2;"

    def test_no_more_than_wanted(self, shop: Asking) -> None:
        assert len(shop.find("connect", most=1)) == 1


class TestUses:
    """Uses of a definition, told by scopes and imports."""

    def test_of_a_function(self, shop: Asking) -> None:
        assert places(shop.uses("connect", "shop/client.py")) == [
            "app.py:3:3",
            "shop/__init__.py:1:29",
            "shop/local.py:1:25",
            "shop/local.py:12:12",
            "shop/local.py:15:12",
            "shop/local.py:16:5",
        ]

    def test_of_one_that_another_file_has_for_itself(self, shop: Asking) -> None:
        own, *rest = places(shop.uses("connect", "shop/other.py"))
        assert own == "shop/other.py:4:1"
        assert not {use for use in rest if use.startswith(("shop/client.py", "unrelated.py"))}

    def test_each_says_what_it_is_used_in(self, shop: Asking) -> None:
        (use,) = [use for use in shop.uses("connect", "shop/client.py") if use.line == 12]
        wanted = Reference("shop/local.py", 12, 12, "return connect('x')", "real")
        assert use == wanted

    def test_of_a_method_only_with_an_owner(self, shop: Asking) -> None:
        assert places(shop.uses("send")) == ["shop/client.py:15:12"]
        assert places(shop.uses("encode")) == ["shop/client.py:6:21"]

    def test_of_a_field_in_the_class_body(self, shop: Asking) -> None:
        assert places(shop.uses("timeout")) == ["shop/client.py:3:13"]

    def test_of_a_function_in_a_function(self, shop: Asking) -> None:
        assert places(shop.uses("helper")) == ["shop/client.py:16:5"]

    def test_of_a_method_in_classes_that_can_have_it(self, tmp_path: Path) -> None:
        text = (
            "import go\n"
            "class A:\n    def go(self): go.go()\n"
            "class B(A):\n    def b(self): self.go()\n"
            "class C(B):\n    def c(self): self.go()\n"
            "class D:\n    def d(self): self.go()\n"
            "class E(A):\n    go = None\n    def e(self): self.go()\n"
            "class F(Unknown):\n    def f(self): self.go()\n"
        )
        asking = Asking(plant(tmp_path, {"a.py": text}))
        assert places(asking.uses("A/go")) == ["a.py:5:23", "a.py:7:23", "a.py:14:23"]

    def test_of_a_heading_nothing_can_be_told(self, shop: Asking) -> None:
        with pytest.raises(Unable, match="cannot be found from a syntax tree"):
            shop.uses("How to connect")

    @pytest.mark.parametrize(
        ("files", "name", "found"),
        [
            (
                {
                    "a.ts": "export function go(): void {}\n",
                    "b.ts": (
                        "import { go } from './a';\ngo();\n"
                        "const f = (go: number) => go;\nx.go();\n"
                    ),
                    "c.ts": "go();\n",
                    "d.js": "const { go } = require('./a');\ngo();\n// go\n",
                    "e.ts": "import { go } from 'gone';\ngo();\n",
                },
                "/go",
                ["b.ts:1:10", "b.ts:2:1", "d.js:2:1"],
            ),
            (
                {
                    "p/a.go": (
                        "package p\nfunc Go() {}\nfunc x() { Go() }\n"
                        "func y(Go int) int { return Go }\n"
                    ),
                    "p/b.go": "package p\nvar z = Go()\n",
                    "q/c.go": "package q\nvar a = p.Go()\nvar b = Go()\n",
                },
                "Go",
                ["p/a.go:3:12", "p/b.go:2:9", "q/c.go:2:11"],
            ),
            (
                {
                    "A.java": (
                        "class A {\n  void go() { go(); }\n  // go\n"
                        "  void x(int go) { int y = go; }\n}\n"
                    ),
                    "B.java": 'class B { void b(A a) { a.go(); String s = "go"; } }\n',
                },
                "A/go",
                ["A.java:2:15", "B.java:1:27"],
            ),
            (
                {
                    "a.rs": "pub fn go() {}\nfn x() { go(); let go = 1; }\nfn y() { a::go(); }\n",
                    "b.rs": "fn z(go: u8) -> u8 { go }\nfn w() { crate::a::go() }\n",
                },
                "go",
                ["a.rs:2:10", "a.rs:3:13", "b.rs:2:20"],
            ),
            (
                {"a.sh": "go() { :; }\ngo now\necho go 'go' # go\n", "b.sh": ". a.sh\ngo\n"},
                "go",
                ["a.sh:2:1", "b.sh:2:1"],
            ),
            (
                {"a.h": "int go(int a);\n", "a.c": "int go(int a) { return a; }\nint x = go(1);\n"},
                "go",
                ["a.c:2:9"],
            ),
        ],
        ids=["typescript", "go", "java", "rust", "bash", "c"],
    )  # fmt: skip
    def test_in_other_languages(
        self, tmp_path: Path, files: dict[str, str], name: str, found: list[str]
    ) -> None:
        asking = Asking(plant(tmp_path, files))
        first = next(iter(files))
        assert sorted(places(asking.uses(name, first))) == found


class TestDeclaration:
    """Where a name is defined."""

    @pytest.mark.parametrize(
        ("place", "found"),
        [
            (("shop/local.py", 12, "connect"), ["shop/client.py:12 connect"]),
            (("shop/local.py", 4, "connect"), ["shop/local.py:3 shadow/connect"]),
            (("shop/local.py", 8, "connect"), ["shop/local.py:7 own/connect"]),
            (("shop/__init__.py", 1, "Client"), ["shop/client.py:1 Client"]),
            (("shop/client.py", 6, "encode"), ["shop/client.py:8 Client/encode"]),
            (("shop/client.py", 15, "send"), ["shop/client.py:5 Client/send"]),
            (("shop/client.py", 16, "helper"), ["shop/client.py:13 connect/helper"]),
            (("shop/client.py", 14, "Client"), ["shop/client.py:1 Client"]),
            (("shop/other.py", 4, "connect"), ["shop/other.py:1 connect"]),
            (("web.js", 2, "connect"), ["web.js:1 connect"]),
            (("unrelated.py", 2, "connect"), []),
        ],
    )
    def test_by_scope_file_import_and_name(
        self, shop: Asking, place: tuple[str, int, str], found: list[str]
    ) -> None:
        assert shop.declaration(*place) == found

    def test_an_alias_leads_to_what_it_stands_for(self, tmp_path: Path) -> None:
        files = {
            "m.py": "def real(): 1\n",
            "n.py": "def real(): 2\n",
            "a.py": "from m import real as r\nr()\n",
        }
        asking = Asking(plant(tmp_path, files))
        assert asking.declaration("a.py", 2, "r") == ["m.py:1 real"]

    def test_where_types_would_tell_all_are_given(self, tmp_path: Path) -> None:
        files = {
            "a.py": "class A:\n    def go(self): 1\n",
            "b.py": "class B:\n    def go(self): 1\ndef go(): 2\n",
            "c.py": "def run(x):\n    x.go()\n",
        }
        asking = Asking(plant(tmp_path, files))
        assert asking.declaration("c.py", 2, "go") == ["a.py:2 A/go", "b.py:2 B/go"]

    def test_a_place_without_a_name_is_refused(self, shop: Asking) -> None:
        with pytest.raises(Unable, match=r"no name at app\.py:2:1"):
            asyncio.run(shop.backend.declaration(Spot(shop.path("app.py"), 2, 1), shop._bench))


class TestDiagnostics:
    """What does not parse."""

    def test_errors_and_what_is_missing(self, tmp_path: Path) -> None:
        files = {
            "a.py": "def f(:\n    pass\n",
            "b.c": "int x = (1;\n",
            "c.py": "x = 1\n",
            "d.md": "(\n",
        }
        asking = Asking(plant(tmp_path, files))
        (broken,) = asking.complaints("a.py")
        assert (broken.path, broken.line, broken.severity) == ("a.py", 1, "error")
        assert (broken.source, broken.code) == ("tree-sitter", "syntax")
        (missing,) = asking.complaints("b.c")
        assert missing == Diagnostic(
            "b.c", 1, 11, "error", "`)` is missing", "syntax", "tree-sitter", 1
        )
        assert asking.complaints("c.py") == []
        assert {one.path for one in asking.complaints(".")} == {"a.py", "b.c"}


class TestLeave:
    """Only what the gate gave leave for, and never what is secret."""

    def test_without_leave_nothing_is_read(self, tmp_path: Path) -> None:
        plant(tmp_path, SHOP)
        asking = Asking(tmp_path, Search(f"{tmp_path}/shop", ""))
        assert asking.overview("shop/client.py")
        with pytest.raises(ToolProblem, match="did not allow"):
            asking.overview("app.py")
        with pytest.raises(ToolProblem, match="did not allow"):
            asking.find("connect")

    def test_leave_to_read_one_file_is_enough_for_it(self, tmp_path: Path) -> None:
        plant(tmp_path, SHOP)
        asking = Asking(tmp_path, Read(os.path.realpath(tmp_path / "shop/client.py")))
        assert [one.name for one in asking.overview("shop/client.py")] == ["Client", "connect"]
        assert asking.declaration("shop/client.py", 14, "Client") == ["shop/client.py:1 Client"]

    def test_secret_and_ignored_files_are_not_told_of(self, tmp_path: Path) -> None:
        plant(tmp_path, SHOP | {".gitignore": "other.py\n", "keys/secret.py": "def connect(): 1\n"})
        asking = Asking(tmp_path, secret="keys/\n")
        found = {one.path for one in asking.find("connect")}
        assert found == {"shop/client.py", "web.js"}
        with pytest.raises(Unable, match="is secret"):
            asking.overview("keys/secret.py")

    def test_a_link_out_of_the_workspace_is_not_followed(self, tmp_path: Path) -> None:
        plant(tmp_path, {"out/a.py": "def away(): 1\n", "ws/b.py": "def here(): 1\n"})
        (tmp_path / "ws" / "c.py").symlink_to(tmp_path / "out" / "a.py")
        asking = Asking(tmp_path / "ws")
        assert asking.find("away") == []
        with pytest.raises(ToolProblem):
            asking.overview("c.py")


class TestIndex:
    """With an index, answers are the same and files that did not change are not parsed."""

    def test_the_same_answers_and_never_old_ones(self, tmp_path: Path) -> None:
        plant(tmp_path / "ws", SHOP)
        index = Index.open(tmp_path / "index.db")
        update(str(tmp_path / "ws"), index, [*SHOP])
        plain, known = Asking(tmp_path / "ws"), Asking(tmp_path / "ws", index=index)
        for name in ("connect", "Client/send", "Client", "nobody"):
            assert known.find(name, depth=2) == plain.find(name, depth=2)
        assert known.overview("shop/client.py", 3) == plain.overview("shop/client.py", 3)
        (tmp_path / "ws/app.py").write_text("\n\ndef connect(): pass\n")
        (tmp_path / "ws/new.py").write_text("def connect(): pass\n")
        assert {"app.py:3", "new.py:1"} <= {f"{s.path}:{s.line}" for s in known.find("connect")}

    def test_an_index_that_is_closed_is_no_obstacle(self, tmp_path: Path) -> None:
        plant(tmp_path / "ws", SHOP)
        index = Index.open(tmp_path / "index.db")
        index.close()
        assert Asking(tmp_path / "ws", index=index).find("send")


def test_it_serves_what_it_can_read(tmp_path: Path) -> None:
    backend = TreeBackend(str(tmp_path))
    assert backend.serves("find", str(tmp_path))
    assert backend.serves("references", "a.py")
    assert backend.serves("overview", "a.md")
    assert not backend.serves("references", "a.md")
    assert not backend.serves("overview", "a.png")
