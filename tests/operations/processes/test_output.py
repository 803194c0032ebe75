"""Output: exact counts and bounded memory for any chunking, whole characters, all of it on disk."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.running import output as module
from steersman.operations.running.output import HEAD, LINE, LIVE_WHOLE, TAIL, Excerpt, Live, Output
from steersman.records import counting

GAP = re.compile(r"\n\[… ([\d,]+) bytes? left out …\]\n")
CUT = re.compile(r"…\[([\d,]+) bytes? cut\]")


def number(text: str) -> int:
    """A count as it is written for people."""
    return int(text.replace(",", ""))


def chunked(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Data in pieces of given sizes; the last takes the rest."""
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


def excerpt(data: bytes, sizes: Sequence[int] = (), **limits: int) -> Excerpt:
    """An excerpt that was fed in pieces."""
    found = Excerpt(**limits)
    for piece in chunked(data, sizes):
        found.add(piece)
    return found


def reference(data: bytes, head: int, tail: int, line: int) -> str:
    """What an excerpt of ASCII should say, worked out byte by byte from the whole."""
    lengths = [len(one) for one in data.split(b"\n")]
    starts = [sum(lengths[:n]) + n for n in range(len(lengths))]
    kept: list[tuple[int, str]] = []  # how many bytes each shown thing stands for, and the thing
    for n, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        kept += [(1, chr(byte)) for byte in data[start : start + min(length, line)]]
        if length > line:
            kept.append((length - line, f"…[{counting.counted(length - line, 'byte')} cut]"))
        if n + 1 < len(lengths):
            kept.append((1, "\n"))
    single = [index for index, (_, thing) in enumerate(kept) if len(thing) == 1]
    if len(single) <= head + tail:
        return "".join(thing for _, thing in kept)
    middle = single[head:-tail]
    first, last = middle[0], middle[-1] + 1
    if len(kept[last][1]) > 1:
        last += 1  # a cut right before the tail belongs to the gap
    left_out = sum(count for count, _ in kept[first:last])
    shown = "".join(thing for _, thing in kept[:first])
    return f"{shown}\n[… {counting.counted(left_out, 'byte')} left out …]\n" + "".join(
        t for _, t in kept[last:]
    )


LIMITS = st.fixed_dictionaries(
    {"head": st.integers(1, 30), "tail": st.integers(1, 30), "line": st.integers(1, 12)}
)
ASCII = st.text(alphabet="ab\n", max_size=200).map(str.encode)
SIZES = st.lists(st.integers(0, 40), max_size=20)


@given(ASCII, SIZES, LIMITS)
def test_head_tail_and_counts_are_exact_for_any_chunking(data, sizes, limits):
    found = excerpt(data, sizes, **limits)
    assert found.text() == reference(data, **limits)
    assert found.size == len(data)
    assert found.truncated == (found.text() != data.decode())


@given(st.binary(max_size=200), SIZES, LIMITS)
def test_chunking_never_shows(data, sizes, limits):
    assert excerpt(data, sizes, **limits).text() == excerpt(data, **limits).text()


@given(st.binary(max_size=400), SIZES)
def test_what_is_short_is_shown_whole(data, sizes):
    found = excerpt(data, sizes)
    assert found.text() == data.decode(errors="replace")
    assert not found.truncated


@given(st.text(alphabet="aé€😀\n", max_size=150), SIZES, LIMITS)
def test_no_character_is_torn_and_every_byte_is_shown_or_counted(text, sizes, limits):
    shown = excerpt(text.encode(), sizes, **limits).text()
    assert "\N{REPLACEMENT CHARACTER}" not in shown
    counted = sum(number(found) for found in (*GAP.findall(shown), *CUT.findall(shown)))
    plain = CUT.sub("", GAP.sub("", shown))
    assert len(plain.encode()) + counted == len(text.encode())


def test_the_limits_of_the_product_are_said_in_words():
    data = b"".join(b"%07d\n" % n for n in range(10_000))
    assert excerpt(data).text() == (
        data[:HEAD].decode()
        + f"\n[… {len(data) - HEAD - TAIL:,} bytes left out …]\n"
        + data[-TAIL:].decode()
    )
    long = b"x" * (LINE + 2000) + b"\nshort\n"
    assert excerpt(long).text() == "x" * LINE + "…[2,000 bytes cut]\nshort\n"


def test_live_output_is_told_whole_at_first_and_then_by_samples():
    told: list[str] = []
    live = Live(told.append)
    data = "né€😀\n".encode() * 5000
    for at in range(0, LIVE_WHOLE, 7):
        live.add(data[at : min(at + 7, LIVE_WHOLE)])
    whole, torn = module.whole_characters(data[:LIVE_WHOLE])
    assert "".join(told) == whole
    for _ in range(2000):
        live.add(data)
    live.finish()
    size = LIVE_WHOLE + 2000 * len(data)
    assert len(told) < LIVE_WHOLE / 7 + 500
    assert sum(len(text) for text in told) < size / 100
    assert torn or "\N{REPLACEMENT CHARACTER}" not in "".join(told)
    assert told[-1].endswith("né€😀\n")


@given(st.binary(max_size=300), SIZES)
def test_little_live_output_is_told_whole(data, sizes):
    told: list[str] = []
    live = Live(told.append)
    for piece in chunked(data, sizes):
        live.add(piece)
    live.finish()
    assert "".join(told) == data.decode(errors="replace")
    assert all(told)


def test_the_spool_has_everything_and_is_read_by_range(tmp_path):
    output = Output(tmp_path / "spool")
    data = os.urandom(300_000)
    for at in range(0, len(data), 1000):
        output.add(data[at : at + 1000])
        assert output.read(at, 2000) == data[at : at + 1000]
    output.finish()
    assert output.read(123_456, 10) == data[123_456:123_466]
    assert output.read(0, 10**6) == data
    assert output.read(10**6, 10) == b""
    assert (output.path.stat().st_mode & 0o777, output.spooled) == (0o600, len(data))


def test_a_spool_that_cannot_grow_costs_only_the_rest_of_the_copy(tmp_path):
    output = Output(tmp_path / "spool", most=1000)
    output.add(b"a" * 900 + b"\n")
    output.add(b"b" * 900 + b"\n")
    output.add(b"c\n")
    output.finish()
    assert (output.size, output.spooled) == (1804, 1000)
    assert output.text() == "a" * 900 + "\n" + "b" * 900 + "\nc\n"
    assert output.problem == "only the first 1,000 bytes are kept"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_costs_only_the_copy(tmp_path, monkeypatch):
    output = Output(tmp_path / "spool")
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(output, "_spool", full)
        output.add(b"still shown\n")
        output.finish()
    assert (output.text(), output.spooled) == ("still shown\n", 0)
    assert output.problem == "No space left on device"


GIGABYTE = """
import asyncio, json, sys
from pathlib import Path
from steersman.operations.running.processes import Processes

def peak():
    # Not ru_maxrss, which a process inherits from the one that started it.
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024

async def main():
    told = 0
    def tell(text):
        nonlocal told
        told += len(text)
    processes = Processes(Path(sys.argv[1]))
    line = "x" * 63
    running = await processes.start(
        ["bash", "-c", f"yes {line} | head -c 1G"], "/", {"PATH": sys.argv[2]}, call="big",
        progress=tell)
    await running.wait()
    print(json.dumps({
        "state": str(running.state), "size": running.output.size, "told": told,
        "spooled": running.output.path.stat().st_size, "text": running.output.text(),
        "middle": running.output.read(2**29, 64).decode(),
        "megabytes": peak()}))
    running.output.path.unlink()
    await processes.close()

asyncio.run(main())
"""


def test_a_gigabyte_is_kept_in_bounded_memory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", GIGABYTE, tmp_path, os.environ["PATH"]],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found.pop("megabytes") < 120
    assert found.pop("told") < 4 * 2**20
    line = "x" * 63 + "\n"
    lines = HEAD // 64
    assert found == {
        "state": "exited 0",
        "size": 2**30,
        "spooled": 2**30,
        "text": line * lines + f"\n[… {2**30 - HEAD - TAIL:,} bytes left out …]\n" + line * lines,
        "middle": line,
    }
