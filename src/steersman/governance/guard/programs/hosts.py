"""Addresses: the host in a URL, and which hosts are this machine or a well-known installer's."""

import re

from steersman.governance.guard.marks import (
    DEEP,
    EVERY,
    FILE,
    KNOWN_NET,
    NET,
    OUT,
    SECRET,
    STAR,
    TOKEN,
    shown,
)
from steersman.records.patterns import pattern

LOCAL = pattern(
    r"(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|"
    r"[\w-]+\.(?:localhost|local|test))(?::\d+)?\Z"
)


_HOME_NAMES = pattern(r"\.(?:local|localhost|test|internal|lan|home|localdomain|arpa)\.?\Z")
_LABELS = pattern(f"[{OUT}{FILE}{EVERY}{SECRET}{TOKEN}{STAR}{DEEP}]" r"[^/]*\.[a-zA-Z][\w-]*\.?\Z")


def tells(host: str, printed: set[str]) -> bool:
    """True when a public name carries what a command printed as a label."""
    labels = re.split(r"[.-]", host.rpartition(".")[0].rpartition(".")[0])
    told = _LABELS.search(host) is not None or any(label in printed for label in labels if label)
    return told and not at_home(host)


def at_home(host: str) -> bool:
    """True for a name that no public server answers."""
    return _HOME_NAMES.search(host) is not None


INSTALLERS = pattern(
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


_KNOWN_REPOS = pattern(
    r"/(?:Homebrew|homebrew|nvm-sh|creationix|ohmyzsh|robbyrussell|pyenv|rbenv|"
    r"asdf-vm|helm|kubernetes|kubernetes-sigs|docker|rust-lang|golangci|aquasecurity|"
    r"anchore|junegunn|tj|zsh-users|rancher|k3d-io|kubernetes/minikube|google|"
    r"microsoft|hashicorp|jesseduffield|starship|astral-sh|aws|Azure|python-poetry|"
    r"dokku|pi-hole|coder|cli|evilmartians|grafana|prometheus|fluxcd|argoproj|"
    r"cilium|istio|projectdiscovery|sdkman|conda-forge|dotnet|denoland|oven-sh|"
    r"vercel|sst|tfutils|tofuutils|warrensbox|wagoodman|charmbracelet|goreleaser|"
    r"bazelbuild|earthly)/"
)


_URL = pattern(
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


def address_of(url: str) -> str:
    """The host of a URL with the port that was written."""
    found = re.match(
        r"(?:[\w+.-]+://)?(?:[^/@\s]*@)?(?:\[[^\]]+\]|[^/:?#\s]+)?(:\d+)?(?=[/?#]|\Z)", url
    )
    return shown(host_of(url)) + (found[1] or "" if found else "")
