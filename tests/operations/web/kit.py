"""A web server on loopback whose pages are functions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """Pages by path; `asked` are the requests in the order they came."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: dict[str, Answer] = {}
        self.asked: list[str] = []

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of a page."""
        return f"http://{host}:{self.port}{path}"

    def page(self, path: str, body: str | bytes, kind: str = "text/html; charset=utf-8") -> str:
        """Put up a page; its address."""
        content = body.encode() if isinstance(body, str) else body

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.send_header("Content-Type", kind)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content)

        self.pages[path] = answer
        return self.url(path)

    def redirect(self, path: str, to: str) -> str:
        """Put up a redirect; its address."""

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(302)
            request.send_header("Location", to)
            request.send_header("Content-Length", "0")
            request.end_headers()

        self.pages[path] = answer
        return self.url(path)


@contextmanager
def site() -> Iterator[Site]:
    """A site that is served until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place.asked.append(self.path)
            answer = place.pages.get(self.path.partition("?")[0])
            if answer is None:
                self.send_error(404)
                return
            try:
                answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    place = Site(server.server_address[1])
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield place
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
