"""Programs that fetch and send over HTTP."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.effects import tainted
from steersman.governance.guard.marks import (
    FILE,
    NET,
    OUT,
    SECRET,
    TOKEN,
    shown,
)
from steersman.governance.guard.options import Options, listed
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import secret
from steersman.governance.guard.programs.hosts import (
    LOCAL,
    address_of,
    host_of,
    source_mark,
    url_parts,
)
from steersman.records.patterns import pattern

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


def curl(call: ProgramCall) -> None:
    """`curl`: reads, sends, or changes something elsewhere."""
    options = call.options(_CURL_VALUED)
    urls = options.rest + options.all("--url")
    if options.has("--version", "-V", "--help", "-h", "-M"):
        return
    call.out = "".join(dict.fromkeys(source_mark(url) for url in urls)) or NET
    hosts = [host_of(url) for url in urls] or ["*"]
    call.network += [address_of(url) for url in urls] or ["*"]
    local = all(LOCAL.match(host) for host in hosts)
    _curl_socket(call, options)
    for url in urls:
        if url.startswith("file:"):
            call.read(url)
        if SECRET in url:
            call.block("exfil.url", f"puts credentials into a request to {host_of(url)}")
        elif TOKEN in url and not local:
            say = call.doubt if url.startswith("https://") else call.block
            say("exfil.url", f"puts a credential into the address of {host_of(url)}")
    _curl_sends(call, options, urls, hosts, local)
    _curl_writes(call, options, urls)
    _curl_config(call, options.get("-K", "--config"))


def _curl_socket(call: ProgramCall, options: Options) -> None:
    if not re.search(r"docker|containerd|podman", options.get("--unix-socket") or ""):
        return
    method = options.get("-X", "--request") or ""
    if re.search(r"(?i)POST|DELETE|PUT", method) or options.has("-d", "--data"):
        call.block("docker.socket", "drives the container engine through its socket")
    else:
        call.doubt("docker.socket", "talks to the container engine's socket")


_CURL_LINE = pattern(r"(?m)^\s*-{0,2}([\w-]+)\s*[=: ]\s*\"?([^\"\n]+?)\"?\s*$")


_CURL_UPLOADS = ("upload-file", "T", "data", "d", "form", "F")


def _curl_config(call: ProgramCall, name: str | None) -> None:
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


def _curl_files(options: Options, sent: list[str]) -> list[str]:
    """The files a request carries."""
    files = options.all("-T", "--upload-file")
    for value in sent:
        files += re.findall(r"\A(?:[^=@]*=)?[@<](.+?)(?:;.*)?\Z", value)
    for value in options.all("--data-urlencode"):
        files += re.findall(r"\A\w+@(.+)", value)
    return files


def _curl_file(call: ProgramCall, name: str, host: str, local: bool) -> None:
    """One file a request carries."""
    if name in ("-", "."):
        text = call.stdin or ""
        if tainted(text):
            call.block("exfil.upload", f"sends credentials to {host}")
        return
    path = call.path(name)
    made = call.content(name)
    call.reads.append(call.name_path(path))
    if secret(path, call.place) or tainted(made):
        call.block("exfil.upload", f"sends credentials from {shown(path)} to {host}")
    elif call.zone(name) not in (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE) and not local:
        call.block("exfil.upload", f"sends {shown(path)}, a file outside the workspace, to {host}")


def _curl_sends(
    call: ProgramCall, options: Options, urls: list[str], hosts: list[str], local: bool
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
    files = _curl_files(options, sent)
    host = shown(hosts[0])
    for name in options.all("-b", "--cookie"):
        if "=" not in name and secret(call.path(name), call.place):
            call.block("exfil.upload", f"sends credentials from {shown(name)} to {host}")
    for name in files:
        _curl_file(call, name, host, local)
    values = [
        *sent,
        *options.all("-H", "--header", "-u", "--user", "-b", "--cookie", "-A", "-e", "--url-query"),
    ]
    if any(SECRET in value for value in values) and not local:
        call.block("exfil.upload", f"sends credentials to {host}")
    plain = any(url.startswith("http://") for url in urls)
    if any(TOKEN in value for value in (values if plain else sent)) and not local:
        call.doubt("exfil.upload", f"sends a credential to {host}")
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
_HOLDS = pattern(
    r"(?i):9[23]00/(?:_all|\*|[\w.*-]+/?\Z)|/_all\b|/(?:repos|projects|apps|zones|dns_records|"
    r"droplets|volumes|buckets?|databases?|clusters?|instances?|servers?|users|orgs|organizations|"
    r"accounts|customers|sites|services|environments|namespaces|collections|tables|topics|queues|"
    r"indexes|indices|secrets|keys|records|backups|snapshots|vms|nodes|deployments|resourceGroups|"
    r"subscriptions|tenants|teams|groups|branches|releases|tags|refs)(?:/|\Z)"
)


def _curl_writes(call: ProgramCall, options: Options, urls: list[str]) -> None:
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


def wget(call: ProgramCall) -> None:
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
    call.network += [address_of(url) for url in urls] or ["*"]
    made = "".join(dict.fromkeys(source_mark(url) for url in urls)) or NET
    _wget_sends(call, options, urls)
    for helper in options.all("--use-askpass"):
        call.doubt("flag.helper", f"runs the helper {shown(helper)}")
    if call.name.startswith("wget"):
        for log in options.all("-o", "-a", "--output-file", "--append-output"):
            call.write(log, FILE)
    for listing in options.all("-i", "--input-file"):
        call.read(listing)
    for text in options.all("-e", "--execute"):
        if "askpass" in text or "proxy" in text:
            call.doubt("flag.helper", f"sets `{shown(text)}`")
    if call.name == "wget" and options.has("--spider"):
        return
    name = options.get("-O", "--output-document", "--out") or (
        "-" if call.name in _SHOWS and not options.has("-o", "-d", "--download") else None
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


def _wget_sends(call: ProgramCall, options: Options, urls: list[str]) -> None:
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


def httpie(call: ProgramCall) -> None:
    """`http METHOD URL key=value`."""
    words = [word for word in call.args if not word.startswith("-")]
    method = words[0].upper() if words and words[0].isupper() else "GET"
    urls = [word for word in words if re.match(r"https?://|:\d|[\w-]+\.\w+|localhost", word)]
    call.network += [address_of(url) for url in urls]
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
