"""Steersman's threads for Python programs, over `steer serve`.

    from steersman.client import Client

    with Client("http://127.0.0.1:8920", token) as steersman:
        thread = steersman.start("/home/me/project", "Fix the failing test.")
        for message in steersman.events(thread.id):
            ...

`AsyncClient` has the same methods, to be awaited. What goes wrong is a `SteersmanError`. What the
connection drops is asked for again, and the server does it once; events go on where they were.
"""

from steersman.client.asking import Messages
from steersman.client.awaiting import AsyncClient
from steersman.client.blocking import Client
from steersman.client.following import Placed
from steersman.records.errors import SteersmanError
from steersman.records.message import Message
from steersman.records.thread_facts import Plan, ThreadFacts, Threads, Undone

__all__ = [
    "AsyncClient",
    "Client",
    "Message",
    "Messages",
    "Placed",
    "Plan",
    "SteersmanError",
    "ThreadFacts",
    "Threads",
    "Undone",
]
