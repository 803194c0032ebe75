"""`steer serve`: threads over HTTP, for pages, programs and other machines."""

import asyncio
import logging
import os
import sys
from importlib.util import find_spec
from typing import Any

import click
import msgspec

from steersman.host.settings import state_folder
from steersman.ports.cli.options import json_flag, open_host
from steersman.records.errors import UsageProblem

DEFAULT_PORT = 8920


@click.command()
@click.option("--host", "address", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="0 chooses a free one.",
)
@click.option("--token-file", metavar="FILE", help="Where the token is kept; created if missing.")
@click.option(
    "--public",
    metavar="NAME",
    multiple=True,
    help="A name by which clients call this server, besides its address (repeatable).",
)
@click.option("--tls-cert", metavar="FILE", help="Serve over HTTPS with this certificate.")
@click.option("--tls-key", metavar="FILE", help="The certificate's key.")
@click.option(
    "--plain-http",
    is_flag=True,
    help="Let other machines connect without TLS, as behind a proxy that has it.",
)
@json_flag
def command(**flags: Any) -> int:
    """Offer your threads over HTTP: to pages, programs and other machines."""
    _require()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    # That a reader has gone is no news; and where nobody reads warnings, they stop the server.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    from steersman.ports.listening import until_told

    return asyncio.run(until_told(lambda: _serve(flags)))


async def _serve(flags: dict[str, Any]) -> None:
    from steersman.host.desk import Desk
    from steersman.host.server_token import HTTP_TOKEN, own_token
    from steersman.ports import listening as ports
    from steersman.ports.http.server import Server

    _check(flags)
    token = own_token(flags["token_file"], state_folder(os.environ), HTTP_TOKEN)
    scheme = "https" if flags["tls_cert"] else "http"
    files = {"ssl_certfile": flags["tls_cert"], "ssl_keyfile": flags["tls_key"]}
    async with open_host() as host:
        desk = Desk(host, os.environ, {})
        with ports.listen(flags["address"], flags["port"]) as listening:
            origins = _origins(flags, scheme, listening.getsockname()[1])
            server = Server(desk, token.text, origins)
            _say(flags, f"{scheme}://{ports.shown(listening)}", token.path)
            sweeping = asyncio.create_task(desk.sweep())
            try:
                given = {name: value for name, value in files.items() if value}
                given |= {"ws": ports.sockets, "lifespan": "off"}
                await ports.serve(server.app, listening, before=server.streams.close, **given)
            finally:
                sweeping.cancel()
                await server.lines.close()
                await desk.hand_over()


def _origins(flags: dict[str, Any], scheme: str, port: int) -> list[str]:
    """The addresses of this server; one with a public name may be that of a proxy."""
    from steersman.ports.listening import names_of

    public = [name.lower() for name in flags["public"] if name]
    wild = flags["address"] in ("0.0.0.0", "::", "")
    own = names_of(flags["address"], public or ([] if wild else [flags["address"]]))
    here = [f"{scheme}://{name}:{port}" for name in own]
    if port == {"http": 80, "https": 443}[scheme]:  # which clients leave out
        here += [f"{scheme}://{name}" for name in own]
    return [*here, *(f"{one}://{name}" for name in public for one in ("http", "https"))]


def _say(flags: dict[str, Any], at: str, path: str) -> None:
    """Where it is, on a line of its own."""
    if flags["as_json"]:
        told = {"url": at, "token_file": path, "pid": os.getpid()}
        click.echo(msgspec.json.encode(told).decode())
    else:
        click.echo(f"Serving at {at}", err=True)
        click.echo(f"The token is kept in {path}", err=True)


def _check(flags: dict[str, Any]) -> None:
    from steersman.ports.listening import is_loopback

    if bool(flags["tls_cert"]) != bool(flags["tls_key"]):
        raise UsageProblem("A certificate and its key are both needed.")
    if flags["tls_cert"]:
        _check_certificate(flags["tls_cert"], flags["tls_key"])
    if is_loopback(flags["address"]) or flags["tls_cert"] or flags["plain_http"]:
        return
    raise UsageProblem(
        f"Other machines can reach {flags['address']}.",
        "Without TLS, whoever listens on the way reads your token.",
        "Pass --tls-cert and --tls-key, or --plain-http behind a proxy that has them.",
    )


def _check_certificate(certificate: str, key: str) -> None:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageProblem("The certificate or its key cannot be used.", why) from error


def _require() -> None:
    missing = [name for name in ("uvicorn", "websockets") if find_spec(name) is None]
    if missing:
        raise UsageProblem(
            "The HTTP server is not installed.",
            f"No module named '{missing[0]}'",
            "Install it: pip install 'steersman[serve]'",
        )
