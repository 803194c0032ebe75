"""The redactor: time on ordinary and on hostile texts, and false alarms on installed packages."""

import base64
import random
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Figure
from steersman.records.message import ToolCall
from steersman.store import beside, shapes
from steersman.store.redactor import Redactor

SIZE = 2_000_000
HOSTILE = (
    "eyJ", "eyJhbGciOiJIUzI1NiJ9.", "-----BEGIN", "-----BEGIN PRIVATE KEY-----", "AKIA", "ghp_",
    "ghp_1", "sk-ant-1", "-eyJ", "token", "token=", "password: ", "://a:", "key key ",
    "ghs_1_", "xoxb-1-", "sk-ant-aaaaaaaaaaa1.", "eyJaaaaaaaaaaaaaaa1.", "dp.st.123456789012345 ",
)  # fmt: skip
PACKAGES = Path(sysconfig.get_paths()["purelib"])
KINDS = (".py", ".pyi", ".md", ".json", ".js", ".txt", ".rst", ".toml")


def figures() -> list[Figure]:
    """CPU time for a megabyte, for short texts, and false alarms."""
    redactor = Redactor(f"{n}-a-secret-of-the-environment-{n * n}" for n in range(20))
    source = "".join(path.read_text() for path in sorted(PACKAGES.glob("pytest/*.py")))
    source += "".join(path.read_text() for path in sorted(PACKAGES.glob("_pytest/*.py")))
    blob = base64.b64encode(random.Random(1).randbytes(SIZE * 3 // 4)).decode()
    paths = "".join(f"part{n}/folder{n}/a.py\n" for n in range(90_000))
    prose = "so it was said, and so it was done; " * 60_000
    texts = {"prose": prose, "source code": source, "base64": blob, "paths": paths}
    found = [
        Figure(f"redacting {name}", _each_mb(redactor, text), 200, "ms/MB")
        for name, text in texts.items()
    ]
    hostile = {part: _each_mb(redactor, part * (SIZE // len(part))) for part in HOSTILE}
    worst = max(hostile, key=lambda part: hostile[part])
    twice = _each_mb(redactor, worst * (4 * SIZE // len(worst)))
    note = f"the slowest of {len(HOSTILE)}: `{worst.strip()}` again and again"
    return [
        *found,
        Figure("redacting a hostile text", hostile[worst], 1500, "ms/MB", note),
        Figure("the same, four times as long", twice / hostile[worst], 1.5, "×"),
        *_short(redactor),
        _alarms(),
    ]


def _each_mb(redactor: Redactor, text: str) -> float:
    return 1e9 * min(_cpu(lambda: redactor.text(text)) for _ in range(3)) / len(text)


def _short(redactor: Redactor) -> list[Figure]:
    call = ToolCall("workspace_read_file", {"path": "src/calc.py", "offset": 1})
    bodies = _cpu(lambda: [redactor.body(call) for _ in range(10_000)])
    words = ["The", "function", "adds", "two", "numbers,", "and", "returns", "them."]

    def stream() -> None:
        pieces = redactor.stream()
        for _ in range(1000):
            for word in words:
                pieces.feed(word + " ")

    return [
        Figure("redacting a short message", 100 * bodies, 40, "µs"),
        Figure("redacting a delta", 1e3 * _cpu(stream) / len(words), 40, "µs"),
    ]


def _alarms() -> Figure:
    """What is taken for a secret in installed packages; none of them holds one."""
    size = alarms = 0
    for path in PACKAGES.rglob("*"):
        if path.suffix in KINDS and path.is_file():
            text = shapes.view(path.read_text(errors="replace"))
            size += len(text)
            alarms += len(shapes.spans(text)) + len(beside.spans(text))
    note = f"{alarms} in {size / 1e6:.0f} MB of installed packages"
    return Figure("false alarms in 5 MB", 5e6 * alarms / size, 1, "", note)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
