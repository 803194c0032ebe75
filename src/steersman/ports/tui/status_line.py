"""The user's own status line: their command is run when something changed, one run at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steersman import __version__
from steersman.ports.tui.panes.status import StatusBar
from steersman.views.attachments import clean
from steersman.views.facts import Facts
from steersman.views.text import one_line

if TYPE_CHECKING:
    from steersman.ports.tui.app import SteersmanApp


def told(facts: Facts, folder: str, style: str) -> dict[str, object]:
    """What the command gets as JSON; named like in Claude Code where there is the same."""
    return {
        "hook_event_name": "Status",
        "session_id": facts.thread,
        "session_name": facts.title,
        "cwd": folder,
        "workspace": {"current_dir": folder, "project_dir": folder},
        "model": {"id": facts.model, "display_name": facts.model.partition(":")[2] or facts.model},
        "version": __version__,
        "output_style": {"name": style},
        "cost": {"total_cost_usd": facts.cost},
        "context_window": {"context_window_size": facts.window, "used_tokens": facts.used},
        "mode": facts.mode,
        "approvals": facts.approvals,
        "trust": facts.trust,
        "branch": facts.branch,
        "state": "waiting" if facts.waiting else facts.doing,
    }


class StatusLine:
    """Keeps the status bar as the command says."""

    def __init__(self, app: SteersmanApp) -> None:
        self._app = app
        self._seen: Facts | None = None
        self._running = False

    def look(self, facts: Facts) -> None:
        """Run the command if there is one, and something changed since."""
        if self._app.seat.settings.status_line and facts != self._seen and not self._running:
            self._seen, self._running = facts, True
            self._app.spawn(self._ask(facts))

    async def _ask(self, facts: Facts) -> None:
        from steersman.host.status_line import first_line

        app, seat = self._app, self._app.seat
        data = told(facts, seat.folder, seat.settings.output_style)
        try:
            line = await first_line(seat.settings.status_line, data, seat.folder, app.environ)
        finally:
            self._running = False
        if app.is_running:
            app.query_one(StatusBar).say(one_line(clean(line), 400))
            app.showing.everything()
