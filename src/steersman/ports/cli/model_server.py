"""`steer model-server`: a script file behind the HTTP interfaces of the model providers."""

import json
from pathlib import Path

import click

from steersman.host import scripted


@click.command("model-server")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 picks a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--log", type=click.Path(path_type=Path), help="Append one JSON line a request to this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the address as a JSON line.")
def command(file: Path, port: int, host: str, log: Path | None, as_json: bool) -> None:
    """Play the script FILE to clients of OpenAI, Anthropic and Gemini; no key, no network."""

    def ready(url: str) -> None:
        if as_json:
            click.echo(json.dumps({"event": "listening", "url": url}))
        else:
            click.echo(f"listening on {url} (scripted: {file})")

    def complain(problem: str) -> None:
        click.echo(problem, err=True)

    scripted.serve(file, host=host, port=port, log=log, ready=ready, complain=complain)
