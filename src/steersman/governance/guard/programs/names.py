"""Which function knows which programs: `module.function`, and the names it answers to.

A module is imported when one of its programs is met.
"""

from pathlib import Path


def _tools() -> str:
    table = Path(__file__).with_name("names_tools.txt").read_text(encoding="utf-8")
    return " ".join(line for line in table.splitlines() if not line.startswith("#"))


OWNERS = {
    "archives.cpio": "ar cpio pax",
    "archives.deb": "dpkg-deb",
    "archives.jar": "jar",
    "archives.tar": "bsdtar gtar tar",
    "archives.unzip": """
        brotli bunzip2 bzcat bzip2 compress gunzip gzip lz4 lz4cat lzma pigz unar uncompress
        unxz unzip unzstd xz xzcat zcat zstd zstdcat
    """,
    "archives.zip_": "7z 7za 7zr 7zz rar unrar zip",
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
    "databases.drop": "dropdb",
    "databases.client": """
        beeline bq clickhouse clickhouse-client clickhouse-local cockroach cqlsh cypher-shell
        dolt duckdb
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
    "editing.code": "code code-insiders codium cursor windsurf zed",
    "editing.edit": """
        ed emacs emacsclient evim ex gview gvim gvimdiff helix hx joe kak mg micro mvim nano
        nvim nvimdiff pico rview rvim vi view vim vim.basic vim.gtk3 vim.nox vim.tiny vimdiff
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
    "powershell.powershell": "powershell powershell.exe pwsh pwsh.exe",
    "interpreters.interpreter": """
        m4
        R Rscript bb bpython chez clisp clj clojure cmd cmd.exe crystal csi ecl elixir erl
        expect gdb ghc gnuplot gp groovy gsi guile guile3 iex ipython ipython3 irb janet
        jruby jshell julia jython kotlin lldb lua luajit luau matlab maxima micropython nim
        node nodejs ocaml octave octave-cli osascript perl perl6 php php-cgi
        pypy pypy3 python python2 python3 r r2 racket raku ruby
        runghc runhaskell sage sbcl scala swift tclsh texlua ts-node tsx vimx wish
        bigloo chezscheme chibi-scheme csharp d8 fennel fsharpi ghci gosh groovysh jimsh jsc
        mit-scheme petite prolog pry qjs scheme swipl utop
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
    "builders.make": "gmake just make",
    "builders.mvn": "ant cmake dotnet gradle gradlew java mvn mvnw sbt",
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
        shuf toilet toml tomlq ts tsort ul unexpand uniq units wdiff xmllint
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
    "tools.tool": _tools(),
    "tools.load": """
        ab artillery autocannon bombardier hey k6 loadtest locust oha siege slowhttptest tsung
        vegeta wrk wrk2
    """,
    "tools.media": "convert ffmpeg gs magick mogrify sox",
    "devices.plist": "PlistBuddy plutil",
    "devices.emulator": "qemu-system",
    "trees.fd": "fd fdfind",
    "trees.find": "bfs find gfind",
    "trees.locate": "locate mdfind mlocate plocate",
    "verbs.by_table": """
        VBoxManage acquia add-apt-repository aerich alembic aliyun amplify ansible-console
        ansible-galaxy ansible-playbook ansible-pull appwrite apt-cache apt-key apt-mark arc
        argocd arq artisan atlas auth0 auto av aws aws2 awslocal az azcopy b2 bazel bazelisk
        beachball bmake bolt boot bower buck buck2 bumpp  caprover cargo-script carthage
        carton ccloud cdk cdktf celery cf cfengine chalice changeset chef-client chef-run
        chef-solo cilium civo clever clusterctl confluent consul contentful convex copilot
        coursier cpack crictl cs ctest ctr dagger databricks datadog-ci dbmate deployctl
        devspace diesel django-admin doctl doctrine doit dokku dpkg-query dput dragonfly
        dramatiq drizzle-kit dropuser drush earthly eb eksctl elm emerge eopkg equery
        esxcli etcdctl evcxr exo fab fastlane firebase flask flit flux fly flyctl flyway
        garden gcloud gdebi gem-release gh ghcup ghstack git-branchless git-release git-spice
        git-town gn goose goreleaser govc gsutil gt hasura hcloud helm helm3 helmfile heroku
        hex hub huey_consumer ibmcloud ibmcloud-cli inv invoke istioctl jabba jbang jreleaser
        jspm juju jupyter jupyter-lab jupyter-nbclassic jupyter-notebook jupyter-server k0s
        k3d k3s k9s kafka-configs kafka-consumer-groups kafka-topics kafka-topics.sh kafkactl
        kamal keydb-server kind knex knife knope kompose kops koyeb kubeadm kubectx kubens
        kustomize lage ldcli lein lerna linkerd linode linode-cli liquibase mage manage.py
        marimo mas mc mco meson metal microdnf microk8s migrate mikro-orm mill minikube mint
         monopub moon msbuild multi-semantic-release nats neon neonctl netlify newrelic
        nhost ni nimble ninja nomad nomad-cloud northflank now nox np nr nx oci okta okteto
        openstack opentofu opkg orbctl ovhcloud ovsx paket pants pct pd pear pecl
        pg_dropcluster phinx phive phpbrew pip-compile pkg pkg_add pkgin platform premake
        prisma prlctl proto pscale pub pulsar-admin pulumi puppet pyinfra qm qmake rabbitmqctl
        raco rails railway rake rancher rebar3 redis-server release-it release-please remake
        render rke rpm-ostree rq rush rust-script s3cmd s5cmd sam sanity scala-cli scalingo
        scons scw semantic-release semantic-release-cargo sentry-cli sequelize sequelize-cli
        serverless shards shipit shopify shuttle skaffold skeema slackpkg sls snapcraft
        softwareupdate spago spr sqitch sqlx sst  stripe supabase surge swift-cli swupd
        symfony talosctl task tccli tdnf tea telepresence terminus tern terraform terragrunt
        tf tfenv tfswitch tilt tkn tofu tox tuist turbo turso twilio twine typeorm upctl
        upstash valkey-server vboxmanage velero venv vercel virsh virtualenv vmrun vsce
        vultr-cli waf wp wrangler xbps-install xbps-query xbps-remove xcodebuild xe xmake yc
        yoyo zappa zeabur zig zkCli.sh
    """,
    "wrappers.busybox": "busybox coreutils shx toybox",
    "wrappers.env": "env genv",
    "wrappers.flock": "flock",
    "wrappers.make_words": "ip",
    "many.parallel": "parallel",
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
        vagrant valgrind wait-on watchexec wezterm wine winpty with-lock-ex
        withlock wsl xcrun qemu-user rr
        x-terminal-emulator x86_64 xterm xvfb-run zellij
    """,
    "many.xargs": "gxargs xargs",
}
