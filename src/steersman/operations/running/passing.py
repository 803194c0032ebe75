"""Bytes between a client and a server: tunnels both ways, and one request with its response."""

import asyncio
import socket
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from steersman.operations.running.dialling import Streams
from steersman.operations.running.heads import (
    CHUNKED,
    LONGEST,
    BadHead,
    Request,
    Response,
    chunk_size,
    read_response,
)

PIECE = 64 * 1024
SILENT = 300.0  # seconds for more from one side when the other has said its last
_CLOSED = 7  # the state of a connection that was refused, and where its counts are
_UNTAKEN = slice(24, 28)
LINGER = 2.0  # seconds for a client to take its answer and go

Gone = (OSError, asyncio.IncompleteReadError)


class Broken(Exception):
    """An exchange that failed before anything of a response was passed on."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@asynccontextmanager
async def owned(streams: Streams) -> AsyncIterator[None]:
    """Close a connection at the end: what was written still goes out, unless work is cancelled."""
    writer = streams[1]
    try:
        yield
    except asyncio.CancelledError:
        writer.transport.abort()
        raise
    finally:
        writer.close()
        try:
            with suppress(OSError):
                async with asyncio.timeout(SILENT):
                    await writer.wait_closed()
        finally:
            writer.transport.abort()


async def listens(client: Streams) -> bool:
    """Whether a client still takes an answer, though it may have said its last.

    One that has closed its connection looks the same until something is sent to it: what every
    client must skip before an answer. It is refused where nobody is left to take it.
    """
    reader, writer = client
    if not reader.at_eof():
        return True
    with suppress(OSError):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        line = writer.get_extra_info("socket")
        async with asyncio.timeout(LINGER):
            while not writer.transport.is_closing():
                about = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
                if about[0] == _CLOSED:
                    return False
                if not int.from_bytes(about[_UNTAKEN], sys.byteorder):
                    return True
                await asyncio.sleep(0.01)
    return False


async def finish(client: Streams) -> None:
    """Say no more; what the client still sends is dropped, or it would lose what it was sent."""
    reader, writer = client
    with suppress(OSError):
        await writer.drain()
        writer.write_eof()
        async with asyncio.timeout(LINGER):
            while await reader.read(PIECE):
                pass


def _cut(writer: asyncio.StreamWriter) -> None:
    """Break a connection off, so that nobody takes a part for the whole."""
    at_once = struct.pack("ii", 1, 0)
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    writer.transport.abort()


async def tunnel(one: Streams, other: Streams) -> None:
    """Pass bytes both ways until both sides have said their last."""
    clock = asyncio.get_running_loop().time

    async def passing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
            if limit.when():
                limit.reschedule(clock() + SILENT)
        writer.write_eof()
        limit.reschedule(clock() + SILENT)

    try:
        async with asyncio.timeout(None) as limit, asyncio.TaskGroup() as both:
            both.create_task(passing(one[0], other[1]))
            both.create_task(passing(other[0], one[1]))
    except* OSError:  # also that nothing moved for long
        _cut(one[1])
        _cut(other[1])


async def exchange(request: Request, client: Streams, server: Streams) -> None:
    """Send one request, exactly, and pass its response on."""
    server[1].write(request.onward())
    sending = asyncio.create_task(_send(request, client[0], server[1]))
    try:
        response = await _respond(request, server[0], client[1])
        try:
            await _copy(server[0], client[1], response.length)
        except (*Gone, BadHead):
            _cut(client[1])
    except Broken as broken:
        fault = sending.result() if sending.done() else ""
        raise Broken(400, fault) if fault else broken from None
    finally:
        sending.cancel()
        await asyncio.wait({sending})
    await finish(client)


async def _send(
    request: Request, client: asyncio.StreamReader, server: asyncio.StreamWriter
) -> str:
    """Send the body of a request; the answer shows what was wrong with it."""
    try:
        if request.length:
            await _copy(client, server, request.length)
        await server.drain()
    except OSError:
        return ""  # a server may answer before it has heard all
    except BadHead as bad:
        fault = bad.why
    except asyncio.IncompleteReadError:
        fault = "The body of the request ended too early."
    else:
        return ""
    server.transport.abort()
    return fault


async def _respond(
    request: Request, server: asyncio.StreamReader, client: asyncio.StreamWriter
) -> Response:
    """Pass on the head of the response, and those that come before it."""
    while True:
        try:
            head = await server.readuntil(b"\r\n\r\n")
            response = read_response(head, request.method)
        except asyncio.LimitOverrunError:
            why = f"the head of its answer has more than {LONGEST} bytes"
            raise Broken(502, f"The answer of {request.host} is not valid HTTP: {why}.") from None
        except BadHead as bad:
            raise Broken(
                502, f"The answer of {request.host} is not valid HTTP. {bad.why}"
            ) from None
        except Gone:
            raise Broken(502, f"{request.host} closed the connection without an answer.") from None
        if not (response.interim and request.version == "0"):
            client.write(response.onward(request.method))
            await client.drain()
        if not response.interim:
            return response


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int | None
) -> None:
    """Pass a body on: so many bytes, chunks, or all there is."""
    if length == CHUNKED:
        await _copy_chunks(reader, writer)
        return
    while length is None or length > 0:
        piece = await reader.read(PIECE if length is None else min(length, PIECE))
        if not piece:
            if length is None:
                return
            raise asyncio.IncompleteReadError(b"", length)
        if length is not None:
            length -= len(piece)
        writer.write(piece)
        await writer.drain()


async def _copy_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass chunks on, written again; fields that follow the last are dropped."""
    while size := chunk_size(await _line(reader)):
        writer.write(b"%x\r\n" % size)
        await _copy(reader, writer, size)
        if await reader.readexactly(2) != b"\r\n":
            raise BadHead("A chunk is longer than its size.")
        writer.write(b"\r\n")
    room = LONGEST
    while (line := await _line(reader)) != b"\r\n":
        room -= len(line)
        if room < 0:
            raise BadHead(f"The fields after the last chunk have more than {LONGEST} bytes.")
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n")
    except asyncio.LimitOverrunError:
        raise BadHead(f"A line among the chunks has more than {LONGEST} bytes.") from None
