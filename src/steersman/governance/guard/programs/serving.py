"""Programs that serve a folder over the network: which folder, and who can reach it."""

import re
from typing import NamedTuple

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import shown
from steersman.governance.guard.options import read_options
from steersman.governance.guard.paths import OWN, Zone
from steersman.governance.guard.places import holds_secrets
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.hosts import host_of


class Server(NamedTuple):
    """A server's options for folder and address; `local` when others reach it only by an option."""

    folder: str = ""
    address: str = ""
    operand: bool = True
    valued: str = ""
    local: bool = False
    mild: bool = False  # a project's own tool: its own folder may be served without asking


_S = Server
_PORT = "-p --port "
SERVERS: dict[str, Server] = {
    "http.server": _S("-d --directory", "-b --bind", operand=False, valued="-p --protocol"),
    "SimpleHTTPServer": _S(operand=False),
    "CGIHTTPServer": _S(operand=False),
    "RangeHTTPServer": _S("-d --directory", "-b --bind", operand=False),
    "uploadserver": _S("-d --directory", "-b --bind", operand=False, valued="-t -c"),
    "pyftpdlib": _S("-d --directory", "-i --interface", operand=False, valued="-p -u -P -r"),
    "updog": _S("-d --directory", operand=False, valued=_PORT + "--password"),
    "twisted": _S("--path", "--listen", valued=_PORT),
    "twistd": _S("--path", "--listen", valued=_PORT + "--pidfile"),
    "serve": _S("", "-l --listen", valued=_PORT + "-c --config --ssl-cert --ssl-key", mild=True),
    "http-server": _S("", "-a", valued=_PORT + "-c -t -P -S -C -K --proxy", mild=True),
    "live-server": _S("", "--host", valued="--port --open --mount", mild=True),
    "browser-sync": _S("-s --server --serveStatic", "--host", valued="--files -f", mild=True),
    "lite-server": _S("--baseDir", "--host", mild=True),
    "servor": _S(mild=True),
    "ws": _S("-d --directory", "--hostname", valued=_PORT),
    "local-web-server": _S("-d --directory", "--hostname", valued=_PORT),
    "http-serve": _S("", "-a", valued=_PORT),
    "static-server": _S("", "-h --host", valued=_PORT),
    "httpd": _S("-h", "-p", operand=False, valued="-c -u -r -f"),
    "caddy": _S("-r --root", "-l --listen", operand=False, valued="--config --domain"),
    "darkhttpd": _S("", "--addr", valued="--port --log --chroot --index"),
    "miniserve": _S("", "-i --interfaces", valued=_PORT + "-a --auth"),
    "simple-http-server": _S("", "--ip", valued=_PORT),
    "static-web-server": _S("-d --root", "-a --host", valued=_PORT),
    "dufs": _S("", "-b --bind", valued=_PORT + "-a --auth"),
    "sfz": _S("", "-b --bind", valued=_PORT, local=True),
    "goshs": _S("-d --dir", "-i --ip", valued=_PORT),
    "gohttpserver": _S("-r --root", "-a --addr", valued="--port"),
    "filebrowser": _S("-r --root", "-a --address", valued="-p --port -d", local=True),
    "webfsd": _S("-r", "-i -l", valued="-p -u -g"),
    "thttpd": _S("-d", "-h", valued="-p -u -l -i -C"),
    "woof": _S("", "-i", valued="-p -c"),
    "svnserve": _S("-r --root", "--listen-host", operand=False, valued="--listen-port"),
    "php": _S("-t", "-S", operand=False, valued="-d -c -f"),
    "httpd.rb": _S("", "-b --bind-address", valued=_PORT + "--max-clients"),
    "rclone": _S("", "--addr", valued="--user --pass --config", local=True),
}
# Words of a server's own language before the folder.
_VERBS = frozenset(("web", "file-server", "serve", "http", "webdav", "ftp", "sftp", "s3", "start"))
_EXPOSED = (Zone.ROOT, Zone.TOP, Zone.SYSTEM, Zone.HOME, Zone.ABOVE)


def server(call: ProgramCall) -> None:
    """A program whose work is to serve a folder."""
    check_flags(call)
    if not any(word in ("--version", "--help", "-v", "-V", "version") for word in call.args):
        serve(call, call.name, call.args)


def serve(call: ProgramCall, name: str, args: list[str]) -> None:
    """Judge what a server hands out, and to whom."""
    how = SERVERS[name]
    options = read_options(args, f"{how.folder} {how.address} {how.valued}")
    words = [word for word in options.rest if word not in _VERBS]
    given = options.get(*how.folder.split())
    folder = given or (words[0] if how.operand and words else ".")
    address = options.get(*how.address.split())
    call.network.append("*")
    closed = how.local if address is None else _loopback(address)
    where = call.zone(folder)
    if where in _EXPOSED or holds_secrets(call.path(folder), call.place):
        say = call.doubt if closed else call.block
        say("exfil.serve", f"serves {where.value} over the network: {shown(folder)}", _INSTEAD)
    elif where not in OWN:
        call.doubt("exfil.serve", f"serves {shown(folder)} from outside the workspace", _INSTEAD)
    elif not closed and not how.mild:
        call.ask("net.listen", "serves files to the whole network", "Bind it to 127.0.0.1.")


_INSTEAD = "Serve a folder inside the workspace, bound to 127.0.0.1."


def _loopback(address: str) -> bool:
    host = host_of(re.sub(r"\A\w+:(?=interface=)\S*interface=", "", address))
    return re.match(r"(?:localhost|127(?:\.\d+){3}|\[?::1\]?)\Z", host) is not None
