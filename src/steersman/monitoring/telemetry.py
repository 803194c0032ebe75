"""Sends each turn that ended to a collector of OpenTelemetry, by HTTP and as JSON.

Work never waits for it: what a collector does not take is dropped, and said once.
"""

import asyncio
import logging
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from steersman import __version__
from steersman.hands import Hands
from steersman.monitoring.traces import AGENT, KINDS, otlp, trace_of
from steersman.records.errors import SteersmanError
from steersman.records.message import Message, TurnEnd, TurnStart
from steersman.store.contract import Store
from steersman.store.log import read_messages

ON = "on"
PATH = "/v1/traces"
USUAL = "http://127.0.0.1:4318"
MOST = 32  # traces that wait to be sent
PATIENCE = 10.0  # seconds for one of them
LEAVING = 5.0  # seconds for all that wait at the end
HERE = ("localhost", "127.0.0.1", "::1")
log = logging.getLogger("steersman.otel")


class Collector(Struct, frozen=True):
    """Where traces go, with which headers, and what this program is called there."""

    url: str
    headers: Mapping[str, str] = {}
    service: str = AGENT


def collector(setting: str, environ: Mapping[str, str]) -> Collector:
    """What a setting means; the usual variables count only where it is `on`."""
    if setting != ON:
        return Collector(_traces(setting))
    own = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    url = own or _traces(environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or USUAL)
    given = environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    pairs = (one.partition("=") for one in given.split(",") if "=" in one)
    headers = {name.strip().lower(): unquote(value.strip()) for name, _, value in pairs}
    return Collector(url, headers, environ.get("OTEL_SERVICE_NAME") or AGENT)


def _traces(url: str) -> str:
    return url if urlsplit(url).path.endswith(PATH) else url.rstrip("/") + PATH


class Telemetry:
    """Traces of some threads, for one collector."""

    def __init__(self, store: Store, to: Collector, *, content: bool) -> None:
        self._store = store
        self._to = to
        self._content = content
        self._followed: set[str] = set()
        self._began: dict[str, int] = {}
        self._hands = Hands(1, "traces")
        self._sending: set[asyncio.Future[None]] = set()
        self._complained = False

    def follow(self, thread: str) -> None:
        """Send the turns of a thread, from the next one on."""
        self._followed.add(thread)

    def hear(self, message: Message) -> None:
        """Take note of a message that was published."""
        if message.thread not in self._followed:
            return
        if isinstance(message.body, TurnStart):
            self._began[message.thread] = message.seq
        elif isinstance(message.body, TurnEnd):
            began = self._began.pop(message.thread, 1)
            if len(self._sending) >= MOST:
                self._complain("too many traces wait")
                return
            sent = self._hands.submit(self._send, message, began)
            self._sending.add(sent)
            sent.add_done_callback(self._sending.discard)

    async def close(self) -> None:
        """Send what waits, for a moment."""
        if self._sending:
            _, late = await asyncio.wait(self._sending, timeout=LEAVING)
            for one in late:
                self._complain("it did not answer in time")
                one.cancel()
        self._hands.shutdown(wait=False)

    def _send(self, end: Message, began: int) -> None:
        """Send a turn; on a thread of its own, where a collector that hangs holds up nothing."""
        import httpx2

        try:
            data = self._made(end, began)
            if data is None:
                return
            away = urlsplit(self._to.url).hostname not in HERE
            headers = {**self._to.headers, "content-type": "application/json"}
            answer = httpx2.post(
                self._to.url, content=data, headers=headers, timeout=PATIENCE, trust_env=away
            )
            if answer.status_code >= 300:
                self._complain(f"it answered with status {answer.status_code}")
        except (httpx2.HTTPError, httpx2.InvalidURL, SteersmanError, OSError, ValueError) as error:
            self._complain(str(error) or type(error).__name__)

    def _made(self, end: Message, began: int) -> bytes | None:
        """A turn out of the log; one that another process began is found there as well."""
        messages = read_messages(
            self._store, end.thread, after=began - 1, until=end.seq, kinds=KINDS
        )  # fmt: skip
        own = (one for one in messages if one.turn == end.turn)
        trace = trace_of(own, content=self._content)
        return otlp(trace, self._to.service, __version__) if trace else None

    def _complain(self, why: str) -> None:
        if not self._complained:
            self._complained = True
            log.warning("Traces cannot be sent to %s: %s.", self._to.url, why.rstrip("."))
