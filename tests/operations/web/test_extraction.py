"""Thirty pages of different builds: what a reader would want of each is kept, the rest is not.

In a page, `data-wanted` marks what a reader came for and `data-noise` what is around it; the marks
are taken off before the page is read.
"""

import re
from pathlib import Path

import lxml.html
import pytest

from steersman.operations.web.extracting import extracted

PAGES = sorted(Path(__file__).with_name("pages").glob("*.html"))
_MARK = re.compile(r' data-(?:wanted|noise)(?:="")?')


def _plain(text: str) -> str:
    """Words only: no marks of Markdown, no difference in spaces."""
    return " ".join(re.sub(r"\[\d+\]|\(http\S*?\)|[*_`|\\#>\[\]-]", " ", text).split())


def _marked(page: str, kind: str) -> list[str]:
    tree = lxml.html.fromstring(re.sub(r"^<\?xml.*?\?>", "", page))
    nodes = tree.xpath(f"//*[@data-{kind}]")
    # A mark inside another, as broken markup has it, counts for its own text only.
    return [_plain(node.text_content() if not node.xpath(f".//*[@data-{kind}]") else node.text)
            for node in nodes]  # fmt: skip


def _found(page: Path) -> tuple[list[str], list[str], list[str]]:
    """What is wanted, what of that is missing, and what noise came along."""
    source = page.read_text(encoding="utf-8")
    text = _plain(extracted(_MARK.sub("", source), "https://example.org/page").text)
    wanted = _marked(source, "wanted")
    missing = [one for one in wanted if one not in text]
    return wanted, missing, [one for one in _marked(source, "noise") if one in text]


def test_nine_of_ten_wanted_sentences_are_kept_and_little_of_what_is_around_them() -> None:
    results = {page.stem: _found(page) for page in PAGES}

    wanted = sum(len(one[0]) for one in results.values())
    missing = {name: one[1] for name, one in results.items() if one[1]}
    noise = {name: one[2] for name, one in results.items() if one[2]}
    assert len(results) == 30
    assert 1 - sum(map(len, missing.values())) / wanted >= 0.9, missing
    assert sum(map(len, noise.values())) <= 10, noise


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_loses_all_that_was_wanted(page: Path) -> None:
    wanted, missing, _ = _found(page)

    assert len(missing) < len(wanted)
