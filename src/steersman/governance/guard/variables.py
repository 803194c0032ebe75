"""Variables that programs follow: setting one may run code, load code, or redirect a program."""

from typing import TYPE_CHECKING

from steersman.governance.guard.marks import NET, shown, unknown
from steersman.governance.guard.options import listed
from steersman.governance.guard.paths import absolute
from steersman.governance.guard.scene import ASK, BLOCK
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell

COMMANDS = frozenset(
    listed(
        """PAGER MANPAGER GIT_PAGER GH_PAGER BAT_PAGER SYSTEMD_PAGER AWS_PAGER DELTA_PAGER
        PSQL_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR FCEDIT SUDO_EDITOR
        KUBE_EDITOR HGEDITOR SVN_EDITOR GIT_EXTERNAL_DIFF GIT_SSH_COMMAND GIT_SSH
        GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND BROWSER LESSOPEN
        LESSCLOSE PROMPT_COMMAND RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC CC CXX LD
        AR CPP MAKE SHELL CVS_RSH RSYNC_RSH SVN_SSH MAILER TERMINAL FZF_DEFAULT_COMMAND
        PRINTER TAR_OPTIONS GZIP_OPT ANSIBLE_SSH_EXECUTABLE MANOPT PSQL_EDITOR
        GIT_DIFF_PATH_COMMAND CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
        COMMAND_NOT_FOUND CHROME_PATH DOCKER_HOST npm_config_script_shell
        NPM_CONFIG_SCRIPT_SHELL npm_config_node_gyp"""
    )
)
_PROMPTS = frozenset(listed("PS0 PS1 PS2 PS3 PS4 RPROMPT PROMPT"))
_LOADERS = frozenset(
    listed(
        """LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH BASH_ENV ENV
        PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PERL5LIB PERL5OPT PERL5DB
        RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS
        JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS CLASSPATH LUA_INIT LUA_PATH PHPRC
        PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER GEM_PATH GEM_HOME BUNDLE_GEMFILE
        GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
        GIT_DIR GIT_WORK_TREE XDG_CONFIG_HOME RIPGREP_CONFIG_PATH CURL_HOME WGETRC
        MAKEFILES MAKEFLAGS CARGO_HOME RUSTFLAGS GOFLAGS GOPATH PATH INPUTRC ZDOTDIR
        SHELLOPTS BASHOPTS PSQLRC OPENSSL_CONF OPENSSL_ENGINES GCONV_PATH
        GIO_EXTRA_MODULES QT_PLUGIN_PATH TCLLIBPATH VIMINIT EXINIT KUBECONFIG
        npm_config_prefix HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY GIT_SSL_NO_VERIFY
        NODE_TLS_REJECT_UNAUTHORIZED PYTHONWARNINGS PYTHONBREAKPOINT ANSIBLE_CONFIG
        TF_CLI_CONFIG_FILE HELM_PLUGINS"""
    )
)
# Where package managers fetch from.
REGISTRIES = frozenset(
    listed(
        """npm_config_registry NPM_CONFIG_REGISTRY npm_config_userconfig NPM_CONFIG_USERCONFIG
        YARN_REGISTRY YARN_NPM_REGISTRY_SERVER BUN_CONFIG_REGISTRY PIP_INDEX_URL
        PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_CONFIG_FILE UV_INDEX_URL UV_EXTRA_INDEX_URL
        UV_INDEX UV_DEFAULT_INDEX UV_FIND_LINKS UV_CONFIG_FILE POETRY_REPOSITORIES GOPROXY
        GONOSUMDB GONOSUMCHECK GOSUMDB GOINSECURE COMPOSER_HOME HEX_MIRROR CARGO_HOME
        BUNDLE_GEMFILE"""
    )
)
_GIT_VALUE = pattern(r"GIT_CONFIG_(?:VALUE_\d+|PARAMETERS)\Z")
# A subscript that holds a substitution: arithmetic on the variable would run it.
_SUBSCRIPT = pattern(r"\w\[[^\]]*(?:\$\(|`)")
_EXPORTED_FUNCTION = pattern(r"\A\(\)\s*\{")
_MILD = pattern(
    r"(?:cat|less|more|vim?|nvim|nano|emacs|code|true|:|bat|most|vi|gcc|g\+\+|"
    r"clang(?:\+\+)?|cc|c\+\+"
    r"|ccache|sccache|firefox|chromium|xdg-open|open|bash|sh|zsh|fish|/bin/\w+|/usr/bin/\w+)?"
    r"(?:\s+-[\w-]+)*(?:\s(?:gcc|g\+\+|clang(?:\+\+)?))?\Z"
)
# Libraries of the system: those in its folders, and the well-known ones by name.
_LIBRARY = (
    r"(?:(?:/usr)?/lib(?:32|64)?/(?:[\w+-][\w.+-]*/)*[\w+-][\w.+-]*|"
    r"lib(?:[alt]san|ubsan|clang_rt|jemalloc|tcmalloc|mimalloc|faketime|eatmydata)[\w.+-]*)"
)
_INSTALLED = pattern(rf"{_LIBRARY}(?:[: ]{_LIBRARY})*\Z")
_NODE_LOAD = pattern(r"(?:-r|--require|--import|--loader|--experimental-loader)[= ](\S+)")


def check_assignment(shell: "Shell", name: str, value: str | list[str], used: bool) -> None:
    """Judge an assignment to a variable some program follows."""
    if isinstance(value, list):
        return
    if _SUBSCRIPT.search(value):
        shell.reveal(value)
    if name in COMMANDS or _GIT_VALUE.match(name):
        if _MILD.match(value) or not used:
            return
        _command(shell, name, value)
    elif name in _PROMPTS and ("$(" in value or "`" in value):
        shell.reveal(value)
    elif (name in _LOADERS or name in REGISTRIES) and used:
        _loader(shell, name, value)
    elif _EXPORTED_FUNCTION.match(value):
        shell.scene.note(ASK, "env.function", f"{name} carries a shell function to other programs.")
        shell.copy().script(value.split("{", 1)[1])


def _command(shell: "Shell", name: str, value: str) -> None:
    shell.scene.plain = False
    shell.scene.note(
        ASK,
        "env.command",
        f"{name} makes another program run `{shown(value, 60)}`.",
        "Run the program without setting the variable.",
    )
    if not unknown(value):
        shell.copy().script(value.lstrip("!"))


def _loader(shell: "Shell", name: str, value: str) -> None:
    shell.scene.plain = False
    if name == "NODE_OPTIONS" and not _NODE_LOAD.search(value):
        return
    if name in ("RUSTFLAGS", "GOFLAGS", "MAKEFLAGS", "MAVEN_OPTS", "GRADLE_OPTS") and (
        "exec" not in value and "/tmp" not in value and "linker" not in value
    ):
        return
    if name == "LD_PRELOAD" and _INSTALLED.match(value):
        return
    if name.lower().endswith("_proxy") and ("localhost" in value or "127.0.0.1" in value):
        return
    parts = [part for part in value.split(":") if part] if "PATH" in name else [value]
    work = shell.scene.place.workspace
    mild = (
        "PATH",
        "PYTHONPATH",
        "NODE_PATH",
        "KUBECONFIG",
        "CLASSPATH",
        "GOPATH",
        "PYTHONWARNINGS",
        "XDG_CONFIG_HOME",
        "CARGO_HOME",
        "GEM_HOME",
        "GEM_PATH",
        "RUBYLIB",
        "PERL5LIB",
        "LD_LIBRARY_PATH",
    )
    if name in mild and all(
        part.startswith(
            (
                work,
                "./",
                "src",
                "lib",
                "node_modules",
                ".venv",
                "venv",
                "/usr",
                "/bin",
                "\ue000",
                "\ue001",
            )
        )
        or "/" not in part
        for part in parts
    ):
        return
    shell.scene.note(
        ASK,
        "env.loader",
        f"{name}={shown(value, 60)} makes programs load code or settings from elsewhere.",
        "Run the program without it.",
    )
    made = shell.scene.files.get(absolute(value, shell.cwd, shell.scene.place.home))
    if made is not None and name in ("BASH_ENV", "ENV"):
        shell.copy().script(made)
    elif made is not None:
        _content(shell, name, made)
    if name in ("BASH_ENV", "ENV") and ("$(" in value or "`" in value):
        shell.reveal(value)
    if name in ("PERL5OPT", "RUBYOPT", "LUA_INIT", "PYTHONBREAKPOINT", "VIMINIT", "EXINIT"):
        from steersman.governance.guard.code import scan

        scan(shell, value, "perl")


def _content(shell: "Shell", name: str, made: str) -> None:
    """A file this line wrote is loaded through a variable."""
    from steersman.governance.guard.code import scan
    from steersman.governance.guard.effects import payload

    if NET in made or payload(made):
        shell.scene.note(BLOCK, "env.loader", f"{name} makes a program load a well-known attack.")
    elif name.startswith("PYTHON"):
        scan(shell, made, "python")
