"""Database clients: the statements they are given, and their own shell escapes."""

import re
from collections.abc import Callable

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE, OUT, SECRET, shown, unknown
from steersman.governance.guard.options import Options, listed, read_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.governance.guard.programs.verbs import by_table
from steersman.records.patterns import pattern

_COMMENT = pattern(r"/\*!?\d*(.*?)\*/|--[^\n]*", re.DOTALL)
_DROP = pattern(
    r"(?i)\bdrop\s+(?:database|schema|table|keyspace|user|role|view|index|collection|"
    r"bucket|measurement|warehouse|tablespace|owned|materialized|stream|catalog|"
    r"space)\b|\btruncate\b(?!\s*\()"
    r"|\balter\s+table\b[^;]*\bdrop\b|\bdelete\s+from\s+[\w.\"`\[\]]+\s*(?:;"
    r"|\Z|where\s+(?:1\s*=\s*1|true)\b)|\bupdate\s+[\w.\"`]+\s+set\s+[^;]*?(?:;"
    r"|\Z)"
)
_CHANGE = pattern(
    r"(?i)\b(?:insert|update|delete|alter|create|grant|revoke|replace|merge|"
    r"copy|rename|vacuum|reindex|call|load|set\s+password|import|attach|exec|"
    r"restore|backup)\b"
)
_SHOWS = pattern(r"(?i)\bshow\s+(?:create|grants|replica|binary|index)\b[^;]*")
_GRANT = pattern(
    r"(?i)\bcopy\b[^;]*\b(?:to|from)\s+program\b|\binto\s+(?:out|dump)file\b|"
    r"\bload_file\s*\(|\bxp_cmdshell\b|\bsys_exec\b|\blo_export\b|\bpg_read_file\b|"
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?FUNCTION\b[^;]*\bLANGUAGE\s+'?(?:C|plpythonu|"
    r"plperlu)"
)
_NOSQL = pattern(
    r"(?i)\bdropDatabase\b|\.drop\s*\(|\.(?:deleteMany|remove|updateMany)\s*\(\s*\{\s*\}|"
    r"\bdropAllUsers\b|\bdropAllRoles\b|\.dropIndexes\s*\(|\bshutdownServer\b|"
    r"dropUser"
)
_REDIS = pattern(
    r"(?i)\A(?:flushall|flushdb|shutdown|debug|slaveof|replicaof|module|migrate|"
    r"failover|cluster\s+(?:reset|flushslots)|script\s+flush|acl\s+(?:deluser|"
    r"setuser)|swapdb)\b|\Aconfig\s+(?:set|rewrite|resetstat)\b|\A(?:eval|evalsha)\b|"
    r"\Asave\b"
)
_REDIS_READ = pattern(
    r"(?i)\A(?:get|mget|keys|scan|info|ping|type|ttl|pttl|exists|hget|hgetall|"
    r"hkeys|hvals|hlen|lrange|llen|smembers|scard|zrange\w*|zcard|dbsize|monitor|"
    r"client\s+list|config\s+get|memory|strlen|lindex|sismember|slowlog|latency|"
    r"object|time|echo|randomkey|dump|xrange|xlen|xinfo|pubsub|command|role|"
    r"lastsave|getrange|bitcount|geopos|select|auth|hello|cluster\s+(?:info|"
    r"nodes|slots)|sscan|hscan|zscan|json\.get|ft\.search|zscore|hexists|hmget|"
    r"subscribe|psubscribe|quit|help)\b|\A\Z"
)
_DEV = pattern(
    r"(?i)(?:\A|[\W_])(?:dev|develop|development|test|tests|testing|local|localhost|"
    r"scratch|sandbox|tmp|ci|127\.0\.0\.1)(?:\Z|[\W_\d])"
)
_PROD = pattern(r"(?i)prod|production|live\b|master|primary")
# A name of which `test` is a word, at its end or anywhere.
_TESTS = pattern(r"(?:[\w.-]*[._-])?test(?:s|ing)?(?:[._-]?\d+)?\Z")
_TEST_WORD = pattern(r"(?:[\w.-]*[._-])?test(?:s|ing)?\d*(?:[._-][\w.-]*)?\Z")
_WHOLE = pattern(
    r"(?i)(?:drop\s+database\s+(?P<sure>if\s+exists\s+)?|create\s+database\s+(?:if\s+not\s+exists\s+)?)"
    r"(?P<q>[\"`]?)(?P<name>[\w.-]+)(?P=q)(?:\s+[\w\s='-]+)?\Z"
)
_SERVERS = ("PGHOST", "PGHOSTADDR", "PGSERVICE", "DATABASE_URL", "MYSQL_HOST")

_CLIENTS = {
    "psql": (
        "-c --command",
        "-h -p -U -d -f -v -P -o -L -F -R -T --host --port --username --dbname "
        "--file --set --output --log-file",
    ),
    "mysql": (
        "-e --execute",
        "-h -P -u -D -S --host --port --user --database --socket --init-command "
        "--defaults-file --defaults-extra-file",
    ),
    "sqlite3": ("-cmd", "-init -separator -nullvalue"),
    "sqlcmd": ("-Q -q", "-S -U -P -d -i -o"),
    "clickhouse-client": ("-q --query", "-h -u -d --host --user --password --port --database"),
    "mongosh": (
        "--eval",
        "--host --port -u -p --username --password --authenticationDatabase -f --file",
    ),
    "redis-cli": ("", "-h -p -a -n -u --user --pass -s -r -i --pipe-mode"),
    "cqlsh": ("-e --execute", "-u -p -f -k"),
    "bq": ("", "--project_id --format"),
    "duckdb": ("-c -s -cmd", "-init"),
    "influx": ("-execute --execute", "-host -port -database --org --token --bucket"),
    "snowsql": ("-q --query", "-a -u -d -s -f"),
    "trino": ("--execute", "--server --catalog --schema -f"),
    "neo4j": ("", "-u -p -a -d -f"),
    "spark-sql": ("-e", "-f --master"),
    "osqueryi": ("", "--json"),
}
_SAME = {
    "mariadb": "mysql",
    "mycli": "mysql",
    "mysqlsh": "mysql",
    "pgcli": "psql",
    "litecli": "sqlite3",
    "sqlite": "sqlite3",
    "sqlcipher": "sqlite3",
    "mongo": "mongosh",
    "clickhouse": "clickhouse-client",
    "clickhouse-local": "clickhouse-client",
    "valkey-cli": "redis-cli",
    "keydb-cli": "redis-cli",
    "presto": "trino",
    "hive": "spark-sql",
    "beeline": "spark-sql",
    "impala-shell": "sqlcmd",
    "cypher-shell": "neo4j",
    "sqlplus": "sqlcmd",
    "usql": "psql",
    "isql": "sqlcmd",
    "mssql-cli": "sqlcmd",
    "cockroach": "clickhouse-client",
    "ysqlsh": "psql",
    "iredis": "redis-cli",
    "vsql": "psql",
    "nzsql": "psql",
    "libsql": "sqlite3",
    "rqlite": "sqlite3",
    "dolt": "clickhouse-client",
    "tarantoolctl": "redis-cli",
    "scylla-cqlsh": "cqlsh",
    "questdb": "clickhouse-client",
    "exaplus": "sqlcmd",
}


_SCANS = listed("--scan --bigkeys --memkeys --hotkeys --stat --latency --latency-history --version")


def _here(call: ProgramCall, options: Options) -> bool:
    """True when a client speaks to a server on this machine."""
    given = options.all("-h", "--host", "-S", "--server")
    named = options.all("-d", "--dbname", "--maintenance-db") + options.rest
    given += [word for word in named if "://" in word or "=" in word]
    given += [str(call.shell.variables[name]) for name in _SERVERS if name in call.shell.variables]
    return all(at.startswith("/") or LOCAL.match(host_of(at)) for at in given)


def _for_tests(name: str, sure: bool) -> bool:
    """True for the name of a database that tests make again; `sure` when it need not be there."""
    known = _TEST_WORD if sure else _TESTS
    return known.match(name) is not None and _PROD.search(name) is None


def _remade(statements: str) -> bool:
    """True when all that is said is to drop or create databases for tests."""
    parts = [_WHOLE.match(part.strip()) for part in statements.split(";") if part.strip()]
    return bool(parts) and all(
        part and _for_tests(part["name"], bool(part["sure"]) or part[0][:1] in "cC")
        for part in parts
    )


def client(call: ProgramCall) -> None:
    """A database client: its statements are read."""
    check_flags(call)
    name = _SAME.get(call.name, call.name)
    if name == "bq" and call.args and "query" not in call.args:
        by_table(call, "gcloud")
        return
    if name == "redis-cli" and any(word in _SCANS for word in call.args):
        return
    inline, valued = _CLIENTS[name]
    single = name in ("sqlite3", "influx", "duckdb", "osqueryi")
    options = read_options(call.args, f"{inline} {valued}", single)
    local = name in ("sqlite3", "duckdb", "osqueryi")
    texts = options.all(*inline.split()) + _loose(call, name, local, options)
    texts += _from_files(call, options)
    if call.stdin is not None:
        texts.append(call.stdin)
    if local and options.rest:
        _local_file(call, options.rest[0])
    for target in options.all("-o", "--output", "-L", "--log-file"):
        call.write(target, FILE)
    zone = call.zone(options.rest[0]) if local and options.rest else Zone.UNKNOWN
    if zone in (Zone.INSIDE, Zone.TEMP):
        for text in texts:
            scan_shell(call, text)
        return
    mild = _mild(
        name, options, texts, local and zone not in (Zone.SYSTEM, Zone.OUTSIDE, Zone.HOME_CHILD)
    )
    for text in texts:
        if not (_remade(text) and _here(call, options)):
            _statement(call, text, name, mild)
    if not (texts or local or options.has("-l", "--list", "--version", "-V", "--help")):
        call.ask("db.interactive", "opens a database session")
    call.out = OUT if call.out != SECRET else SECRET


def _loose(call: ProgramCall, name: str, local: bool, options: Options) -> list[str]:
    """Statements given as plain operands."""
    if local:
        return options.rest[1:]
    if name in ("redis-cli", "influx"):
        return [" ".join(options.rest)] if options.rest else []
    if name in ("bq", "neo4j") or call.name in ("cockroach", "dolt"):
        return list(options.rest)
    return [word for word in options.rest if "(" in word] if name == "mongosh" else []


def _from_files(call: ProgramCall, options: Options) -> list[str]:
    """Statements in files: read when this line wrote them, asked about otherwise."""
    texts = []
    for file in options.all("-f", "--file", "-i", "-init", "--defaults-file"):
        made = call.content(file)
        if made is not None:
            texts.append(made)
        else:
            call.saw(file)
            call.ask("db.file", "runs statements from a file")
    return texts


def _mild(name: str, options: Options, texts: list[str], local: bool) -> bool:
    """True for a database whose loss is a nuisance: local, or named for development."""
    if name == "redis-cli" and not options.has("-h", "-u"):
        local = not re.search(r"(?i)flushall|config|shutdown", " ".join(options.rest))
    given = options.all(
        "-d", "-D", "-h", "--host", "--dbname", "--database", "-S", "--server", "-u"
    )
    where = " ".join([*given, *(word for word in options.rest if word not in texts)])
    return local or (_DEV.search(where) is not None and _PROD.search(where) is None)


def _local_file(call: ProgramCall, name: str) -> None:
    call.read(name)
    if call.zone(name) in (Zone.SYSTEM,):
        call.ask("db.file", "opens a database of the system")


def _statement(call: ProgramCall, text: str, name: str, local: bool) -> None:
    if unknown(text):
        if "\ue002" in text:
            call.ask("db.file", "runs statements from a file")
        elif "\ue004" in text:
            call.ask("db.file", "runs statements fetched from the network")
        else:
            call.ask("db.unknown", "runs a statement that is not known from the text")
    clean = _COMMENT.sub(
        lambda found: " " + (found[1] or "" if found[0].startswith("/*!") else " "), text
    )
    clean = re.sub(r"\s+", " ", clean).strip()
    scan_shell(call, text)
    level = call.ask if local else call.block
    other = _OTHERS.get(name)
    if other is not None:
        other(call, clean, level)
    else:
        _sql(call, clean, name, level)


def _redis(call: ProgramCall, text: str, level: Callable[[str, str], None]) -> None:
    for line in text.split("\n"):
        if _REDIS.match(line.strip()):
            level("db.drop", "destroys or takes over a key store")
        elif not _REDIS_READ.match(line.strip()):
            call.ask("db.change", "changes a key store")


def _mongo(call: ProgramCall, text: str, level: Callable[[str, str], None]) -> None:
    if _NOSQL.search(text):
        level("db.drop", "destroys data in the database")
    elif re.search(r"\.(?:insert|update|delete|replace|create|rename|save|aggregate)\w*\(", text):
        call.ask("db.change", "changes the database")


_OTHERS = {"redis-cli": _redis, "mongosh": _mongo}


def _sql(call: ProgramCall, text: str, name: str, level: Callable[[str, str], None]) -> None:
    bare = re.sub(r"'(?:[^']|'')*'", "''", text)
    drop = _DROP.search(bare)
    filtered = drop and drop[0].lower().startswith("update") and re.search(r"(?i)\bwhere\b", bare)
    gone = re.search(r"\b(?:bucket|org|user|auth)\s+delete\b|\A\s*delete\b", text)
    if (drop and not filtered) or (name == "influx" and gone):
        level("db.drop", f"destroys data: {shown(text, 60)}")
    elif name == "neo4j" and re.search(r"(?i)\bdelete\b", bare):
        level("db.drop", "destroys data in the graph")
    elif _GRANT.search(text):
        call.block("db.escape", "lets the database run programs or touch files")
    elif _CHANGE.search(_SHOWS.sub("", bare)) and not bare.startswith("."):
        call.ask("db.change", "changes the database")


def scan_shell(call: ProgramCall, text: str) -> None:
    r"""Shell escapes: `\!`, `.shell`, `system`, `\o |cmd`, `.output`."""
    for found in re.finditer(
        r"(?:^|\n|;)\s*(?:\\!|\.shell|\.system|!!|system|\\system)\s*([^\n]+)", text
    ):
        call.doubt("db.shell", "runs a command through the database client")
        call.script(found[1])
        call.wrapper = False
    for found in re.finditer(
        r"\\(?:o|w|g|copy[^|\n]*(?:to|from)\s+program)\s*\|?\s*'?([^\n']+)", text
    ):
        if "|" in found[0] or "program" in found[0]:
            call.doubt("db.shell", "pipes through a command")
            call.script(found[1])
            call.wrapper = False
    for found in re.finditer(
        r"(?:^|\n)\s*\.(?:output|once|save|backup|clone|log|dump_)\s+([^\n|]+)|\.(?:output|"
        r"once)\s+\|\s*([^\n]+)",
        text,
    ):
        if found[2]:
            call.script(found[2])
        elif found[1].strip() not in ("stdout", "off"):
            call.write(found[1].strip().strip("'\""), FILE)
    if re.search(r"(?i)\bload_extension\s*\(|(?:^|\n)\s*\.load\s", text):
        call.doubt("db.extension", "loads native code into the database client")
    if re.search(r"(?i)\bedit\(|writefile\(", text):
        for found in re.finditer(r"(?i)writefile\(\s*'([^']+)'", text):
            call.write(found[1], FILE)


def dump(call: ProgramCall) -> None:
    """`pg_dump`, `mysqldump`: reads a database."""
    options = call.options(
        "-f -h -U -d -p -t -n -F -r -u -P --file --host --username --dbname --result-file "
        "--out -o --archive --uri --db"
    )
    for name in options.all("-f", "--file", "-r", "--result-file", "--out", "--archive"):
        if name:
            call.write(name, FILE)
    call.out = FILE if _DEV.search(" ".join(call.args)) else SECRET


def restore(call: ProgramCall) -> None:
    """`pg_restore`, `mongorestore`: changes a database."""
    options = call.options("-d -h -U -p --dbname --host --username --db --uri -j")
    if options.has("-l", "--list"):
        return
    if options.has("--clean", "-c", "--drop", "--overwrite-tables") and not _DEV.search(
        " ".join(call.args)
    ):
        call.block("db.drop", "replaces what is in the database")
    else:
        call.ask("db.change", "changes a database")


def drop(call: ProgramCall) -> None:
    """`dropdb`."""
    options = call.options(_MAKES)
    sure = options.has("--if-exists")
    if not (len(options.rest) == 1 and _for_tests(options.rest[0], sure) and _here(call, options)):
        by_table(call)


_MAKES = (
    "-h -p -U -u -P --host --port --username --user --maintenance-db -O -T -E -l -D "
    "--owner --template --encoding --locale --tablespace"
)


def admin(call: ProgramCall) -> None:
    """`mysqladmin`, `createdb`, `pg_ctl`: the server itself."""
    text = " ".join(call.args)
    options = call.options(_MAKES)
    match [call.name, *options.rest]:
        case ["createdb", name] if _for_tests(name, sure=True) and _here(call, options):
            return
        case ["mysqladmin", "drop" | "create", name] if _for_tests(name, sure=False) and _here(
            call, options
        ):
            return
    if re.search(
        r"\b(?:drop|shutdown|kill|password|destroy|reset|flush-privileges)\b", text
    ) and call.name in ("mysqladmin", "pg_ctlcluster", "rabbitmqadmin", "nodetool"):
        call.block("db.drop", "destroys a database or stops its server")
    elif re.search(
        r"\b(?:status|ping|version|processlist|variables|extended-status|list|info|"
        r"ring)\b",
        text,
    ) or call.name in ("pg_isready", "pgbench"):
        return
    elif call.name == "pg_resetwal" or (call.name == "initdb" and not _DEV.search(text)):
        call.block("db.drop", "resets a database server")
    else:
        call.ask("db.change", "changes a database server")
