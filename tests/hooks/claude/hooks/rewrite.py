import json
import sys

event = json.load(sys.stdin)
command = event["tool_input"]["command"]
if command.startswith("npm "):
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "permissionDecisionReason": "this project uses pnpm",
                    "updatedInput": {**event["tool_input"], "command": f"echo p{command}"},
                }
            }
        )
    )
