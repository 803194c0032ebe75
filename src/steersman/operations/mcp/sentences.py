"""What is said of a server that fails: a sentence with the reason, and without its secrets."""

import re
import signal

from steersman.operations.mcp.discretion import Discretion, address
from steersman.operations.mcp.tokens import SignInWanted
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import ServerProblem

LAST_WORDS = 1000
LONGEST = 2000
CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[^\S\n]*[\x00-\x08\x0b-\x1f\x7f]+")
NOT_FOUND = 127
REFUSED = {
    401: "It needs authentication (401).",
    403: "It denies access to this account (403).",
    404: "There is nothing at this address (404).",
    407: "A proxy needs authentication (407).",
    429: "It gets too many requests (429).",
}


class Sentences:
    """Speaks of one server."""

    def __init__(self, server: Server, discretion: Discretion) -> None:
        self._server = server
        self._discretion = discretion

    @property
    def _name(self) -> str:
        return f"The MCP server “{self._server.name}”"

    def problem(self, what: str, why: str = "", try_this: str = "") -> ServerProblem:
        """Any sentence, made discreet before it is made short."""
        hide = self._discretion.sentence
        return ServerProblem(*(hide(text)[:LONGEST] for text in (what, why, try_this)))

    def cannot_start(self, reason: str, words: str, status: int = 0) -> ServerProblem:
        """It was started, and never became usable."""
        return self.problem(
            f"{self._name} could not be started.",
            self._why(reason, words),
            self._headers() if status in (401, 403) else self._advice(),
        )

    def never_greeted(self, seconds: float, words: str) -> ServerProblem:
        """It runs, and says nothing."""
        return self.problem(
            f"{self._name} did not answer the first message within {seconds:g} s.",
            self._why("", words),
            f"`steer mcp test {self._server.name}` shows more; `timeout` gives it time.",
        )

    def lost(self, doing: str, reason: str, words: str, *, maybe_done: bool) -> ServerProblem:
        """It went away while something was done with it."""
        effect = "Whether the call had an effect is not known; check before you repeat it. "
        return self.problem(
            f"{self._name} was lost while {doing}.",
            self._why(reason, words),
            f"{effect if maybe_done else ''}It is started again when it is used next.",
        )

    def silent(self, doing: str, seconds: float) -> ServerProblem:
        """It did not answer."""
        return self.problem(
            f"{self._name} did not answer within {seconds:g} s while {doing}.",
            "The call was cancelled; whether it had an effect is not known.",
        )

    def paused(self, seconds: float, last: ServerProblem | None) -> ServerProblem:
        """It failed so often that it is left alone for a while."""
        why = f"{last.what} {last.why}".strip() if last is not None else ""
        return self.problem(
            f"{self._name} failed repeatedly and is not used for {max(1, round(seconds))} s.",
            why,
            self._advice(),
        )

    def unreadable(self, doing: str, reason: str) -> ServerProblem:
        """It answered with what nobody can read."""
        return self.problem(f"{self._name} gave an unreadable answer while {doing}.", reason)

    def refused(self, doing: str, status: int) -> ServerProblem:
        """It answered with an error of HTTP."""
        return self.problem(
            f"{self._name} refused while {doing}.",
            status_text(status),
            self._headers() if status in (401, 403) else "",
        )

    def wants_sign_in(self, reason: str) -> SignInWanted:
        """It lets nobody in whom it does not know. How to fix it is a part of the reason, which
        is reported to whoever asked, also where nothing else is."""
        name, oauth = self._server.name, self._server.oauth
        if oauth.grant == "client_credentials":
            told = self.problem(
                f"{self._name} denied access.",
                reason,
                f"See `oauth` of its entry in {self._server.source or 'the configuration'}.",
            )
        else:
            why = f"Run `steer mcp login {name}`. {reason}".strip()
            told = self.problem(f"{self._name} needs you to sign in.", why)
        return SignInWanted(told.what, told.why, told.try_this)

    def _why(self, reason: str, words: str) -> str:
        said = self._discretion.sentence(CONTROL.sub("", words)).strip()
        if len(said) > LAST_WORDS:  # not from the middle of a line, which may be that of a secret
            said = said[-LAST_WORDS:].partition("\n")[2] or said[-LAST_WORDS:]
        if not said:
            return reason
        return f"{reason} Its last output: {said}".strip()

    def _headers(self) -> str:
        return f"See the headers of its entry in {self._server.source or 'the configuration'}."

    def _advice(self) -> str:
        server = self._server
        target = server.command if server.transport == "stdio" else address(server.url)
        return f"`steer doctor` checks it; it is {target}."


def status_text(status: int) -> str:
    """What a status of HTTP means here."""
    return REFUSED.get(status, f"It answered with status {status}.")


def exit_text(code: int) -> str:
    """How a program ended, as the shell counts."""
    if code == NOT_FOUND:
        return "Its program was not found (exit code 127)."
    if 128 < code < 192:
        try:
            return f"It was ended by {signal.Signals(code - 128).name} (exit code {code})."
        except ValueError:
            pass
    return f"It ended with exit code {code}."
