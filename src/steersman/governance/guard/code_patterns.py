"""Patterns by which inline code of other languages is read."""

import re

from steersman.records.patterns import pattern

HOMES = pattern(
    r"(?:os\.path\.expanduser|File\.expand_path|[pP]ath\.expand|vim\.fs\.normalize|(?:\bvim\.fn\.)?\bexpand)\(\s*(?:f|r)?['\"]~(?P<t>[^'\"]*)['\"]\s*\)|os\.environ\[\s*['\"]HOME['\"]\s*\]"
    r"|os\.environ\.get\(\s*['\"]HOME['\"][^)]*\)|os\.getenv\(\s*['\"]HOME['\"]\s*\)|Path\.home\(\)"
    r"|pathlib\.Path\.home\(\)|process\.env\.HOME|process\.env\[['\"]HOME['\"]\]"
    r"|(?:require\(['\"](?:node:)?os['\"]\)|\bos)\.homedir\(\)|Deno\.env\.get\(['\"]HOME['\"]\)"
    r"|ENV\[\s*['\"]HOME['\"]\s*\]|ENV\.fetch\(\s*['\"]HOME['\"]\s*\)|Dir\.home|"
    r"\$ENV\{['\"]?HOME['\"]?\}"
    r"|getenv\(\s*['\"]HOME['\"]\s*\)|\$_SERVER\[['\"]HOME['\"]\]|Sys\.getenv\(['\"]HOME['\"]\)|"
    r"homedir\(\)"
    r"|System\.getProperty\(['\"]user\.home['\"]\)|\(getenv ['\"]HOME['\"]\)|"
    r"ENVIRON\[['\"]HOME['\"]\]"
    r"|os\.UserHomeDir\(\)|(?:dirs|home)::home_dir\(\)(?:\.unwrap\(\))?|NSHomeDirectory\(\)"
    r"|(?:std::)?env::var\(['\"]HOME['\"]\)(?:\.unwrap\(\))?|env!\(['\"]HOME['\"]\)"
    r"|System\.getenv\(['\"]HOME['\"]\)|System\.user_home!?(?:\(\))?|getHomeDir(?:ectory)?\(\)"
    r"|\bvim\.env\.HOME\b|\bvim\.env\[['\"]HOME['\"]\]|\b(?:vim\.)?(?:uv|loop)\.os_homedir\(\)"
    r"|os\.Getenv\(['\"]HOME['\"]\)|\$env:(?:HOME|USERPROFILE)|\$HOME\b|%USERPROFILE%"
)
STRING = pattern(
    r"(?P<q>'''|\"\"\"|['\"`])(?P<s>(?:\\.|(?!(?P=q)).)*)(?P=q)"
    r"|(?:%[xqQ]|\bqx|\bqq?)\s*(?:\{(?P<b>[^}]*)\}|\((?P<p>[^)]*)\)|\[(?P<k>[^\]]*)\]|"
    r"([!/|])(?P<o>.*?)\4)",
    re.DOTALL,
)
JOIN = pattern(
    r"(['\"])((?:\\.|(?!\1).)*)\1\s*(?:\+|\.\.|\.|~|<>|,\s*os\.sep\s*,)\s*(['\"])((?:\\.|"
    r"(?!\3).)*)\3"
)
PATH_JOIN = pattern(
    r"(?:os\.path\.join|path\.join|File\.join|Path)\(((?:\s*['\"][^'\"]*['\"]\s*,"
    r"?)+)\)((?:\s*/\s*['\"][^'\"]*['\"])*)"
)
RUN = pattern(
    r"(?:\bos\.(?:system|popen|exec\w+|spawn\w+|posix_spawn\w*|startfile)|\bsubprocess\.\w+|"
    r"\bcommands\.get\w+"
    r"|\bpty\.spawn|\basyncio\.create_subprocess_\w+|\b(?:\w+\.)?(?:run|call|"
    r"check_call|check_output|getoutput|getstatusoutput|Popen)(?=\s*\(\s*[\[('\"])"
    r"|\b(?:run|shell)(?=\s+['\"])|\be?syscmd"
    r"|\bexec(?!ute\b)(?:Sync|File|FileSync|vp?e?|lp?e?)?|\bspawn(?:Sync)?|\bfork\b(?=\s*\(['\"])|"
    r"\bsystem2?|\bpopen\d?|\bPopen"
    r"|\bshell_exec|\bpassthru|\bproc_open|\bpcntl_exec|\bos\.execute|\bio\.popen|"
    r"\bIO\.popen|\bOpen3\.\w+"
    r"|\bKernel\.\w+|\bProcess\.(?:spawn|exec|Start|run)|\bDeno\.(?:run|Command)|"
    r"\bBun\.(?:spawn(?:Sync)?|\$)|\bnew Deno\.Command"
    r"|\bdo shell script|\bshell-command(?:-to-string)?|\bcall-process(?:-shell-command)?|"
    r"\bstart-process(?:-shell-command)?|\bRuntime\.getRuntime\(\)\.exec"
    r"|\bProcessBuilder|\.execute\(\)|\bShell\.\w+|\bexec\.Command|\bCommand::new|"
    r"\bsystemf?|\brun_command|\bcallProcess|\breadProcess"
    r"|\bos:cmd|\bSystem\.cmd|\bSystem\.shell|\bPort\.open|\brun-program|\buiop:\w+|"
    r"\bsh\.\w+|\$`|\bqx|\bInvoke-Expression|\biex|\bStart-Process|\bcmd\s*/c"
    r"|\bexecl[pe]?|\bexecv[pe]*|\bsystem\*?|\bprocess\*?|\bcallproc|\bunix\.system|"
    r"\bexec(?:ShellCmd|Cmd|CmdEx|Process)|\bos/(?:shell|execute)|\bsh(?=\s+['\"])|\bjob_?start|\bterm(?:open|_start)|\bSys\.command|\bUnix\.\w+|\bcallCommand|\bspawnCommand|\bcallProcess|"
    r"\breadProcess)"
)
DELETE = pattern(
    r"(?:\bshutil\.(?:rmtree|move)|\bos\.(?:rename|replace|renames)|\bFile\.rename|\brenameSync|"
    r"\bfs\.rename|(?<![.\w])move(?=\s*\()|\bpathrm\w+|\brmtree|\bremove_tree|\brm_rf?|\brm_f|\bFileUtils\.\w*rm\w*|"
    r"\bremove_entry\w*|\brmSync|\brmdirSync"
    r"|\bunlinkSync|\bfs\.(?:rm|rmdir|unlink|promises\.rm|promises\.unlink)|"
    r"\bfsp?\.rm|\brm(?=\s*\(\s*['\"])|\brimraf(?:\.sync|Sync)?|\bos\.(?:remove|"
    r"unlink|rmdir|removedirs)"
    r"|\.unlink(?=\()|\.rmdir(?=\()|\bunlink|\brmdir|\bFile\.(?:delete|unlink)|"
    r"\bDir\.(?:rmdir|delete|unlink)|\bDeno\.remove(?:Sync)?"
    r"|\bdelete-(?:directory|file)|\bfs::remove_\w+|\bremove_(?:dir_all|file|"
    r"all)|\bos\.RemoveAll|\bos\.Remove|\bFile\.rm_rf!?|\bFile\.rm!?|\bFiles\.delete\w*"
    r"|\bdeleteTree\w*|\bremoveItem|\bdeleteDir|\bdel_dir_r|\bremoveDirectoryRecursive|\bremovePathForcibly|"
    r"\bfile\.remove|\bfile_delete|\bfs\.emptyDirSync|\bemptyDirSync|\bPath\(|"
    r"\bfile delete(?: -force)?|\bdelete!|\bdirectory-delete|\bRemove-Item|\brd\s+/s|"
    r"\bdel\s+/[fsq])"
)
WRITE = pattern(
    r"\b(?:open|fopen|File\.open|File\.new|io\.open|codecs\.open|openSync)\s*\(?\s*(?:\w+\s*,"
    r"\s*)?['\"](?P<a>[^'\"]+)['\"]\s*,\s*(?:mode\s*=\s*)?['\"](?P<m>[^'\"]*)['\"]"
    r"|\bopen\s*\(?\s*(?:my\s+)?[\w$*]+\s*,\s*['\"]\s*(?P<pm>>>?|\+<)\s*(?P<p>[^'\"]+)['\"]"
    r"|\bopen\s*\(?\s*(?:my\s+)?[\w$*]+\s*,\s*['\"](?P<pm2>>>?|\+<)['\"]\s*,"
    r"\s*['\"](?P<p2>[^'\"]+)['\"]"
    r"|\b(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|file_put_contents|"
    r"File\.write|IO\.write|File\.binwrite|writeTextFile(?:Sync)?|Deno\.write\w+|"
    r"Bun\.write|copyFile(?:Sync)?|truncateSync|writeLines|write\.csv|os\.WriteFile|"
    r"fs::write|renameSync|write-region|append-to-file|with-temp-file|copy-file|rename-file|spit|chmodSync|os\.chmod|os\.chown|os\.truncate|"
    r"os\.symlink|os\.mkdir|shutil\.copy\w*)\s*\(?\s*(?P<rest>[^)\n]*)"
    r"|(?:Path|File)\(\s*['\"](?P<pw>[^'\"]+)['\"]\s*\)\s*(?:\.(?:write\w*|append\w*|touch|chmod|setText|"
    r"open\(['\"][wa]|text\s*=(?!=))|<<)"
    r"|print\s*>>?\s*\(?['\"](?P<aw>[^'\"]+)['\"]|>>?\s*['\"](?P<aw2>/[^'\"]+)['\"]"
)
# Of these, calls that name what they write last.
COPIES = (
    r"copyFile|shutil\.copy|renameSync|os\.symlink|write-region|append-to-file|"
    r"copy-file|rename-file"
)
# A link made by code: its target, then its name.
LINK = pattern(
    r"\b(?:os\.(?:sym)?link|os\.Symlink|(?:sym)?link(?:Sync)?|File\.(?:sym)?link|"
    r"FileUtils\.ln_\w+|ln_sf?|createSymbolicLink|fs::symlink)(?=\s*[('\"])"
)
NETWORK = pattern(
    r"\burlopen|\burlretrieve|\brequests\.|\bhttpx\.|\bhttp\.client|\bhttp\.(?:get|"
    r"request|post)|\bhttps\.(?:get|request)|\bfetch\(|\baxios"
    r"|require\(['\"](?:node:)?(?:net|http|https|dgram|tls|dns)['\"]\)|\bNet::HTTP|\bopen-uri|\bURI\.open|\bLWP|\bHTTP::Tiny|\bsocket\b|\bSocket\b|"
    r"\bcurl_exec|\bfsockopen|\bXMLHttpRequest|\bTCPSocket|\bnet\.(?:connect|"
    r"Socket|createConnection)|\bWebClient|\bInvoke-WebRequest|\biwr\b|\burllib|"
    r"\baiohttp|\bftplib|\bsmtplib|\bfile_get_contents\(\s*['\"]https?:|\bIO::Socket|"
    r"\bstream_socket_client|\bdns\.(?:lookup|resolve)|\bgethostbyname|\bWinHttp|"
    r"\bDownloadString|\bnc\b|/inet/"
)
EVAL = pattern(
    r"\b(?:exec|eval|compile|execfile|Function|loadstring|load|instance_eval|"
    r"class_eval|create_function|assert|vm\.run\w+|runInNewContext|Invoke-Expression|"
    r"iex|pickle\.loads|__import__)\b\s*[\(\s'\"$]"
)
KILL = pattern(
    r"\bos\.kill(?:pg)?\(\s*-?1\b|\bprocess\.kill\(\s*-?1\b|\bkill\s*\(?\s*['\"]?(?:SIG)?(?:KILL|"
    r"TERM|9|15)['\"]?\s*,\s*-1\b|\bProcess\.kill\([^,]*,\s*-1|\bposix_kill\(\s*-1|"
    r"\bkill\(\s*-1\s*,|\bsignal\.kill\(-1"
)
FORKBOMB = pattern(
    r"\bfork\b(?:\(\))?\s*(?:while|until)\b|\b(?:while|until|loop|forever)\b[^\n]*(?:\n[^\n]*)?fork\b|"
    r"function\s+(\w+)\(\)\s*\{[^\n]*(?:fork|spawn)\b[^\n]*\b\1\(\)"
    r"|for\s*\(\s*;\s*;\s*\)[^\n]*\bfork\b|\bos\.fork\(\)\s+for\b|\bos\.fork\(\)\s*(?:or|"
    r"and|;)\s*os\.fork"
    r"|\bwhile\s*\(?\s*(?:1|true|True)\s*\)?\s*:?[^\n]*(?:\n\s*)?(?:system|spawn|"
    r"Popen|exec|popen)\w*\s*\("
    r"|setInterval\([^\n]*(?:fork|spawn)|process\.argv\[0\][^\n]*spawn"
)
ROOTISH = pattern(
    r"(?:Remove-Item|rd\s+/s|del\s+/[fsq]|format\s+[a-z]:|rmdir\s+/s)[^\n;|]*?(?:\s|"
    r"['\"])(~|/|\$HOME|\$env:\w+|[A-Za-z]:\\*(?:Users|Windows)?\\*\*?|\*)(?=['\"\s]|"
    r"\Z)",
    re.I,
)
LISTED = pattern(
    r"(?:Get-ChildItem|gci|dir|ls)\s+(?:-\w+\s+)*['\"]?(~|/|\$HOME|\$env:\w+|[A-Za-z]:\\*|/(?:etc|usr|home|"
    r"var)\S*)['\"]?[^|]*\|\s*(?:Remove-Item|ri|rm|del|Clear-Content)",
    re.I,
)
SHOW = pattern(
    r"\b(?:print|puts|console\.log|echo|write|say|p|cat|sys\.stdout|display|"
    r"message)\b"
)
# Code that only shows something, after it has named what it uses.
SHOWN = pattern(
    r"(?:\s*(?:import|from|use|require|const|let|var)\b(?![^;\n]*(?:process|\bos\b|shutil|\bpty\b|ctypes|"
    r"importlib|builtins))[^;\n]*[;\n])*\s*(?:print|puts|console\.log|echo|say)\b[^;\n]*;?\s*\Z"
)
# Code whose last statement prints plain texts.
SAYS = pattern(
    r"\b(?:print|println|puts|console\.log|echo|say|write|writeLines|cat|display|message|putStrLn)\b"
    r"\s*\(?\s*((?:(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")\s*+,?+\s*+)++)\)?+\s*+;?+\s*+\Z"
)
ONLY_SAYS = pattern(r"\s*\(?\s*(?:\w+\.)*" + SAYS.text)
CHR = pattern(
    r"(?:chr\(\s*(0x[0-9a-fA-F]+|\d+)\s*\)|String\.fromCharCode\(([\d,\s]+)\)|\b(\d+)\.chr)"
)
BLOB = pattern(r"[A-Za-z0-9+/=_-]{8,}\Z")
# Ways to start a command that are not calls, by language; an empty set means every language.
ESCAPES = (
    (
        frozenset(("ruby", "perl", "php", "julia")),
        pattern(r"`([^`]+)`|%x[{(\[]([^})\]]+)|qx\s*[{(/!]([^})/!]+)"),
    ),
    (
        frozenset[str](),
        pattern(
            r"\"((?:\\.|[^\"])*)\"\.(?:execute\(|!!?|lazyLines|runCommand|shell\(\))"
            r"|'((?:\\.|[^'])*)'\.execute\("
        ),
    ),
    (
        frozenset(("awk",)),
        pattern(r"\|\s*&?\s*\"((?:\\.|[^\"])+)\"|\"((?:\\.|[^\"])+)\"\s*\|\s*&?\s*getline"),
    ),
    (
        frozenset(("perl",)),
        pattern(
            r"open\s*\(?\s*[\w$* ]+,\s*['\"]\s*(?:-\||\|-?)\s*['\"]?\s*,?\s*['\"]?([^'\"]+)"
            r"|['\"]([^'\"|]+)\|\s*['\"]"
        ),
    ),
    (
        frozenset(("editor", "sql", "gdb", "gnuplot", "haskell")),
        pattern(
            r"(?:^|[\n;:|\[{])\s*(?:\\|:)?(?:%|silent!?\s+|catch\s*\{)?(?:!|(?:platform\s+)?shell\b|"
            r"exec\s|spawn\s|r\s*!|w\s+!|system\s|terminal\s|term\s)"
            r"\s*([^\n]+)"
        ),
    ),
)
HARM = pattern(
    r"\A\s*(?:sudo\s+)?(?:rm\s+-\w*[rR]|mkfs|dd\s+if=|shutdown|reboot|curl\s.*\|\s*\w*sh\b|"
    r"chmod\s+-R|kill\s+-9\s+-1)"
)
ENDS = pattern(
    r"(?i)remove|delete|unlink|\brm|wipe|truncat|shred|destroy|rmdir|chmod|chown|"
    r"rename"
)
STARTS = pattern(
    r"(?i)exec|spawn|popen|system|\brun|\bcall|\bsh\b|shell|\bcmd|command|process|"
    r"\$"
)
PRINTF = pattern(r"printf?\s*\(?\s*\"((?:\\.|[^\"])*)\"((?:\s*,\s*(?:\d+|\"[^\"]*\"))*)")
# A command that is a variable, run or read from.
RUNS_WIRE = pattern(
    r"(?:popen|system|exec|spawn|check_output|subprocess\.\w+)\s*\(?\s*(?!['\"])[\w.$]+"
    r"|\w+\s*\|&?\s*getline"
)
# Something that ends, empties or rewrites files.
DESTROYS = pattern(
    r"unlink|rmdir|rmtree|remove_tree|os\.[rR]emove|rmSync|\bdelete\b|truncate|\bremove\b|shred|"
    r"['\"]wb?['\"]|['\"]\+?>|fs\.rm\b|File\.delete|rm_rf?|RemoveAll|remove_(?:dir|file)|rename|"
    r"\brm\b|deleteDir|deleteRecursively|writeFile|File\.write|file_put_contents|chmod"
)
# A walk over a folder, with its root.
WALK = pattern(
    r"(?:\b[pP]ath(?:name(?:\.new)?)?\(|\bFile\(|os\.walk\(|scandir\(|listdir\(|\bglob(?:Sync)?\(?|\bi?glob\(|Dir\.glob\(?|"
    r"Dir\[|Dir\.(?:children|each_child|entries|foreach|new|open)\(?|readdir(?:Sync)?\(|"
    r"\bfind(?:depth)?\(|Find\.find\(?|DirectoryIterator\(|opendir\(?(?:\s*(?:my\s*)?[\w$]+\s*,)?|"
    r"lfs\.dir\(|readDir(?:Sync)?\(|filepath\.Walk\w*\(|os\.ReadDir\(|WalkDir::new\(|fs::read_dir\(|"
    r"list\.files\(|list_files\(|Path\.wildcard\(|Files\.walk\w*\(|"
    r"find(?:depth)?\s*\(?\s*(?:\{.*?\}|sub\s*\{.*?\}|\\&\w+)\s*,)"
    r"\s*['\"](?P<root>[^'\"]+)['\"]\s*(?:[,)\];}]|\Z|do\b)",
    re.DOTALL,
)
CHDIR = pattern(
    r"\b(?:os\.chdir|Dir\.chdir|process\.chdir|os\.Chdir|chdir)\b\s*(?:\(?\s*['\"](?P<to>[^'\"]+)['\"]"
    r"|\(\s*\)|(?=\s*[;}]))"
)
LETTERS = pattern(r"\bsprintf\s*\(?\s*['\"][^'\"]*%c[^'\"]*['\"](?:\s*,\s*\d+)+\s*\)?")
# A server, and what makes it one of files.
SERVES = pattern(
    r"serve_forever|HTTPServer|TCPServer|createServer|WEBrick|ListenAndServe|HTTP::Daemon|\.listen\(|"
    r"Bun\.serve|Deno\.serve|socketserver|Plack|HttpServer"
)
HANDS_OUT = pattern(
    r"SimpleHTTPRequestHandler|createReadStream|readFile|DocumentRoot|FileServer|FileHandler|"
    r"sendFile|express\.static|serveStatic|File\.read|IO\.read|send_file|Bun\.file|readTextFile|open\("
)
WALKER = pattern(
    r"readdir|scandir|os\.walk|listdir|Dir\.(?:glob|children|entries|each_child)|Find\.find|opendir|"
    r"\bglob\b|WalkDir|ReadDir|read_dir|list\.files"
)
ENVIRONMENT = pattern(
    r"(?:process\.env|\bENV|\$_ENV|ENVIRON)\[\s*['\"]\w+['\"]\s*\]|process\.env\.[A-Z]\w*|\$ENV\{['\"]?\w+['\"]?\}"
    r"|(?:\bos\.[gG]etenv|\bENV\.fetch|Deno\.env\.get|System\.getenv|Sys\.getenv|\bgetenv)"
    r"\(\s*['\"]\w+['\"]\s*\)"
)
LOOKUP = pattern(
    r"gethostbyname\w*|getaddrinfo|dns\.(?:promises\.)?(?:lookup|resolve\w*)|\.(?:lookup|resolve4?)(?=\()|"
    r"Resolv\.\w+|LookupHost|LookupIP|dns_get_record|checkdnsrr|Socket\.getaddrinfo"
)
# `const {execSync: e} = …`, `const e = require(…).execSync`
RENAMED = pattern(
    r"\b(?P<f>(?:exec|spawn|rm|unlink|readdir)\w*)\s*:\s*(?P<n>\w+)(?=\s*[,}])"
    r"|\b(?P<m>\w+)\s*=\s*require\([^)]*\)\.(?P<g>(?:exec|spawn|rm|unlink|readdir)\w*)\s*[;,\n]"
)
TEMPORARY = pattern(r"TempDir\(|tmp_path|mkdtemp|mktmpdir|os\.tmpdir\(|TemporaryDirectory")
