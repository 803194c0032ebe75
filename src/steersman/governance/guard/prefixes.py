"""Which prefixes of a command a remembered answer may cover, and which would allow anything."""

from steersman.governance.guard.options import listed
from steersman.governance.guard.programs.shells import SHELLS
from steersman.governance.guard.programs.speech_table import ALIASES, SPEECHES
from steersman.governance.guard.programs.wrap_table import WRAPPERS

_ANYTHING = frozenset(
    listed(
        """env sudo doas su sg xargs find fd fdfind ssh scp sftp rsync rclone eval exec command
        builtin source . busybox toybox coreutils watch parallel flock nohup time
        timeout nice npx bunx pnpx uvx tmux screen at batch crontab vim vi nvim emacs
        nano ed ex awk gawk mawk sed gsed rm rmdir mv cp ln dd tee shred chmod chown
        install truncate curl wget nc ncat netcat socat telnet docker podman nerdctl
        kubectl k helm terraform tofu pulumi ansible ansible-playbook salt aws gcloud az
        gh glab make just task mvn gradle tar zip git gdb lldb less more man psql mysql
        sqlite3 mongosh redis-cli trap coproc kill pkill killall systemctl launchctl
        mount umount chroot unshare nsenter openssl base64 tcpdump rg sort split
        parallel entr bind complete alias git-lfs hg svn expect script open xdg-open
        start osascript powershell pwsh cmd apt apt-get brew dnf yum pacman"""
    )
)
# How many words make a meaningful prefix: `git commit`, `docker compose up`, `pytest`.
_ARITY = {
    "git": 2,
    "npm": 2,
    "pnpm": 2,
    "yarn": 2,
    "bun": 2,
    "cargo": 2,
    "go": 2,
    "pip": 2,
    "pip3": 2,
    "poetry": 2,
    "uv": 2,
    "pdm": 2,
    "hatch": 2,
    "docker": 2,
    "podman": 2,
    "kubectl": 2,
    "helm": 2,
    "terraform": 2,
    "tofu": 2,
    "gh": 3,
    "aws": 3,
    "gcloud": 4,
    "az": 3,
    "bundle": 2,
    "gem": 2,
    "composer": 2,
    "dotnet": 2,
    "mix": 2,
    "rails": 2,
    "systemctl": 2,
    "brew": 2,
    "apt": 2,
    "apt-get": 2,
    "flutter": 2,
    "dart": 2,
    "swift": 2,
    "stack": 2,
    "cabal": 2,
    "zig": 2,
    "nx": 2,
    "turbo": 2,
    "conda": 2,
    "alembic": 2,
    "prisma": 3,
    "mkdocs": 2,
    "hugo": 2,
    "ruff": 2,
    "deno": 2,
    "make": 2,
    "just": 2,
    "task": 2,
    "gradle": 2,
    "gradlew": 2,
    "mvn": 2,
    "cmake": 1,
    "rustup": 2,
    "pulumi": 2,
    "pre-commit": 2,
    "nox": 1,
    "tox": 1,
    "black": 1,
    "npx": 2,
    "dvc": 2,
    "dbt": 2,
}
_DEEPER = {
    ("docker", "compose"): 3,
    ("docker", "container"): 3,
    ("docker", "image"): 3,
    ("docker", "volume"): 3,
    ("docker", "network"): 3,
    ("docker", "system"): 3,
    ("docker", "buildx"): 3,
    ("podman", "compose"): 3,
    ("npm", "run"): 3,
    ("pnpm", "run"): 3,
    ("yarn", "run"): 3,
    ("bun", "run"): 3,
    ("uv", "run"): 3,
    ("uv", "pip"): 3,
    ("uv", "tool"): 3,
    ("poetry", "run"): 3,
    ("pdm", "run"): 3,
    ("hatch", "run"): 3,
    ("bundle", "exec"): 3,
    ("git", "stash"): 3,
    ("git", "remote"): 3,
    ("git", "worktree"): 3,
    ("git", "submodule"): 3,
    ("kubectl", "get"): 2,
    ("kubectl", "config"): 3,
    ("kubectl", "rollout"): 3,
    ("git", "bisect"): 3,
    ("terraform", "state"): 3,
    ("terraform", "workspace"): 3,
    ("go", "mod"): 3,
    ("go", "tool"): 3,
    ("cargo", "nextest"): 3,
    ("pip", "config"): 3,
    ("npm", "config"): 3,
    ("git", "config"): 3,
    ("dotnet", "tool"): 3,
    ("conda", "env"): 3,
    ("git", "notes"): 3,
    ("git", "lfs"): 3,
}
_OPEN_ENDED = {
    "git": {
        "-c",
        "-C",
        "config",
        "bisect",
        "submodule",
        "filter-branch",
        "rebase",
        "difftool",
        "clone",
        "push",
        "clean",
        "reset",
        "checkout",
        "restore",
        "send-email",
        "daemon",
        "mergetool",
    },
    "npm": {"run", "exec", "x", "run-script", "explore", "config", "set", "init", "create"},
    "pnpm": {"run", "exec", "dlx", "x"},
    "yarn": {"run", "exec", "dlx", "node"},
    "bun": {"run", "x", "-e"},
    "docker": {
        "run",
        "exec",
        "compose",
        "container",
        "system",
        "volume",
        "image",
        "buildx",
        "build",
    },
    "podman": {"run", "exec", "compose", "system"},
    "kubectl": {"exec", "run", "delete", "apply", "debug"},
    "poetry": {"run"},
    "uv": {"run", "tool", "pip"},
    "pdm": {"run"},
    "hatch": {"run"},
    "bundle": {"exec"},
    "cargo": {"run", "install", "--config", "make", "xtask"},
    "go": {"run", "generate", "tool", "install"},
    "deno": {"run", "eval", "task"},
    "dotnet": {"run", "exec", "tool"},
    "mix": {"run", "eval"},
    "rails": {"runner", "console", "c", "r"},
    "conda": {"run"},
    "nix": {"run", "shell", "develop"},
    "terraform": {"apply", "destroy", "console"},
    "gh": {"api", "extension", "alias"},
    "pip": {"config"},
    "make": {"-f", "--eval", "-C"},
    "npx": set(),
    "cmake": {"-E", "-P"},
    "mvn": {"exec:exec", "exec:java"},
}
_NEVER = frozenset(SHELLS) | frozenset(SPEECHES) | frozenset(ALIASES) | frozenset(WRAPPERS)


def runs_anything(words: tuple[str, ...]) -> bool:
    """True when a rule that allows everything beginning with these words allows any program.

    `git status` is a rule; `git`, `git -c`, `npm run`, `python` and `sudo` are not.
    """
    if not words or not words[0]:
        return True
    name = words[0].rsplit("/", 1)[-1]
    bare = name.rstrip("0123456789.")
    if len(words) == 1:
        return name in _NEVER or bare in _NEVER or name in _ANYTHING or name in _ARITY
    if name in _OPEN_ENDED or name in _ARITY:
        return (
            (
                words[1] in _OPEN_ENDED.get(name, ())
                and len(words) < _DEEPER.get((words[0], words[1]), 3)
            )
            or (words[1].startswith("-"))
            or _third(words)
        )
    if name in ("make", "just", "task"):
        return words[1].startswith("-")
    return name in _NEVER or bare in _NEVER or name in _ANYTHING


# `run` starts what a file of the project says, which may change after the answer.
_SCRIPTED = frozenset(listed("docker podman kubectl npx cargo npm pnpm yarn bun"))


def _third(words: tuple[str, ...]) -> bool:
    """`uv run python`, `bundle exec`, `npx X`: what a runner runs must itself be bounded."""
    runner = words[:2] in {
        ("uv", "run"),
        ("poetry", "run"),
        ("pdm", "run"),
        ("hatch", "run"),
        ("bundle", "exec"),
        ("conda", "run"),
    }
    if runner and len(words) > 2:
        return words[2].startswith("-") or runs_anything(words[2:])
    if words[0] in _SCRIPTED and words[1] in ("run", "exec", "run-script"):
        return True
    if words[0] == "npx":
        return words[1].startswith("-") or runs_anything(words[1:])
    return words[:2] == ("git", "config") or words[:3] in {
        ("git", "bisect", "run"),
        ("git", "submodule", "foreach"),
    }


def suggested_prefix(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The prefix an "always" would cover; None when none is safe to offer."""
    if not words:
        return None
    name = words[0].rsplit("/", 1)[-1]
    count = _DEEPER.get((name, words[1] if len(words) > 1 else ""), _ARITY.get(name, 1))
    if len(words) < count:
        return None
    prefix = words[:count]
    if any(word.startswith("-") for word in prefix[1:]) or runs_anything(prefix):
        return None
    return prefix
