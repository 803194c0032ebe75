"""A server that checks nothing and looks nothing up: what `http` is compared with.

`python -m benchmarks.http_bare RECORD` answers each request with that record, encoded anew, and
prints its address.
"""

import asyncio
import sys

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from steersman.ports.listening import listen, serve, shown
from steersman.records.thread_facts import ThreadFacts


async def _serve(record: ThreadFacts) -> None:
    async def answer(request: Request) -> Response:
        return Response(msgspec.json.encode(record), media_type="application/json")

    with listen("127.0.0.1", 0) as listening:
        print(shown(listening), flush=True)
        await serve(Starlette(routes=[Route("/threads/{thread}", answer)]), listening)


if __name__ == "__main__":
    asyncio.run(_serve(msgspec.json.decode(sys.argv[1], type=ThreadFacts)))
