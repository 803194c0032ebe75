"""Where what an agent knows of a folder is looked for: instructions, skills, MCP servers."""

from collections.abc import Mapping

from msgspec import Struct

from steersman.host.application import Host


class ContextConfig(Struct, frozen=True):
    """Absolute paths in the order in which they are looked at, none of them twice.

    Files of instructions have one of the names in `instructions_files`; a folder with a
    `skill_meta_file` is a skill. A folder that is not trusted adds no skills and no servers of its
    own. `problems` say which settings are not used.
    """

    instructions_dirs: list[str]
    instructions_files: list[str]
    skills_dirs: list[str]
    skill_meta_file: str
    mcp_config_files: list[str]
    trusted: bool
    problems: list[str]


def context_config(host: Host, folder: str, environ: Mapping[str, str]) -> ContextConfig:
    """The places for a folder (a real path), as threads there use them."""
    from steersman.identity import mcp_servers, skills
    from steersman.identity.instructions import Instructions
    from steersman.identity.places import once

    trusted = host.permissions.folder(folder).loads
    instructions = Instructions(folder, environ)
    meta, problem = skills.meta_file(environ)
    shelves = [place for place, _ in skills.folders(folder, environ, trusted=trusted)]
    return ContextConfig(
        instructions_dirs=once(instructions.folders),
        instructions_files=list(instructions.names),
        skills_dirs=once(shelves),
        skill_meta_file=meta,
        mcp_config_files=once(mcp_servers.files(folder, environ, trusted=trusted)),
        trusted=trusted,
        problems=[*instructions.notes, *([problem] if problem else [])],
    )
