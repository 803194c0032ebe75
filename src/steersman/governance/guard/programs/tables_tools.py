"""Verbs of builders that also publish, and of project tools that also change things elsewhere."""

_BAZEL = """
ask pkg.publish : publish|deploy|release;
  run *push*|*deploy*|*publish*|*release*|*upload*|*.apply|*.delete|*.create|*.replace|*terraform*
safe : *
"""
_DOTNET = """
safe : nuget list|locals & --list|-l; tool list; workload list|search; list; package search|list
ask pkg.publish : nuget push|delete|sign; publish & -p=PublishProfile; publish & -p:PublishProfile;
  publish & /p:PublishProfile; publish & -t:PublishContainer; publish & /t:PublishContainer;
  msbuild & -t:Publish|/t:Publish; ~ /t:PublishContainer|-t:PublishContainer|/t:WebPublish
safe pkg.locked : restore $ & --locked-mode
ask pkg.install : add|tool|nuget|workload|new install|uninstall|remove|package|store; new install
ask db.change : ef database drop|update; ef dbcontext scaffold
safe : *
"""
_FASTLANE = """
ask pkg.publish :
  ~ deliver|supply|pilot|upload*|*_upload|release*|*_release|beta|alpha|deploy*|*_deploy;
  ~ publish*|distribute*|submit*|*testflight*|*app_store*|*appstore*|*play_store*|*playstore*;
  ~ produce;
  ~ *firebase*|internal|production|prod|ship|promote*|notarize|match|cert|sigh|pem|register*;
  ~ nightly;
  ~ hockey|crashlytics|appcenter*|s3|github_release|set_github_release|push_*|nuke|appstore|store;
  ~ live
safe :
  ~ test*|*_test|*_tests|tests|unit*|ui_test*|scan|build*|*_build|gym|lint*|*lint|format*|check*;
  ~ screenshots|snapshot|screengrab|lanes|list|docs|actions|action|env|help|swiftlint|slather;
  ~ precheck;
  ~ verify*|analyze*|clean*|debug*|assemble*|ci|install_plugins|search_plugins|--version|coverage
ask pkg.publish -- runs an unknown lane : *
"""
_RELEASE = """
safe : check|help|--version|status|version|add|init|pre|build|healthcheck|jsonschema|changelog;
  package|ls|ls-publishers|show|search|list|pack|prime|stage|pull|clean|lint|whoami|list-revisions;
  list-plugins|list-extensions|expand-extensions|verify-pat|get|info|man|completion|validate|notes;
  create|render|preview|plan|manifest;
  * & --dry-run|--snapshot|--skip-publish|-d|--preview|--no-publish|--dry|--check|--release-version;
  $ & --dry-run|--snapshot|--skip-publish|-d|--preview|--dry|--changelog|--release-version
ask pkg.publish : *
"""
_JUPYTER = """
ask pkg.install : labextension|nbextension|serverextension
  install|uninstall|enable|disable|link|unlink|develop|update;
  server extension enable|disable
ask net.listen -- lets others run code on this machine :
  * & --NotebookApp.token|--ServerApp.token|--IdentityProvider.token|--LabApp.token;
  * & --NotebookApp.password|--ServerApp.password|--PasswordIdentityProvider.hashed_password;
  * & --ServerApp.disable_check_xsrf|--NotebookApp.disable_check_xsrf;
  * & --ServerApp.allow_remote_access;
  * & --no-token|--host=0.0.0.0
safe : *
  & --ip=127.|--ip=localhost|--ServerApp.ip=127.|--ServerApp.ip=localhost|--NotebookApp.ip=127.
ask net.listen -- lets others run code on this machine :
  * & --ip|--ServerApp.ip|--NotebookApp.ip
safe : *
"""
_LISTENS = """
ask net.listen -- opens a server to the network without protection :
  * & --bind=0.0.0.0|--bind=*|--bind=::|--protected-mode=no|--bind=0|--bind_ip_all;
  $ & --bind=0.0.0.0|--bind=*|--bind=::|--protected-mode=no
safe : *
"""
_WORKERS = """
ask remote.change -- empties or stops queues of work :
  ~ purge|control|empty|suspend|amqp|revoke|terminate|requeue
safe : *
"""
_FLASK = """
safe : db history|current|heads|show|branches|check|migrate|revision|init|merge
safe : db upgrade|downgrade & --sql
ask db.change : db; ~ drop*|*_drop*|reset*|*-reset*|truncate*|delete-*|seed-prod*
safe : *
"""
_PUSHES = """
ask git.push -- changes a branch on the remote : ship|sync|delete|kill|prune|propose|git
  push|push|submit;
  pr submit
safe : *
"""
_LERNA = """
ask pkg.publish : publish; version ! --no-push
safe :
  run|exec|list|ls|la|ll|changed|diff|info|graph|clean|create|init|repair|watch|version|add-caching
ask pkg.install : *
"""
_RUNS = """
ask pkg.publish : run *deploy*|*publish*|*release*|*upload*|*promote*; run-many
  & -t=deploy|-t=publish;
  run-many & --target=deploy|--target=publish|--targets=deploy|--targets=publish; release
  ! -d|--dry-run;
  deploy|publish|release; login|logout|link|unlink
ask pkg.install : migrate|add|connect*|import; reset ! --only-daemon
safe : *
"""
_SHELLS_OUT = """
ask code.unknown -- runs code from the network : ~ http*|gh:*|github:*|gist:*
ask pkg.publish : publish|install|deploy|export
safe : *
"""
_NIX = """
ask code.unknown -- runs code from the network : ~ github:*|gitlab:*|sourcehut:*|git+*|http*
safe : flake check|show|metadata|info|lock|init|new|update|archive|prefetch; config show|check;
  build|eval|fmt|log|path-info|why-depends|search|show-config|derivation|hash|repl|print-dev-env;
  help;
  develop|shell ! -c|--command; store ls|cat|info|path-from-hash-part|ping|diff-closures|verify;
  profile list|history|diff-closures; registry list; doctor; key convert-secret-to-public; nar
ask pkg.install : *
"""
TOOLS: dict[str, dict[str, object]] = {
    "bazel": {"text": _BAZEL, "valued": "--config -c", "names": "bazelisk buck buck2 pants please"},
    "dotnet": {
        "text": _DOTNET,
        "valued": "-c --configuration -o --output -f --framework -r --runtime -v --verbosity -p",
        "names": "msbuild",
    },
    "fastlane": {"text": _FASTLANE, "valued": "--env"},
    "twine": {
        "text": _RELEASE,
        "valued": "-r --repository -u -p -f --config --pat --target -t",
        "names": """semantic-release np changeset goreleaser release-it vsce ovsx snapcraft dput
        release-please jreleaser auto shipit git-release semantic-release-cargo knope monopub
        gem-release beachball multi-semantic-release bumpp""",
    },
    "jupyter": {
        "text": _JUPYTER,
        "valued": "--ip --port --host --notebook-dir --to --output --template",
        "names": "jupyter-lab jupyter-notebook jupyter-server jupyter-nbclassic marimo",
    },
    "redis-server": {
        "text": _LISTENS,
        "valued": "--bind --port --protected-mode --dir --save --appendonly",
        "names": "valkey-server keydb-server dragonfly",
    },
    "celery": {
        "text": _WORKERS,
        "valued": "-A --app -b --broker -Q --queues -n -c -l --loglevel -P -u --url",
        "names": "rq dramatiq huey_consumer arq",
    },
    "flask": {"text": _FLASK, "valued": "--app -A --env-file -e -d --directory -m --message"},
    "git-town": {"text": _PUSHES, "names": "git-branchless gt spr ghstack git-spice av"},
    "nix": {"text": _NIX, "valued": "-f -I --option --override-input --inputs-from --out-link -o"},
    "lerna": {"text": _LERNA, "valued": "--scope --ignore --since --concurrency"},
    "nx": {
        "text": _RUNS,
        "valued": "-t --target --targets -p --projects --base --head --filter -F "
        "--configuration -c",
        "names": "turbo moon rush lage",
    },
    "scala-cli": {"text": _SHELLS_OUT, "names": "jbang rust-script evcxr cargo-script"},
}
