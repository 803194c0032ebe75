"""From the model's call to the file on disk: a person leaves out a hunk, and it is not written."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from steersman.host import Host
from steersman.records.hunks import FileHunks
from steersman.records.message import ConfirmResponse, Message, ToolResult
from steersman.records.settings import Settings
from steersman.views.story import Story
from tests.tui.approvals.kit import Stand

OLD = "".join(f"line {number}\n" for number in range(1, 31))
WANTED = OLD.replace("line 4\n", "line four\n").replace("line 25\n", "line twenty five\n")
KEPT = OLD.replace("line 25\n", "line twenty five\n")
EDITS = [
    {"search": "line 4\n", "replace": "line four\n"},
    {"search": "line 25", "replace": "line twenty five"},
]
PATCH = """*** Begin Patch
*** Update File: text.txt
@@
 line 3
-line 4
+line four
@@
-line 25
+line twenty five
*** Add File: more.txt
+more
*** End Patch"""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("workspace_write_file", {"path": "text.txt", "content": WANTED}),
    ("workspace_edit_files", {"files": [{"path": "./text.txt", "edits": EDITS}]}),
    ("workspace_apply_patch", {"patch": PATCH}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_only_the_accepted_hunk_is_in_the_file(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "text.txt").write_text(OLD)
    messages = asyncio.run(
        asyncio.wait_for(_story(tmp_path, folder, tool, arguments, ["D", "space", "enter"]), 60)
    )
    assert (folder / "text.txt").read_text() == KEPT
    (answer,) = [m.body for m in messages if isinstance(m.body, ConfirmResponse)]
    assert FileHunks(str(folder / "text.txt"), (2,)) in (answer.hunks or ())
    assert answer.by == "person"
    (result,) = [m.body for m in messages if isinstance(m.body, ToolResult)]
    assert result.status == "ok", result.message
    if tool != "workspace_write_file":  # the model sees what came of it
        assert "+line twenty five" in json.dumps(result.output)
        assert "line four" not in json.dumps(result.output)


async def _story(
    home: Path, folder: Path, tool: str, arguments: dict[str, Any], keys: list[str]
) -> list[Message]:
    script = home / "script.json"
    turns = [{"tool_calls": [{"name": tool, "arguments": arguments}]}, {"text": "Done."}]
    script.write_text(json.dumps({"turns": turns}))
    settings = Settings(model=f"scripted:{script}", approvals="on-request")
    app, story = Stand(), Story()
    async with Host.at(home / "data", {"PATH": os.environ["PATH"]}) as host:
        thread = await host.start(str(folder), "t", settings, attended=True)
        async with app.run_test(size=(80, 24)) as pilot:
            await thread.send("go")
            async for message in thread.events():
                story.feed(message)
                app.approvals.show(story.waiting(), story.running(), grab=True)
                if message.kind == "confirm_request":
                    await pilot.pause()
                    for key in keys:
                        await pilot.press(key)
                        await pilot.pause()
                    ((corr, answer),) = app.answers
                    await thread.answer(corr, answer)
                if message.kind == "turn_end":
                    break
            assert not app.approvals.display
        await thread.close()
        return list(host.messages(thread.id))
