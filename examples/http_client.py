"""Give an agent a task over HTTP, follow what it does, and answer what it asks.

    steer serve
    python examples/http_client.py http://127.0.0.1:8920 TOKEN_FILE FOLDER "Fix the failing test."

`steer serve` shows its address and where its token is kept.
"""

import sys
from pathlib import Path

from steersman.client import Client, Message, SteersmanError


def main(url: str, token_file: str, folder: str, task: str, model: str | None = None) -> int:
    token = Path(token_file).read_text().strip()
    with Client(url, token) as steersman:
        thread = steersman.start(folder, task, **({"model": model} if model else {}))
        print(f"Thread {thread.id}")
        for message in steersman.events(thread.id, live=True):
            show(message)
            if message.kind == "confirm_request" and message.corr:
                allowed = input("Allow it? [y/N] ").strip().lower() == "y"
                steersman.answer(thread.id, message.corr, "allow" if allowed else "deny")
            elif message.kind == "question" and message.corr:
                steersman.reply(thread.id, message.corr, input("> "))
            elif message.kind == "turn_end":
                return 0 if message.body.ending == "done" else 1
    return 1


def show(message: Message) -> None:
    body = message.body
    match message.kind:
        case "assistant_delta":
            print(body.text, end="", flush=True)
        case "assistant":
            print()
        case "tool_call":
            print(f"→ {body.tool}")
        case "tool_result":
            print(f"← {body.tool}: {body.status}")
        case "confirm_request":
            print(f"{body.tool} needs your approval. {body.reason}")
        case "question":
            print(body.text)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except SteersmanError as error:
        sys.exit(str(error))
