"""A small project to ask about."""

import asyncio
import os
from pathlib import Path

from steersman.operations.code.index.answering import Asked, answer
from steersman.operations.code.index.upkeep import Records
from steersman.operations.code.index.walk import listed
from steersman.operations.tools.ranked_context import reader
from steersman.records.code_index import RankedContext

PROJECT = {
    "shop/client.py": (
        '"""Talks to the shop over HTTP."""\n'
        "from shop.retrying import backoff_delay\n\n\n"
        "class Client:\n"
        '    """One connection."""\n\n'
        "    def send(self, request):\n"
        "        return backoff_delay(request)\n\n"
        "    def close(self):\n"
        "        self.socket = None\n"
    ),
    "shop/retrying.py": (
        "# How long to wait before another try, twice as long each time.\n"
        "def backoff_delay(attempt):\n    return 2 ** attempt\n"
    ),
    "shop/prices.py": "def total(items):\n    return sum(item.price for item in items)\n",
    "tests/test_client.py": (
        "from shop.client import Client\n\n\n"
        "def test_send():\n    client = Client()\n    client.send('request')\n    client.close()\n"
    ),
    "CHANGES.md": "# Changes\n\n- The client waits between tries: backoff delay, client send.\n",
}


def plant(folder: Path, files: dict[str, str]) -> None:
    """Write files, with the folders they are in."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def ask(folder: Path, home: Path, asked: Asked, secret: str = "") -> RankedContext:
    """Bring an index up to date and ask it."""
    root = os.path.realpath(folder)
    records = Records(root, home)
    try:
        records.update(asyncio.run(listed(root, secret, os.environ)))
        picture = records.picture()
        return answer(picture, asked, records.spans, reader(root, secret))
    finally:
        records.close()
