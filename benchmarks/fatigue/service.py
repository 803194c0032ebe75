"""A server on the loopback: a registry with one npm package and one wheel, a script to install, and
an ear for whatever is sent. What it receives are files in a folder, so that a check can find it."""

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

VERSION = "1.0.0"
INSTALLER = 'mkdir -p "$HOME/.local/bin" && echo installed > "$HOME/.local/bin/helper"\n'


def npm_package() -> bytes:
    """A package of one file, the same bytes every time."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        manifest = json.dumps({"name": "pad-left", "version": VERSION, "main": "index.js"})
        code = "module.exports = (text, width) => String(text).padStart(width);\n"
        for name, content in (("package.json", manifest), ("index.js", code)):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content.encode()))
    return made.getvalue()


def integrity() -> str:
    """The digest of that package as a lock file has it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(npm_package()).digest()).decode()


def wheel() -> bytes:
    """A wheel of one module."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = f"padleft-{VERSION}.dist-info"
        archive.writestr("padleft.py", "def pad(text, width):\n    return text.rjust(width)\n")
        about = f"Metadata-Version: 2.1\nName: padleft\nVersion: {VERSION}\n"
        kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{info}/METADATA", about)
        archive.writestr(f"{info}/WHEEL", kind)
        archive.writestr(f"{info}/RECORD", "")
    return made.getvalue()


def _packument(url: str) -> dict[str, object]:
    dist = {"tarball": f"{url}/pad-left/-/pad-left-{VERSION}.tgz", "integrity": integrity()}
    version = {"name": "pad-left", "version": VERSION, "dist": dist}
    return {"name": "pad-left", "dist-tags": {"latest": VERSION}, "versions": {VERSION: version}}


def _answers(url: str) -> dict[str, bytes]:
    file = f"padleft-{VERSION}-py3-none-any.whl"
    page = f'<html><body><a href="/wheels/{file}">{file}</a></body></html>'
    return {
        "/install.sh": INSTALLER.encode(),
        "/pad-left": json.dumps(_packument(url)).encode(),
        f"/pad-left/-/pad-left-{VERSION}.tgz": npm_package(),
        "/simple/padleft/": page.encode(),
        f"/wheels/{file}": wheel(),
    }


@contextmanager
def service(received: Path) -> Iterator[str]:
    """The server, for as long as it is needed; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            port = self.connection.getsockname()[1]
            found = _answers(f"http://127.0.0.1:{port}").get(path)
            self._answer(200 if found is not None else 404, found or b"{}", path)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            received.mkdir(parents=True, exist_ok=True)
            number = len(list(received.iterdir()))
            (received / f"{number}").write_bytes(f"{self.command} {self.path}\n".encode() + body)
            self._answer(201, b"{}", self.path)

        do_PUT = do_POST

        def _answer(self, status: int, body: bytes, path: str) -> None:
            self.send_response(status)
            kind = "text/html" if path.startswith("/simple") else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
