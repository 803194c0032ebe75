"""Containers and clusters: what runs inside, what is mounted, what is thrown away."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import EVERY, OUT, shown
from steersman.governance.guard.options import read_options, skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import secret
from steersman.governance.guard.programs.verbs import by_table
from steersman.governance.guard.shell_inside import read_inside

_RUN_VALUED = (
    "-v -e -p -w -u -h -l -m -c -a --volume --env --publish --workdir --user "
    "--hostname --label --name --network --net --mount --entrypoint "
    "--env-file --memory --cpus --platform --pull --restart --device --cap-add "
    "--cap-drop --security-opt --add-host --dns --ip --link --log-driver "
    "--gpus --ipc --pid --shm-size --tmpfs --ulimit --userns --volumes-from "
    "--expose --group-add --health-cmd --init-path --runtime --stop-signal "
    "--uts --cgroupns"
)
_GLOBAL = (
    "-H --host --context --config -l --log-level -c --connection --url --root "
    "--namespace -n -a --address"
)


def docker(call: ProgramCall) -> None:
    """`docker`, `podman`: run, exec and compose are looked into, the rest is a table."""
    rest = skip_options(call.args, _GLOBAL)
    options = read_options(call.args[: len(call.args) - len(rest)], _GLOBAL)
    host = options.get("-H", "--host", "--context", "--url") or ""
    far = (
        bool(host)
        and not host.startswith("unix:")
        and host not in ("default", "desktop-linux", "colima", "orbstack")
    )
    far = far or call.shell.aliases.get(" docker context") == "remote"
    sub, args = (rest[0], rest[1:]) if rest else ("", [])
    if (
        sub == "container"
        and args[:1]
        and args[0] in ("run", "exec", "rm", "kill", "stop", "create")
    ):
        sub, args = args[0], args[1:]
    if sub == "context" and args[:1] == ["use"]:
        if args[1:2] != ["default"]:
            call.shell.aliases[" docker context"] = "remote"
            call.ask("docker.context", "switches to another machine's containers")
        return
    if sub in ("run", "create"):
        _run(call, args)
    elif sub == "exec":
        _exec(call, args)
    elif sub == "compose":
        _compose(call, args)
    elif sub == "cp":
        _copy(call, args)
    elif sub in ("build", "buildx", "image") and args:
        by_table(call)
        folder = [
            word
            for word in read_options(
                args,
                "-t -f --tag --file --build-arg --target --platform --secret --ssh --output "
                "-o --iidfile --progress --cache-from --cache-to",
            ).rest
            if word not in ("build", "bake")
        ]
        if sub == "build" and folder and re.match(r"https?://|git@|git://", folder[-1]):
            call.ask("net.build", "builds what it fetches from the network")
    else:
        by_table(call)
        if far and sub in (
            "rm",
            "rmi",
            "stack",
            "service",
            "volume",
            "system",
            "swarm",
            "kill",
            "stop",
            "network",
        ):
            call.block("docker.remote", "changes containers on another machine")
        _listed(call, sub, args)
    if far:
        call.ask("docker.remote", "works on another machine's containers")


def _listed(call: ProgramCall, sub: str, args: list[str]) -> None:
    words = [word for word in args if not word.startswith("-")]
    every = any(EVERY in word for word in words)
    if every and (sub in ("volume", "rmi", "rm", "network", "image", "container", "kill", "stop")):
        wipes = sub in ("volume", "rm", "rmi", "image", "container") or words[:1] == ["rm"]
        if wipes:
            call.block(
                "docker.everything", "deletes every volume, container or image on the machine"
            )
        elif sub in ("kill", "stop"):
            call.ask("docker.everything", "stops every container on the machine")
    if sub in ("ps", "images") or (words[:1] and words[0] in ("ls", "list", "ps")):
        quiet = any(re.fullmatch(r"-\w*q\w*|--quiet", word) for word in args)
        narrow = any(word.startswith(("-f", "--filter")) for word in args)
        call.out = EVERY if quiet and not narrow else OUT


def _mounts(call: ProgramCall, args: list[str]) -> dict[str, str]:
    """Host paths by where they appear inside; harm is said at once."""
    options = read_options(args, _RUN_VALUED)
    made: dict[str, str] = {}
    pairs = []
    for text in options.all("-v", "--volume"):
        parts = text.split(":")
        if len(parts) > 1:
            pairs.append((parts[0], parts[1], "ro" in parts[2:3]))
    for text in options.all("--mount"):
        keys = dict(item.split("=", 1) for item in text.split(",") if "=" in item)
        if keys.get("type", "bind") == "bind":
            pairs.append(
                (
                    keys.get("source") or keys.get("src") or "",
                    keys.get("target") or keys.get("dst") or keys.get("destination") or "",
                    "readonly" in text or ",ro" in text,
                )
            )
    for source, target, read_only in pairs:
        if not source.startswith(("/", ".", "~", "\ue000", "$")):
            continue
        where = call.zone(source)
        path = call.path(source)
        if (
            path.endswith("docker.sock")
            or path.endswith("containerd.sock")
            or path.endswith("podman.sock")
        ):
            call.block("docker.socket", "hands the container engine's socket to a container")
        elif where in (Zone.ROOT,) or (where in (Zone.TOP, Zone.SYSTEM) and not read_only):
            call.block("docker.mount", f"mounts {shown(path)} of the machine into a container")
        elif secret(path, call.place) or where is Zone.HOME:
            call.block("docker.mount", f"mounts {shown(path)}, with credentials, into a container")
        elif where in (
            Zone.OUTSIDE,
            Zone.HOME_CHILD,
            Zone.ABOVE,
            Zone.UNKNOWN,
            Zone.TOP,
            Zone.SYSTEM,
        ):
            call.doubt("docker.mount", f"mounts {shown(path)} from outside the workspace")
        made[target] = path
    return made


def _run(call: ProgramCall, args: list[str]) -> None:
    rest = skip_options(args, _RUN_VALUED)
    head = args[: len(args) - len(rest)]
    options = read_options(head, _RUN_VALUED)
    mounts = _mounts(call, head)
    if options.has("--privileged") or any(
        re.search(r"(?i)SYS_ADMIN|ALL|SYS_PTRACE|SYS_MODULE|DAC_", text)
        for text in options.all("--cap-add")
    ):
        call.block("docker.privileged", "starts a container with power over the machine")
    elif (
        options.get("--pid") == "host"
        or options.get("--userns") == "host"
        or options.get("--device")
    ):
        call.block(
            "docker.privileged", "starts a container inside the machine's own namespaces or devices"
        )
    elif options.get("--network", "--net") == "host" or options.get("--ipc") == "host":
        call.doubt("docker.host-network", "gives a container the machine's network")
    for text in options.all("--security-opt"):
        if "unconfined" in text or "disable" in text:
            call.doubt("docker.unconfined", "removes a container's isolation")
    command = rest[1:]
    entry = options.get("--entrypoint")
    if entry:
        command = [entry, *command]
    read_inside(call, command, mounts)
    call.unknown_code = True


def _exec(call: ProgramCall, args: list[str]) -> None:
    rest = skip_options(args, "-e -u -w --env --user --workdir --env-file --detach-keys")
    if len(rest) < 2:
        return
    read_inside(call, rest[1:], {}, lasting=True)
    if rest[1].rsplit("/", 1)[-1] in ("sh", "bash") and len(rest) == 2:
        call.ask("shell.interactive", "opens a shell in a container")


def _compose(call: ProgramCall, args: list[str]) -> None:
    valued = (
        "-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel"
    )
    rest = skip_options(args, valued)
    options = read_options(args[: len(args) - len(rest)], valued)
    far = [
        name
        for name in options.all("-f", "--file", "--project-directory")
        if call.zone(name) not in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMP)
    ]
    sub = rest[0] if rest else ""
    if (
        sub == "down"
        and any(word in ("-v", "--volumes") for word in rest)
        and re.search(r"(?i)prod", options.get("-p", "--project-name") or "")
    ):
        call.block("docker.delete", "deletes production data")
    if far:
        if sub in ("down", "rm", "kill") and any(
            word in ("-v", "--volumes", "--rmi") for word in rest
        ):
            call.block("docker.elsewhere", f"deletes the data of another project: {shown(far[0])}")
        else:
            call.doubt("docker.elsewhere", f"works on another project: {shown(far[0])}")
    if sub in ("exec", "run"):
        tail = skip_options(
            rest[1:],
            "-e -u -w -p -v --env --user --workdir --entrypoint --name --index --publish --volume",
        )
        _mounts(call, rest[1:])
        if len(tail) > 1:
            read_inside(call, tail[1:], {})
        return
    kept, call.args = call.args, rest
    by_table(call, "docker-compose")
    call.args = kept


def compose(call: ProgramCall) -> None:
    """`docker-compose`."""
    _compose(call, call.args)


def _copy(call: ProgramCall, args: list[str]) -> None:
    words = [word for word in args if not word.startswith("-")]
    if len(words) == 2:
        if ":" in words[0]:
            if words[1] != "-":
                call.write(
                    words[1] + ("/copied" if call.zone(words[1]) in (Zone.TOP, Zone.HOME) else ""),
                    None,
                )
        else:
            if secret(call.path(words[0]), call.place):
                call.block("secrets.copy", "copies credentials into a container")
            call.ask("docker.change", "copies files into a container")


def kubectl(call: ProgramCall) -> None:
    """`kubectl`: exec is looked into, the rest is a table."""
    args = call.args
    by_table(call)
    if "delete" in args and any(EVERY in word for word in args):
        call.block("k8s.delete", "deletes everything it can list")
    given = " ".join([*args, call.stdin or ""])
    if re.search(r"\"?(?:privileged|hostPID|hostNetwork)\"?\s*:\s*true|hostPath", given):
        call.block("k8s.privileged", "starts something with power over a node")
    if "--privileged" in args or "--privileged=true" in args:
        call.block("k8s.privileged", "starts something with power over a node")
    if "exec" in args and "--" in args:
        inner = args[args.index("--") + 1 :]
        read_inside(call, inner, {}, remote=True)
    for name in read_options(args, "-f --filename").all("-f", "--filename"):
        if re.match(
            r"http://|https?://(?!raw\.githubusercontent\.com|github\.com|[\w.-]*k8s\.io)", name
        ):
            call.ask("net.apply", f"applies what it fetches from {shown(name)}")
    if args[:1] == ["cp"]:
        for word in args[1:]:
            if ":" not in word and secret(call.path(word), call.place):
                call.block("exfil.copy", "copies credentials into a cluster")
    if (
        args[:1]
        and args[0] == "get"
        and any(word in ("-o", "name", "-oname", "--no-headers") for word in args)
    ):
        call.out = EVERY
