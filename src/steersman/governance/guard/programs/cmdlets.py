"""The words of PowerShell: verbs that only look, commands that touch files, short names."""

from steersman.governance.guard.options import listed

LOOKS = frozenset(
    listed(
        """get test select where foreach sort measure compare convertto convertfrom convert
        resolve split join find group show search write read wait trace debug assert describe it
        should"""
    )
)
# Commands of other verbs that change nothing that lasts, or only the project.
CALM = frozenset(
    listed(
        """format-table format-list format-wide format-custom format-hex out-null out-string
        out-host out-default import-csv import-clixml import-module import-powershelldatafile
        import-localizeddata push-location pop-location set-location set-strictmode set-variable
        set-psdebug new-object new-timespan new-guid new-variable new-temporaryfile start-sleep
        clear-host clear-variable remove-variable add-member invoke-pester invoke-scriptanalyzer
        invoke-build invoke-psake invoke-formatter invoke-psrule export-modulemember
        update-typedata update-formatdata new-modulemanifest new-pesterconfiguration
        expand-archive compress-archive start-transcript stop-transcript tee-object new-fixture
        set-psreadlineoption"""
    )
)
SECRETS = frozenset(
    listed(
        """get-credential get-secret get-storedcredential get-clipboard get-azaccesstoken
        get-azkeyvaultsecret get-lapsadpassword"""
    )
)
DELETES = frozenset(listed("""remove-item clear-item clear-content clear-recyclebin"""))
WRITES = frozenset(
    listed(
        """set-content add-content out-file new-item copy-item move-item rename-item set-item
        tee-object export-csv export-clixml compress-archive expand-archive start-transcript
        set-itemproperty new-itemproperty set-acl"""
    )
)
SHORT = {
    **dict.fromkeys(listed("rm del ri rd rmdir erase"), "remove-item"),
    **dict.fromkeys(listed("gci ls dir"), "get-childitem"),
    **dict.fromkeys(listed("gc cat type"), "get-content"),
    **dict.fromkeys(listed("echo write"), "write-output"),
    **dict.fromkeys(listed("? where"), "where-object"),
    **dict.fromkeys(listed("% foreach"), "foreach-object"),
    **dict.fromkeys(listed("cp copy cpi"), "copy-item"),
    **dict.fromkeys(listed("mv move mi"), "move-item"),
    **dict.fromkeys(listed("ni mkdir md"), "new-item"),
    **dict.fromkeys(listed("cd sl chdir"), "set-location"),
    **dict.fromkeys(listed("iwr irm curl wget"), "invoke-webrequest"),
    **dict.fromkeys(listed("saps start"), "start-process"),
    **dict.fromkeys(listed("spps kill"), "stop-process"),
    "iex": "invoke-expression",
    "icm": "invoke-command",
    "sc": "set-content",
    "ac": "add-content",
    "clc": "clear-content",
    "select": "select-object",
    "sort": "sort-object",
    "measure": "measure-object",
    "group": "group-object",
    "compare": "compare-object",
    "diff": "compare-object",
    "ft": "format-table",
    "fl": "format-list",
    "gm": "get-member",
    "gcm": "get-command",
    "gps": "get-process",
    "ps": "get-process",
    "gsv": "get-service",
    "gi": "get-item",
    "gp": "get-itemproperty",
    "gcim": "get-ciminstance",
    "gwmi": "get-wmiobject",
    "gl": "get-location",
    "pwd": "get-location",
    "sls": "select-string",
    "cls": "clear-host",
    "clear": "clear-host",
    "sleep": "start-sleep",
    "tee": "tee-object",
    "ipmo": "import-module",
    "pushd": "push-location",
    "popd": "pop-location",
    "h": "get-history",
    "spsv": "stop-service",
    "sp": "set-itemproperty",
    "rni": "rename-item",
    "ren": "rename-item",
    "rp": "remove-itemproperty",
}
KEYWORDS = frozenset(
    listed(
        """if elseif else foreach for while do until switch try catch finally function filter param
        return throw break continue exit in begin process end trap using class enum data true
        false"""
    )
)
