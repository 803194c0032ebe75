"""Verbs of package managers, builders and migrations."""

_SYSTEM = """
block pkg.system -- removes what the system needs :
  remove|purge|autoremove|erase|rm|del *libc6*|*systemd*|bash|coreutils|dpkg|apt|sudo|linux-image*;
  remove|purge|autoremove|erase|rm|del kernel*|python3|openssh-server|libc*|glibc*;
  remove|purge|autoremove|erase|rm|del util-linux|passwd;
  remove|purge|autoremove|erase|rm|del login|*essential*|grub*|network-manager;
  remove|purge|autoremove|erase|rm|del * & --allow-remove-essential;
  ~ libc6|libc-bin|coreutils|systemd|linux-image*|glibc|bash & -r|-P|-e|--remove|--purge;
  ~ libc6|libc-bin|coreutils|systemd|linux-image*|glibc|bash & --erase|-R|-Rdd|-Rns
safe : list|search|show|info|policy|depends|rdepends|files|changelog|check|madison|showpkg|why;
  provides|repolist|history|whatprovides|deplist|leaves|deps|desc|home|cat|log|config|doctor;
  outdated|uses|versions|download|source|help|--prefix|--cache|check-update|list-upgrades;
  services list; bundle check|list; repo list; remotes|remote-ls; find
safe : * & -s|--simulate|--dry-run|--just-print|--print-uris|-Q|-Qi|-Qs|-Ql|-Ss|-Si|-l|-L|-S_;
  * & -qa|-qi|-ql|-W|-p|--list|--status|--listfiles|-q
ask pkg.system : *
"""
_NPM = """
safe : run|run-script * --dry-run|--dry|--help|--snapshot
ask pkg.publish : run|run-script
  deploy*|publish*|release*|*:deploy|*:deploy:*|*:publish|*:release|ship ! --dry-run;
  run|run-script
  promote*|upload*|*-deploy|*:prod|db:reset*|db:drop*|*:destroy|destroy*|teardown*|nuke* ! --dry-run
safe pkg.locked : ci|clean-install|install-clean|cit $ ! -g|--global|--prefix|-C|--dir|--cwd;
  install|i $ & --frozen-lockfile|--immutable|--frozen ! -g|--global|--prefix|-C|--dir|--cwd
safe : publish|unpublish|install|update|prune|dedupe & --dry-run
ask pkg.publish : publish|deprecate|star|unstar|login|adduser|logout|add-user|hook|org|team|access;
  dist-tag add|rm|remove; owner add|rm; token create|revoke; npm publish|login|tag
block pkg.publish -- withdraws a published package : unpublish
block secrets.print : config get *_authToken|*token*|*password*
ask pkg.install : config set|delete|edit; cache clean|rm; audit fix; store prune; set; pkg set;
  init *; create; workspaces foreach & -A
safe : test|t|tst|run|run-script|start|ls|list|ll|la|outdated|view|info|show|v|audit|pack|prune;
  bin|root|prefix|why|explain|fund|doctor|version|versions|help|docs|repo|bugs|ping|whoami|search;
  config|get|cache|query|explore|completion|restart|stop|lint|build|dev|watch|format|check|node;
  typecheck|type-check|coverage|e2e|serve|preview|storybook|generate|workspace|workspaces|licenses;
  recursive|-r|pkg|init|patch|patch-commit|store|env|clean|fmt|compile|test:*|lint:*;
  build:*|dev:*|format:*|check:*|bundle|typings|types|tsc|jest|vitest|eslint|prettier|graph|affected
ask pkg.install : *
"""
_PIP = """
safe : list|show|freeze|check|search|index|inspect|help|debug|hash|tree|lock|export|version|compile;
  * & --dry-run; config list|get; cache list|info|dir; download; wheel
ask pkg.install : *
"""
_LOCKED = """
safe pkg.locked : sync $ ! --directory|--project|-C|-P|-p|--python-platform;
  install $ & --deploy|--ignore-pipfile|--frozen|--frozen-lockfile|--locked"""
_POETRY = """
safe pkg.locked : install|sync $ ! -C|--directory|-P|--project|-p"""
_PROJECT = """
safe pkg.locked : deps.get $; pub get $ & --enforce-lockfile; install $ & --deployment|--frozen
safe : publish|add|remove|sync & --dry-run
ask pkg.publish : publish|release|push; hex.publish; pub publish; trunk push
ask pkg.install : use & -g|--global
safe : ecto.migrations|ecto.gen.*
ask db.change : ecto.*; do ecto.*
safe : run|test|lock|check|show|list|version|versions|env|build|tree|export|format|fmt|lint|clean;
  status|info|help|about|search|config|matrix|graph|verify|venv|init|new|which|where|current;
  pip list|show|freeze|tree|check|compile; tool list|dir; python list|find|dir; cache dir|list|info;
  analyze|compile|deps.tree|ecto.migrations|phx.server|phx.routes|dialyzer|credo|doctor|devices;
  repl|exec|ls|outdated|doc|docs|bench|haddock|path|plugins|shellenv|prefix|root;
  toolchain list; component list; target list; show; format; nominate; metadata;
  lib|spec lint; ipc; repo list; env; outdated;
  use|local|shell|activate|deactivate|eunit|ct|proper|xref|make|default|alias
ask pkg.install : *
"""
_CARGO = """
safe : publish|yank|install|update|add|remove|upgrade & --dry-run|-n
ask pkg.publish : publish|yank|owner|login|logout
ask pkg.install : install|add|remove|rm|update|uninstall|binstall|upgrade|generate
safe : build|b|check|c|test|t|run|r|bench|doc|d|clean|clippy|fmt|fix|tree|metadata|search|info|new;
  init|verify-project|version|locate-project|pkgid|package|vendor|fetch|rustc|rustdoc|report;
  nextest|expand|audit|deny|outdated|machete|udeps|llvm-cov|tarpaulin|watch|generate-lockfile|help;
  read-manifest|miri|asm|bloat|flamegraph|criterion|insta|make|xtask|semver-checks|hack|geiger;
  msrv|config|leptos|tauri|wasm|component|zigbuild|cross|about|spellcheck|sort|careful|mutants|fuzz;
  readme|modules|features|llvm-lines|show-asm|doc2readme|workspaces|sqlx|dist|script
ask pkg.install : *
"""
_GO = """
safe : build|test|vet|fmt|list|doc|env|version|clean|generate|run|mod|tool|bug|fix|help|work
ask pkg.install : *
"""
_GEM = """
safe pkg.locked : install $ & --frozen|--deployment|--local ! --path|--system
block pkg.publish -- withdraws a published gem : yank
ask pkg.publish : push|owner|signin|signout|release
ask pkg.install : config set mirror.*|gemfile; config mirror.*|gemfile
safe : list|search|info|query|environment|env|which|contents|dependency|specification|outdated;
  build|help|check|stale|unpack|show|licenses|config|viz|open|doctor|platform|version|audit;
  sources & -l|--list
ask pkg.install : *
"""
_COMPOSER = """
ask pkg.publish : run|run-script deploy*|publish*|release*|*:deploy|*:publish|*:release
safe pkg.locked : install $ ! -d|--working-dir
safe : test|run|run-script|show|info|validate|outdated|licenses|why|depends|why-not|prohibits;
  status|diagnose|about|search|audit|dump-autoload|dumpautoload|fund|list|help|check|lint|format;
  check-platform-reqs|suggests|browse|home|archive|phpstan|phpunit
ask pkg.publish : publish|push|release
ask pkg.install : *
"""
_BUILD = """
ask pkg.publish :
  ~ deploy|publish*|release|release-*|upload*|push|submit*|distribute*|promote*|nuget|+publish*;
  ~ *:deploy|*:publish|*:publishSigned|*:upload|*:push|*:release|release:*|*:jib|jib:build|jib;
  ~ closeAndRelease*|findAndRelease*|bintray*|sonatype*|nexus-staging:*|jreleaser*|ci-release;
  ~ deploy-file|site-deploy|wagon:*|appDistribution*|dockerPush*|dockerBuildAndPush*|pushImage*;
  ~ docker:push|dockerfile:push|artifactory*|ghPages*|gitPublish*|scm-publish:*|deployTo*|cargo:*;
  ~ central-publishing:*|releaseEarly|githubRelease|release*with-defaults|herokuDeploy;
  ~ appengineDeploy|tomcat7:*|deploy:deploy*|gpg:sign-and-deploy*
ask pkg.publish : * & -s=release|-s=publish|-s=deploy; $ & -s=release|-s=publish|-s=deploy
ask pkg.publish -- publishes an image : * & --push|--publishImage
ask db.change : db:*|flyway:*|liquibase:*|flywayClean|flywayMigrate|ecto.*
ask pkg.system -- writes outside the workspace : uninstall|--install
safe : *
"""
_COMPILE = """
ask pkg.publish : ~ deploy|publish|upload
ask pkg.system -- writes outside the workspace : install|uninstall|--install;
  * & --target=install|-t=install
safe : *
"""
_MAKE = """
ask remote.change -- may change things outside the workspace :
  ~ install|uninstall|deploy|publish|release|push|upload|destroy|ship|rollback|purge|nuke|drop-db;
  ~ deploy-*|install-*|db-reset|reset-db|db-drop|prod|production|prod-*|*-prod|teardown|terraform-*
safe : *
"""
_MIGRATE = """
safe : db:test:*
safe : db:migrate:status|migrate:status|db:version|db:abort*|routes|test*|server|s|check|show;
  history|current|heads|branches|status|info|validate|version|help|list|makemigrations|lint|format;
  showmigrations|sqlmigrate|runserver|collectstatic|generate|g|stats|notes|about|studio|diff|serve;
  make:*|route:list|cache:clear|view:clear|config:clear|inspect|init|spec|log:clear|tmp:clear;
  assets:precompile|zeitwerk:check|initializers|optimize|debug:*|lint:*|migration:show;
  migration:generate|migration:create|schema:log|*:status|*:show|*:list|*:check|*:info|*:version;
  migrate status|diff|dry-run;
  migrate|migration|migrations|schema info|status|list|history|validate|show|diff|current|plan|lint;
  schema inspect|fmt|test; migrate hash|new|create; verify|log|plan|bundle|types|typecheck|prepare;
  * & --dry-run|--dryRun|--pretend|--plan|--check|--list|--sql; db pull; findstatic|diffsettings
ask db.change : flush|reset_db & --noinput|--no-input; db push & --force-reset
block db.drop : migrate reset & --force|-f; db:drop:all;
  *:drop & --force|-f; migrate:fresh|migrate:reset|db:wipe & --force;
  db:reset|db:drop|db:wipe|db:migrate:reset & --force; drop & -f|--force|-y|--yes; dropAll|drop-all;
  ~ RAILS_ENV=prod*|NODE_ENV=prod*|APP_ENV=prod*|MIX_ENV=prod*;
  clean & -cleanDisabled=false; undo:all|db:migrate:undo:all; downgrade base;
  down & -all|--all
ask db.change : *
"""
_DROPDB = """
ask db.drop -- destroys a local database : ~ *dev*|*test*|*local*|*scratch*|*tmp* ! -h|--host
block db.drop : *
"""
_PROJECT_VALUED = (
    "-C --directory -P --project -G --group -E --extras -p --python --with --without --only"
)
BUILD: dict[str, dict[str, object]] = {
    "apt": {
        "text": _SYSTEM,
        "valued": "-o -t -c --option --target-release",
        "names": """apt-get aptitude dnf yum zypper pacman yay paru apk brew port emerge
        xbps-install xbps-remove xbps-query nix-env snap flatpak dpkg rpm choco
        scoop winget pkg pkg_add slackpkg swupd eopkg opkg tdnf microdnf
        rpm-ostree guix apt-mark apt-key add-apt-repository gdebi softwareupdate
        mas apt-cache dpkg-query equery pkgin""",
    },
    "npm": {
        "text": _NPM,
        "valued": "--prefix -w --workspace --registry -C --dir --filter -F --tag --otp --loglevel "
        "--cwd --cache --network-timeout --network-concurrency --mode --reporter",
        "names": "pnpm yarn cnpm bun ni nr jspm deno",
    },
    "pip": {
        "text": _PIP,
        "valued": "-r -c -e -i -f -t --requirement --constraint --index-url --extra-index-url "
        "--target --prefix --python --find-links --format",
        "names": "pip3 pip-sync pip-compile easy_install",
    },
    "poetry": {"text": _POETRY + _PROJECT, "valued": _PROJECT_VALUED, "names": "pdm"},
    "uv": {
        "text": _LOCKED + _PROJECT,
        "valued": _PROJECT_VALUED + " --extra --no-extra --no-group --only-group --package",
        "names": "rye pipenv pixi",
    },
    "hatch": {
        "text": _PROJECT,
        "valued": _PROJECT_VALUED,
        "names": """conda mamba micromamba pipx pyenv virtualenv flit
        asdf mise rtx rbenv nodenv goenv volta fnm nvm jenv rvm sdk direnv
        bundler spack devbox flox tfenv tfswitch rustup proto jabba
        phpbrew opam stack cabal ghcup cs coursier mix rebar3 hex luarocks cpan
        cpanm carton dart flutter pub pod carthage mint vcpkg conan nuget paket
        nimble shards raco elm spago bower dotenv dotenvx infisical teller
        saml2aws aws-vault aws-okta chamber doppler op venv""",
    },
    "cargo": {
        "text": _CARGO,
        "valued": "--manifest-path -p --package --config --target --features -F --bin --example "
        "--test --bench -j --jobs --profile --target-dir --version --vers",
    },
    "go": {
        "text": _GO,
        "valued": "-run -count -timeout -o -tags -ldflags -exec -toolexec -vettool -C -p "
        "-coverprofile -bench -mod -modfile -overlay",
        "single": True,
    },
    "gem": {
        "text": _GEM,
        "valued": "-v --version -i -n -s --source --gemfile -j --jobs --retry --without",
        "names": "bundle",
    },
    "composer": {"text": _COMPOSER, "valued": "-d --working-dir", "names": "pear pecl phive"},
    "gradle": {
        "text": _BUILD,
        "valued": "-p -b -c -I -x -g --project-dir --init-script -f -pl -P -s -gs --settings",
        "names": """gradlew mvn mvnw ant sbt mill lein boot rake invoke inv nox tox doit
        earthly dagger""",
        "dry": "--dry-run -m",
    },
    "cmake": {
        "text": _COMPILE,
        "valued": "-B -S -G -C -c -f -t -j --target --config --build --preset --configuration "
        "-scheme -workspace -project -destination -sdk -derivedDataPath",
        "names": "ctest cpack ninja meson scons waf xmake premake qmake gn zig swift xcodebuild "
        "java tuist",
    },
    "make": {
        "text": _MAKE,
        "valued": "-C -f -j -I -o -W --directory --file --jobs --eval --include-dir",
        "names": "gmake just task mage bmake remake",
        "dry": "-n --dry-run --just-print --recon -q --question --dry --list -l --summary",
    },
    "alembic": {
        "text": _MIGRATE,
        "valued": "-c -n -x --config --name -e",
        "names": """rails manage.py django-admin flyway liquibase prisma sequelize sequelize-cli
        knex typeorm dbmate goose migrate sqlx diesel artisan symfony
        drizzle-kit mikro-orm aerich tern sqitch yoyo phinx doctrine skeema""",
    },
    "dropdb": {
        "text": _DROPDB,
        "valued": "-h -p -U --host --port --username --maintenance-db",
        "names": "dropuser pg_dropcluster",
    },
}
