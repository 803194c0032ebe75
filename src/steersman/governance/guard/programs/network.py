"""Programs that use the network: fetch, send, connect, log in elsewhere."""

import re

from steersman.governance.guard.call import Call
from steersman.governance.guard.effects import harmful, tainted
from steersman.governance.guard.marks import (
    FILE,
    KNOWN_NET,
    NET,
    OUT,
    SECRET,
    SHELL,
    shown,
    unknown,
)
from steersman.governance.guard.options import Options, listed, read_options, skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import holds_secrets, secret

LOCAL = re.compile(
    r"(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|"
    r"[\w-]+\.(?:localhost|local|test))(?::\d+)?\Z"
)
INSTALLERS = re.compile(
    r"(?:sh\.rustup\.rs|astral\.sh|get\.docker\.com|install\.python-poetry\.org|"
    r"bun\.sh|bun\.com|deno\.land|get\.pnpm\.io"
    r"|get\.sdkman\.io|get\.k3s\.io|fly\.io|nixos\.org|starship\.rs|mise\.run|"
    r"mise\.jdx\.dev|get\.volta\.sh|pyenv\.run|get\.rvm\.io"
    r"|brew\.sh|deb\.nodesource\.com|rpm\.nodesource\.com|install\.determinate\.systems|"
    r"get\.helm\.sh|cli\.github\.com|ohmyposh\.dev"
    r"|install\.meteor\.com|getcomposer\.org|sh\.brew\.sh|get\.pulumi\.com|tailscale\.com|"
    r"ollama\.com|ollama\.ai|claude\.ai|dl\.google\.com"
    r"|packages\.microsoft\.com|aka\.ms|dot\.net|get\.haskellup\.org|get-ghcup\.haskell\.org|"
    r"get\.haskellstack\.org|bootstrap\.pypa\.io"
    r"|cursor\.com|rclone\.org|cht\.sh|linkerd\.io|run\.linkerd\.io|istio\.io|"
    r"get\.jetify\.com|get\.jetpack\.io|foundry\.paradigm\.xyz"
    r"|sh\.uv\.dev|zed\.dev|get\.opentofu\.org|vercel\.com|install\.citusdata\.com|"
    r"get\.please\.build|setup\.atuin\.sh|get\.dagger\.io"
    r"|dl\.dagger\.io|get\.okteto\.com|raw\.github\.com|supabase\.com|fnm\.vercel\.app|"
    r"get\.acme\.sh|moonrepo\.dev|proto\.moonrepo\.dev|go\.dev|download\.docker\.com|"
    r"sdk\.cloud\.google\.com|awscli\.amazonaws\.com|apt\.llvm\.org|install\.direnv\.net|"
    r"direnv\.net|yarnpkg\.com|chezmoi\.io|get\.chezmoi\.io|pixi\.sh|micro\.mamba\.pm|"
    r"repo\.anaconda\.com|rustup\.rs|nodejs\.org|npmjs\.org|opencode\.ai)\Z"
)
_KNOWN_REPOS = re.compile(
    r"/(?:Homebrew|homebrew|nvm-sh|creationix|ohmyzsh|robbyrussell|pyenv|rbenv|"
    r"asdf-vm|helm|kubernetes|kubernetes-sigs|docker|rust-lang|golangci|aquasecurity|"
    r"anchore|junegunn|tj|zsh-users|rancher|k3d-io|kubernetes/minikube|google|"
    r"microsoft|hashicorp|jesseduffield|starship|astral-sh|aws|Azure|python-poetry|"
    r"dokku|pi-hole|coder|cli|evilmartians|grafana|prometheus|fluxcd|argoproj|"
    r"cilium|istio|projectdiscovery|sdkman|conda-forge|dotnet|denoland|oven-sh|"
    r"vercel|sst|tfutils|tofuutils|warrensbox|wagoodman|charmbracelet|goreleaser|"
    r"bazelbuild|earthly)/"
)


_URL = re.compile(
    r"(?:([A-Za-z][\w+.-]*)://)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/:?#]*)(?::\d*)?([^?#]*)", re.DOTALL
)


def url_parts(url: str) -> tuple[str, str, str]:
    """Scheme, host and path of an address; never fails."""
    found = _URL.match(url)
    if found is None:
        return "", "", ""
    return (found[1] or "").lower(), found[2].lower(), found[3]


def source_mark(url: str) -> str:
    """What a download is: from a known installer, from this machine, or from nobody knows where."""
    scheme, host, path = url_parts(url)
    if LOCAL.match(host):
        return OUT
    if scheme == "https" or "://" not in url:
        if INSTALLERS.match(host.removeprefix("www.")) and "://" in url:
            return KNOWN_NET
        if host in (
            "raw.githubusercontent.com",
            "github.com",
            "gitlab.com",
            "cdn.jsdelivr.net",
        ) and _KNOWN_REPOS.match(path):
            return KNOWN_NET
    return NET


def host_of(url: str) -> str:
    """The host of a URL or of user@host:path."""
    found = re.match(r"(?:[\w+.-]+://)?(?:[^/@\s]*@)?(\[[^\]]+\]|[^/:?#\s]+)", url)
    return found[1] if found else "*"


_CURL_VALUED = (
    "-o -d -F -T -X -H -u -A -e -b -c -K -x -E -w -m -r -C -Q -P -D -y -Y -z "
    "-U -t --output --data --data-raw --data-binary --data-urlencode "
    "--data-ascii --json --form --form-string --upload-file --request --header "
    "--user --user-agent --referer --cookie --cookie-jar --config "
    "--proxy --cert --key --cacert --capath --write-out --max-time --connect-timeout "
    "--retry --retry-delay --range --resolve --proto "
    "--proto-redir --url --output-dir --dump-header --interface --netrc-file "
    "--limit-rate --tls-max --ciphers --engine --trace --trace-ascii "
    "--stderr --unix-socket --socks5 --socks5-hostname --max-filesize --max-redirs "
    "--noproxy --oauth2-bearer --url-query --aws-sigv4"
)


def curl(call: Call) -> None:
    """`curl`: reads, sends, or changes something elsewhere."""
    options = call.options(_CURL_VALUED)
    urls = options.rest + options.all("--url")
    if options.has("--version", "-V", "--help", "-h", "-M"):
        return
    call.out = "".join(dict.fromkeys(source_mark(url) for url in urls)) or NET
    hosts = [host_of(url) for url in urls] or ["*"]
    call.network += [shown(host) for host in hosts]
    local = all(LOCAL.match(host) for host in hosts)
    _curl_socket(call, options)
    for url in urls:
        if url.startswith("file:"):
            call.read(url)
        if SECRET in url:
            call.block("exfil.url", f"puts credentials into a request to {host_of(url)}")
    _curl_sends(call, options, urls, hosts, local)
    _curl_writes(call, options, urls)
    _curl_config(call, options.get("-K", "--config"))


def _curl_socket(call: Call, options: Options) -> None:
    if not re.search(r"docker|containerd|podman", options.get("--unix-socket") or ""):
        return
    method = options.get("-X", "--request") or ""
    if re.search(r"(?i)POST|DELETE|PUT", method) or options.has("-d", "--data"):
        call.block("docker.socket", "drives the container engine through its socket")
    else:
        call.doubt("docker.socket", "talks to the container engine's socket")


_CURL_LINE = re.compile(r"(?m)^\s*-{0,2}([\w-]+)\s*[=: ]\s*\"?([^\"\n]+?)\"?\s*$")


_CURL_UPLOADS = ("upload-file", "T", "data", "d", "form", "F")


def _curl_config(call: Call, name: str | None) -> None:
    """`-K FILE`: options from a file; read when this line wrote it."""
    if name is None:
        return
    made = call.stdin if name == "-" else call.content(name)
    for key, value in _CURL_LINE.findall(made or ""):
        if key in ("output", "o", "cookie-jar", "dump-header"):
            call.write(value, call.out)
        elif key in _CURL_UPLOADS and secret(call.path(value.lstrip("@")), call.place):
            call.block("exfil.upload", "sends credentials")
    if made is None:
        call.read(name, quiet=True)
        if call.zone(name) is not Zone.INSIDE:
            call.doubt("flag.helper", f"takes its options from {shown(name)}")


def _curl_sends(
    call: Call, options: Options, urls: list[str], hosts: list[str], local: bool
) -> None:
    sent = options.all(
        "-d",
        "--data",
        "--data-binary",
        "--data-urlencode",
        "--data-ascii",
        "--data-raw",
        "--json",
        "-F",
        "--form",
    )
    files = options.all("-T", "--upload-file")
    for value in sent:
        found = re.match(r"(?:[^=@]*=)?[@<](.+?)(?:;.*)?\Z", value)
        if found:
            files.append(found[1])
    host = shown(hosts[0])
    for name in files:
        if name in ("-", "."):
            text = call.stdin or ""
            if tainted(text):
                call.block("exfil.upload", f"sends credentials to {host}")
            continue
        path = call.path(name)
        made = call.content(name)
        call.reads.append(shown(path))
        if secret(path, call.place) or tainted(made):
            call.block("exfil.upload", f"sends credentials from {shown(path)} to {host}")
        elif call.zone(name) not in (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE) and not local:
            call.block(
                "exfil.upload", f"sends {shown(path)}, a file outside the workspace, to {host}"
            )
    values = [
        *sent,
        *options.all("-H", "--header", "-u", "--user", "-b", "--cookie", "-A", "-e", "--url-query"),
    ]
    if any(tainted(value) for value in values) and not local:
        call.block("exfil.upload", f"sends credentials to {host}")
    method = (options.get("-X", "--request") or "").upper()
    changes = (bool(sent or files) and not options.has("-G", "--get")) or method in (
        "POST",
        "PUT",
        "DELETE",
        "PATCH",
    )
    if method == "DELETE" and any(
        _HOLDS.search(url) and (not local or re.search(r"_all|\*", url)) for url in urls
    ):
        call.block("remote.delete", f"deletes data at {host}")
    if changes and not local:
        call.remote = f"{method or 'POST'} to {host}"
        call.ask("net.send", f"sends data to {host}", "Only read from the network.")
    if re.search(
        r"169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200", " ".join(urls)
    ):
        call.block(
            "secrets.metadata", "reads the machine's cloud credentials from its metadata service"
        )


# Addresses of things whose deletion is a loss for others.
_HOLDS = re.compile(
    r"(?i):9[23]00/(?:_all|\*|[\w.*-]+/?\Z)|/_all\b|/(?:repos|projects|apps|zones|dns_records|"
    r"droplets|volumes|buckets?|databases?|clusters?|instances?|servers?|users|orgs|organizations|"
    r"accounts|customers|sites|services|environments|namespaces|collections|tables|topics|queues|"
    r"indexes|indices|secrets|keys|records|backups|snapshots|vms|nodes|deployments|resourceGroups|"
    r"subscriptions|tenants|teams|groups|branches|releases|tags|refs)(?:/|\Z)"
)


def _curl_writes(call: Call, options: Options, urls: list[str]) -> None:
    folder = options.get("--output-dir") or ""
    for name in options.all("-o", "--output"):
        if name not in ("-", "/dev/null"):
            call.write((folder.rstrip("/") + "/" if folder else "") + name, call.out)
            call.scene.files[call.path(name)] = call.out
    if options.has("-O", "--remote-name", "--remote-name-all", "-OL", "-LO"):
        for url in urls:
            name = url_parts(url)[2].rsplit("/", 1)[-1] or "index.html"
            call.write((folder.rstrip("/") + "/" if folder else "") + name, call.out)
    for name in options.all(
        "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr"
    ):
        if name != "-":
            call.write(name, FILE)
    shows = (options.get("-o", "--output") or "") in ("-", "/dev/stdout")
    if options.has("-o", "--output", "-O", "--remote-name") and not shows:
        call.out = ""


def wget(call: Call) -> None:
    """`wget`, `aria2c`, `fetch`, `http`: the same with other letters."""
    valued = (
        "-O -o -a -P -U -e -i -t -T -Q -A -R -D -I -X -l -B --output-document --output-file "
        "--directory-prefix --post-data --post-file "
        "--body-data --body-file --method --header --user --password --use-askpass "
        "--execute --input-file --user-agent --referer "
        "--load-cookies --save-cookies --limit-rate --tries --timeout --dir -d --out -x -s"
    )
    browser = call.name in ("lynx", "w3m", "links", "elinks")
    options = call.options("" if browser else valued, single=browser)
    urls = options.rest
    call.network += [shown(host_of(url)) for url in urls] or ["*"]
    made = "".join(dict.fromkeys(source_mark(url) for url in urls)) or NET
    _wget_sends(call, options, urls)
    for helper in options.all("--use-askpass"):
        call.doubt("flag.helper", f"runs the helper {shown(helper)}")
    for listing in options.all("-i", "--input-file"):
        call.read(listing)
    for text in options.all("-e", "--execute"):
        if "askpass" in text or "proxy" in text:
            call.doubt("flag.helper", f"sets `{shown(text)}`")
    if call.name == "wget" and options.has("--spider"):
        return
    name = options.get("-O", "--output-document", "--out") or (
        "-"
        if call.name in _SHOWS
        and not options.has("-o", "-d", "--download")
        else None
    )
    if call.name in ("fetch", "aria2c", "axel") and options.get("-o"):
        name = options.get("-o")
    folder = options.get("-P", "--directory-prefix", "--dir", "-d") or ""
    if name in {"-", "/dev/stdout"} or (name or "").endswith("O-") or options.has("-qO-"):
        call.out = made
        return
    if name is not None:
        call.write(name, made)
        call.scene.files[call.path(name)] = made
    else:
        for url in urls:
            tail = url_parts(url)[2].rsplit("/", 1)[-1] or "index.html"
            call.write((folder.rstrip("/") + "/" if folder else "") + tail, made)
    call.out = OUT


_SHOWS = listed("fetch http https lynx w3m links elinks xh curlie lwp-request GET")


def _wget_sends(call: Call, options: Options, urls: list[str]) -> None:
    host = shown(host_of(urls[0])) if urls else "*"
    local = all(LOCAL.match(host_of(url)) for url in urls)
    for name in options.all("--post-file", "--body-file"):
        path = call.path(name)
        if (
            secret(path, call.place)
            or tainted(call.content(name))
            or (call.zone(name) not in (Zone.INSIDE, Zone.TEMP) and not local)
        ):
            call.block("exfil.upload", f"sends {shown(path)} to {host}")
    values = [
        *options.all("--post-data", "--body-data", "--header", "--user-agent", "-U", "--referer"),
        *urls,
    ]
    if any(tainted(value) for value in values):
        call.block("exfil.upload", f"sends credentials to {host}")
    if (
        options.has("--post-data", "--post-file", "--body-data", "--body-file")
        or (options.get("--method") or "GET").upper() not in ("GET", "HEAD")
    ) and not local:
        call.ask("net.send", f"sends data to {host}")


def httpie(call: Call) -> None:
    """`http METHOD URL key=value`."""
    words = [word for word in call.args if not word.startswith("-")]
    method = words[0].upper() if words and words[0].isupper() else "GET"
    urls = [word for word in words if re.match(r"https?://|:\d|[\w-]+\.\w+|localhost", word)]
    call.network += [shown(host_of(url)) for url in urls]
    local = bool(urls) and (urls[0].startswith(":") or LOCAL.match(host_of(urls[0])) is not None)
    call.out = source_mark(urls[0]) if urls else NET
    if call.stdin and tainted(call.stdin):
        call.block("exfil.upload", "sends credentials over the network")
    sends = (
        any(re.match(r"[\w-]+:?=|[\w-]+@", word) for word in words if word not in urls)
        or call.stdin is not None
    )
    if (method not in ("GET", "HEAD", "OPTIONS") or sends) and not local:
        call.ask("net.send", "sends data over the network")
    for word in words:
        found = re.match(r"[\w-]*=?:?=?@(.+)", word)
        if found and secret(call.path(found[1]), call.place):
            call.block("exfil.upload", f"sends {shown(found[1])}")


def netcat(call: Call) -> None:
    """`nc`, `socat`, `telnet`: raw connections."""
    options = call.options(
        "-e -c -p -s -w -i -X -x -q -g -G -O -P -T --exec --sh-exec --source-port --wait --proxy"
    )
    text = " ".join(call.args)
    call.out = NET
    hosts = [
        word for word in options.rest if not word.isdigit() and not re.fullmatch(r"\d+-\d+", word)
    ]
    local = bool(hosts) and all(LOCAL.match(host_of(host)) for host in hosts)
    call.network += [shown(host) for host in hosts] or ["*"]
    if (
        options.has("-e", "-c", "--exec", "--sh-exec")
        and call.name in ("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd")
    ) or re.search(r"(?i)\b(?:EXEC|SYSTEM):", text):
        call.block("net.reverse-shell", "gives a shell to whoever is on the other side")
        return
    if options.has("-z", "-h", "--help", "--version"):
        if not local:
            call.ask("net.probe", "probes ports of another machine")
        return
    if call.stdin is not None and SHELL in call.stdin:
        call.block("net.reverse-shell", "connects a shell to another machine")
    if tainted(call.stdin):
        call.block(
            "exfil.socket", f"sends credentials to {shown(hosts[0]) if hosts else 'the network'}"
        )
    elif options.has("-l", "--listen") or re.search(r"(?i)LISTEN", text):
        call.ask("net.listen", "waits for connections from the network")
        if call.stdin is not None and "\ue001" in call.stdin and "sh" in call.shell.via:
            call.block("net.reverse-shell", "connects a shell to the network")
    elif not local:
        if call.stdin is not None and FILE in call.stdin:
            call.ask("net.send", "sends a file over a raw connection")
        else:
            call.ask("net.socket", "opens a raw connection")


def lookup(call: Call) -> None:
    """`dig`, `ping`, `whois`: names and reachability; names can carry secrets."""
    words = [word for word in call.args if not word.startswith(("-", "+", "@"))]
    if call.name == "getent":
        if words[:1] and words[0] in ("shadow", "gshadow"):
            call.out = SECRET
            call.block("secrets.read", "prints the machine's password hashes")
        return
    call.network += [shown(word) for word in words[:2]]
    if any(tainted(word) for word in call.args) or tainted(call.stdin):
        call.block("exfil.dns", "puts credentials into a name lookup")
    elif any(unknown(word) and "." in word for word in words) and call.name not in ("ping",):
        call.doubt("exfil.dns", "looks up a name made of unknown text")
    if call.name == "ping" and "-f" in call.args:
        call.ask("net.flood", "floods the network")


_SSH_VALUED = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"


def ssh(call: Call) -> None:
    """`ssh host command`: the command runs elsewhere; options may run some here."""
    rest = skip_options(call.args, _SSH_VALUED)
    head = call.args[: len(call.args) - len(rest)]
    options = read_options(head, _SSH_VALUED)
    _ssh_options(call, options)
    if options.has("-V", "-Q", "-G"):
        return
    if not rest:
        return
    host = host_of(rest[0])
    call.network.append(shown(host))
    command = rest[1:]
    later = skip_options(command, _SSH_VALUED)
    if len(later) != len(command):
        _ssh_options(call, read_options(command[: len(command) - len(later)], _SSH_VALUED))
        command = later
    text = call.stdin or ""
    if tainted(text) or any(tainted(word) for word in command):
        call.block("exfil.socket", f"sends credentials to {shown(host)}")
    call.remote = f"logs in to {shown(host)}"
    known = " ".join(command)
    if command:
        call.script(known, stdin=call.stdin)
        call.wrapper = False
        call.ask("remote.login", f"runs a command on {shown(host)}")
    elif text and not unknown(text):
        call.script(text)
        call.wrapper = False
        call.ask("remote.login", f"runs a script on {shown(host)}")
    elif text:
        call.ask("remote.login", f"runs an unknown script on {shown(host)}")
    else:
        call.ask("remote.login", f"logs in to {shown(host)}")
    if options.has("-R", "-D", "-L", "-w"):
        call.ask("net.tunnel", "opens a tunnel")
    call.out = NET


def _ssh_options(call: Call, options: Options) -> None:
    for text in options.all("-o"):
        found = re.match(
            r"(?i)\s*(ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand|Match\s+exec|"
            r"PKCS11Provider|SecurityKeyProvider)\s*[= ]\s*(.*)",
            text,
            re.DOTALL,
        )
        if found:
            call.doubt("flag.run", f"runs `{shown(found[2], 50)}`")
            call.script(found[2])
            call.wrapper = False
    for name in options.all("-S", "-F", "-I", "-D"):
        if (
            name
            and call.name in ("scp", "sftp")
            and name.startswith("/")
            and call.zone(name) is not Zone.INSIDE
        ):
            call.doubt("flag.helper", f"runs or obeys {shown(name)}")
    for name in options.all("-F"):
        made = call.content(name)
        if made is not None and harmful(call.shell, made):
            call.block("flag.run", "takes harmful settings from a file")
    for name in options.all("-F") if call.name == "ssh" else ():
        if call.zone(name) not in (Zone.INSIDE, Zone.OUTSIDE):
            call.doubt("flag.helper", f"takes its settings from {shown(name)}")


def scp(call: Call) -> None:
    """`scp`, `sftp`, `ftp`: files to and from another machine."""
    options = call.options("-c -F -i -J -l -o -P -S -D -b -B -R -s -X")
    _ssh_options(call, options)
    words = options.rest
    if not words:
        return
    target, sources = words[-1], words[:-1]
    if re.match(r"(?:[\w.-]+@)?[\w.-]+:|s?cp://", target) and not target.startswith("/"):
        host = shown(host_of(target))
        call.network.append(host)
        call.remote = f"copies files to {host}"
        if any(
            holds_secrets(call.path(word), call.place)
            or tainted(call.content(word))
            or call.zone(word) in (Zone.HOME,)
            for word in sources
        ):
            call.block("exfil.copy", f"copies credentials to {host}")
        elif call.name == "scp":
            call.ask("remote.copy", f"copies files to {host}")
    else:
        for word in sources:
            call.network.append(shown(host_of(word)))
            name = word.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
            where = (
                target.rstrip("/") + "/" + name
                if target in (".", "./") or target.endswith("/")
                else target
            )
            call.write(where, NET)
            call.scene.files[call.path(where)] = NET
        call.ask("remote.copy", "copies files from another machine")
    if call.name != "scp":
        call.ask("remote.copy", "transfers files to or from another machine")


def expose(call: Call) -> None:
    """`ngrok` and other tunnels."""
    if call.args[:1] and call.args[0] in ("version", "--version", "help", "--help", "config"):
        return
    call.ask("net.expose", "makes a local port reachable from the internet")


def mail(call: Call) -> None:
    """`mail`, `sendmail`: text to other people."""
    options = call.options("-a -A -s -c -b -r -S -t -f --attach")
    files = options.all("-a", "-A", "--attach")
    if (
        tainted(call.stdin)
        or any(secret(call.path(name), call.place) for name in files)
        or any(tainted(word) for word in call.args)
    ):
        call.block("exfil.mail", "mails credentials")
    else:
        call.ask("net.send", "sends mail")


def scan_hosts(call: Call) -> None:
    """`nmap` and other probes; scripts may be given."""
    for word in call.args:
        found = re.match(r"--script=(.*)", word)
        if found is None and word.startswith("/") and "--script" in call.args:
            found = re.match(r"(.*)", word)
            made = call.content(word)
            if made:
                from steersman.governance.guard.code import scan

                scan(call.shell, made, "lua")
        if found and "/" in found[1]:
            call.doubt("flag.helper", f"runs the script {shown(found[1])}")
    words = [word for word in call.args if not word.startswith("-")]
    if not words or not LOCAL.match(words[-1]):
        call.ask("net.probe", "probes other machines")


def remote_run(call: Call) -> None:
    """Windows programs that fetch and run."""
    if (
        any(re.match(r"(?i)https?://", word) for word in call.args)
        or "iwr" in " ".join(call.args).lower()
    ):
        call.block("net.run", "runs code fetched from the network")
    else:
        call.ask("program.unknown", "runs a Windows program")


def gsutil_like(call: Call) -> None:
    """`croc`, `wormhole`, `transfer`: send files to others."""
    if tainted(call.stdin) or any(secret(call.path(word), call.place) for word in call.args):
        call.block("exfil.copy", "sends credentials to somebody")
    else:
        call.ask("net.send", "sends files to somebody")


HANDLERS = {
    "curl": curl,
    "curlie": curl,
    **{
        name: wget
        for name in listed(
            "wget wget2 aria2c axel fetch lynx w3m links elinks lwp-request lwp-download GET snarf"
        )
    },
    **{name: httpie for name in listed("http https xh xhs httpie")},
    **{
        name: netcat
        for name in listed("nc ncat netcat socat telnet nc.traditional nc.openbsd websocat")
    },
    **{
        name: lookup
        for name in listed(
            "dig nslookup host ping ping6 traceroute tracepath mtr whois drill resolvectl "
            "getent kdig doggo"
        )
    },
    "ssh": ssh,
    "autossh": ssh,
    "mosh": ssh,
    "rsh": ssh,
    "dbclient": ssh,
    **{name: scp for name in listed("scp sftp ftp lftp tftp ncftp pscp")},
    **{
        name: expose
        for name in listed(
            "ngrok cloudflared localtunnel lt bore frpc chisel serveo zrok pagekite "
            "inlets localhost.run"
        )
    },
    **{name: mail for name in listed("mail mailx sendmail mutt msmtp swaks ssmtp s-nail neomutt")},
    **{
        name: scan_hosts
        for name in listed("nmap masscan zmap nikto sqlmap hydra gobuster ffuf nuclei rustscan")
    },
    **{
        name: remote_run
        for name in listed(
            "mshta iwr Invoke-WebRequest certutil bitsadmin regsvr32 rundll32 wscript "
            "cscript Invoke-Expression msiexec"
        )
    },
    **{
        name: gsutil_like
        for name in listed(
            "croc wormhole magic-wormhole ffsend transfer gist pastebinit wgetpaste termbin"
        )
    },
}
