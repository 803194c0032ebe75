"""Places that matter beyond their zone: credentials, start-up files, hooks,"
" agents' own settings."""

from functools import lru_cache

from steersman.governance.guard.marks import GLOB, globbed, literal, unknown
from steersman.governance.guard.paths import matches
from steersman.records.judgement import CommandPlace
from steersman.records.patterns import pattern

SECRET_HOME = (
    ".ssh",
    ".aws/credentials",
    ".aws/config",
    ".aws/sso",
    ".aws/cli/cache",
    ".gnupg",
    ".netrc",
    ".config/gh/hosts.yml",
    ".config/gcloud",
    ".kube/config",
    ".docker/config.json",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/git/credentials",
    ".azure",
    ".oci",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".config/hub",
    ".config/op",
    ".1password",
    ".password-store",
    ".local/share/keyrings",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".config/doctl",
    ".config/heroku",
    ".config/rclone",
    ".s3cfg",
    ".boto",
    ".config/sops",
    ".config/age",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "Library/Cookies",
    ".bitcoin",
    ".ethereum",
    ".config/solana",
    ".electrum",
    ".config/Signal",
    ".purple",
    ".bash_history",
    ".zsh_history",
    ".history",
    ".psql_history",
    ".mysql_history",
    ".python_history",
    ".node_repl_history",
    ".local/share/fish/fish_history",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/Code/User/globalStorage",
    ".databrickscfg",
    ".snowflake",
    ".snowsql",
    ".config/fly",
    ".fly",
    ".config/netlify",
    ".config/configstore",
    ".vercel",
    ".config/helm/registry.json",
    ".config/containers/auth.json",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet",
    ".composer/auth.json",
    ".yarnrc.yml",
    ".config/pulumi",
    ".pulumi/credentials.json",
    ".linode-cli",
    ".config/linode-cli",
    ".config/hcloud",
    ".ansible/vault",
    ".vault_pass",
    ".config/pip/pip.conf",
    ".htpasswd",
    ".config/github-copilot",
    ".config/openai",
    ".anthropic",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".kaggle",
    ".wandb",
    ".ngrok2",
    ".config/ngrok",
    ".cloudflared",
    ".wrangler",
    ".config/.wrangler",
    ".local/share/com.vercel.cli",
    ".minikube",
    ".config/exercism",
)
SECRET_SYSTEM = (
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/root",
    "/etc/krb5.keytab",
    "/var/run/secrets",
    "/run/secrets",
    "/etc/kubernetes",
    "/var/lib/kubelet",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/letsencrypt/live",
    "/etc/letsencrypt/archive",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/ppp/chap-secrets",
    "/etc/master.passwd",
    "/etc/shadow-",
    "/etc/security/opasswd",
    "/var/lib/mysql",
    "/var/lib/postgresql",
    "/etc/NetworkManager/system-connections",
    "/etc/rancher",
    "/var/lib/docker",
    "/dev/mem",
    "/proc/kcore",
    "/etc/vault",
    "/var/backups/shadow.bak",
    "/etc/docker/key.json",
)
_SECRET_NAME = pattern(
    r"(?i)(?:\.env(?:\.(?!example|sample|template|dist|test\b|defaults?|schema|tpl|ci)[\w.-]+)?"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|\.netrc|\.pgpass|\.git-credentials|\.htpasswd"
    r"|credentials(?:\.json|\.ya?ml|\.toml|\.csv|\.xml\.enc)?|\.?secrets?\.(?:ya?ml|"
    r"json|toml|env|txt)"
    r"|service[-_]account[\w-]*\.json|[\w.-]*\.(?:pem|p12|pfx|keystore|jks|kdbx|ppk|key|asc\.key)"
    r"|\.vault[-_]pass(?:word)?|master\.key|terraform\.tfstate(?:\.backup)?"
    r"|prod(?:uction)?\.env|\.envrc\.local|kubeconfig|wallet\.dat|login\.keychain(?:-db)?"
    r"|cookies\.sqlite|logins\.json|key4\.db|Login Data)\Z"
)
_PUBLIC_NAME = pattern(
    r"(?:\.pub|known_hosts(?:\.old)?|(?:ca|cacert|ca-?bundle|fullchain|cert|public)[\w.-]*\.pem)\Z"
)
_ENVIRON = pattern(r"/proc/[^/]+/(?:environ|mem|maps)\Z")

STARTUP_HOME = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".inputrc",
    ".config/fish",
    ".bash_aliases",
    ".config/powershell",
    ".gitconfig",
    ".config/git/config",
    ".config/git/hooks",
    ".npmrc",
    ".vimrc",
    ".config/nvim",
    ".vim",
    ".emacs",
    ".emacs.d",
    ".tmux.conf",
    ".screenrc",
    ".pythonrc",
    ".pdbrc",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
    ".gdbinit",
    ".lldbinit",
    ".psqlrc",
    ".sqliterc",
    ".mailcap",
    ".selected_editor",
    ".pam_environment",
    ".config/environment.d",
    ".config/pip",
    ".pip",
    ".condarc",
    ".cargo/config.toml",
    ".cargo/config",
    ".gradle/init.gradle",
    ".gradle/init.d",
    ".m2/settings.xml",
    ".yarnrc",
    ".yarnrc.yml",
    ".wgetrc",
    ".curlrc",
    ".config/starship.toml",
    ".oh-my-zsh",
    ".editrc",
    ".ripgreprc",
    ".sqlrc",
    ".zsh",
)
PERSIST_HOME = (
    ".config/autostart",
    ".config/systemd",
    ".local/share/systemd",
    "Library/LaunchAgents",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".config/cron",
    ".config/plasma-workspace",
    ".config/openbox",
    ".config/i3",
    ".config/sway",
    ".config/hypr",
    ".kde/Autostart",
    "Library/LaunchDaemons",
    ".local/share/nautilus/scripts",
    ".config/user-tmpfiles.d",
)
ACCESS_HOME = (
    ".ssh",
    ".gnupg",
    ".kube",
    ".aws",
    ".docker/config.json",
    ".rhosts",
    ".shosts",
    ".k5login",
    ".netrc",
    ".config/gh",
    ".pgpass",
    ".git-credentials",
)
PATH_HOME = (
    ".local/bin",
    "bin",
    ".cargo/bin",
    ".npm-global/bin",
    "go/bin",
    ".pyenv/shims",
    ".local/lib",
    ".rbenv/shims",
    ".asdf/shims",
    ".bun/bin",
    ".deno/bin",
    ".nvm",
    ".volta/bin",
    ".pyenv/bin",
    ".yarn/bin",
    ".composer/vendor/bin",
)
AGENT_DIRS = (
    ".claude",
    ".codex",
    ".agents",
    ".cursor",
    ".gemini",
    ".steersman",
    ".opencode",
    ".aider",
    ".windsurf",
    ".continue",
    ".goose",
    ".roo",
    ".cline",
    ".kiro",
    ".amp",
    ".qwen",
    ".crush",
)
AGENT_FILES = (
    ".aider.conf.yml",
    ".clinerules",
    ".cursorrules",
    ".windsurfrules",
    ".claude.json",
    "opencode.json",
    "opencode.jsonc",
    ".goosehints",
)
TOOL_CONFIG = pattern(
    r"(?:\.mcp\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.pnp\.[\w.]+|bunfig\.toml|\.pnpmfile\.cjs"
    r"|\.envrc|\.bazelrc[\w.-]*|\.pre-commit-config\.yaml|lefthook[\w.-]*|\.devcontainer\.json"
    r"|\.ripgreprc|pyrightconfig\.json|\.gitmodules|\.gitconfig|\.gitattributes|\.netrc"
    r"|AGENTS\.md|CLAUDE\.md|GEMINI\.md|\.steersmanignore|\.cursorignore|\.lldbinit|\.gdbinit"
    r"|copilot-instructions\.md|sitecustomize\.py|usercustomize\.py|\.pypirc|pip\.conf"
    r"|gradle-wrapper\.properties|maven-wrapper\.properties|\.vimrc|\.exrc|\.nvimrc|\.tool-versions"
    r"|\.python-version|\.mise\.toml|\.direnvrc|\.dir-locals\.el)\Z"
)
TOOL_DIRS = (
    ".vscode",
    ".idea",
    ".devcontainer",
    ".cargo",
    ".yarn",
    ".mvn",
    ".zed",
    ".fleet",
    ".github/workflows",
    ".circleci",
    ".gitlab",
)
HOOK_DIRS = (".git/hooks", ".husky", ".githooks", ".hooks")


@lru_cache(maxsize=4096)
def secret(path: str, place: CommandPlace) -> bool:
    """True when reading this path would disclose credentials."""
    name = path.rsplit("/", 1)[-1]
    if _PUBLIC_NAME.search(name) or path.endswith("/.ssh/config"):
        return False
    if path.startswith("/proc/"):
        return _ENVIRON.match(literal(path)) is not None and not path.startswith("/proc/self/m")
    if not unknown(name) and (
        any(_SECRET_NAME.match(GLOB.sub(letter, name)) for letter in ("", "x"))
        if globbed(name)
        else _SECRET_NAME.match(name)
    ):
        return not any(part in path for part in ("/node_modules/", "/site-packages/", "/certs/ca"))
    if _vague(path, place):
        return False
    home = "/root" if path.startswith("/root/") else place.home
    if home != "/root" and any(matches(path, item) for item in SECRET_SYSTEM):
        return path not in ("/root",)
    if path.startswith("/home/") and not path.startswith(place.home + "/"):
        home = "/".join(path.split("/")[:3])
    inner = path.startswith(home + "/")
    return inner and any(matches(path, f"{home}/{item}") for item in SECRET_HOME)


def _vague(path: str, place: CommandPlace) -> bool:
    """A path whose glob or unknown part begins too high up to mean anything."""
    return any(path.startswith(base) for base in (place.workspace + "/",))


@lru_cache(maxsize=1024)
def holds_secrets(path: str, place: CommandPlace) -> bool:
    """True for credentials and for a folder that has some below it."""
    if secret(path, place):
        return True
    inner = _inner(path, place.home)
    return inner is not None and any(item.startswith(inner + "/") for item in SECRET_HOME)


@lru_cache(maxsize=4096)
def private(path: str, place: CommandPlace) -> bool:
    """True for a user's own settings that hold no credentials, but names and habits."""
    inner = _inner(path, place.home)
    if inner is None or _inner(path, place.workspace) is not None:
        return False
    return (inner.startswith(".ssh/") and not inner.endswith(".pub")) or any(
        inner == item or inner.startswith(item + "/") for item in STARTUP_HOME
    )


@lru_cache(maxsize=4096)
def special(path: str, place: CommandPlace) -> str:
    """The kind of special place a write would touch: '' when it is an ordinary path."""
    inner = _inner(path, place.workspace)
    if inner is not None:
        return _inside(inner)
    inner = _inner(path, place.home)
    if inner is None and path.startswith("/root/"):
        inner = path[6:]
    if inner is None:
        return ""
    for kind, items in (
        ("access", ACCESS_HOME),
        ("startup", STARTUP_HOME),
        ("persist", PERSIST_HOME),
        ("path", PATH_HOME),
        ("agent", (*AGENT_DIRS, *AGENT_FILES)),
    ):
        if any(inner == item or inner.startswith(item + "/") for item in items):
            return kind
    return ""


def _inside(inner: str) -> str:
    parts = inner.split("/")
    name = parts[-1]
    if any(f"/{inner}/".find(f"/{item}/") >= 0 for item in HOOK_DIRS):
        return "hook"
    if ".git" in parts:
        at = parts.index(".git")
        return (
            "gitconfig" if parts[at + 1 : at + 2] in (["config"], ["info"], ["modules"]) else "git"
        )
    if any(part in AGENT_DIRS for part in parts) or name in AGENT_FILES:
        return "agent"
    if TOOL_CONFIG.match(name) or any(f"/{inner}/".find(f"/{item}/") >= 0 for item in TOOL_DIRS):
        return "tool"
    return ""


def _inner(path: str, folder: str) -> str | None:
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None
