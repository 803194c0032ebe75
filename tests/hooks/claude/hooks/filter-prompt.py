import json
import sys

prompt = json.load(sys.stdin)["prompt"]
if "password" in prompt:
    print(json.dumps({"decision": "block", "reason": "Passwords do not belong into prompts."}))
else:
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "UserPromptSubmit",
                    "additionalContext": f"The prompt has {len(prompt.split())} words.",
                }
            }
        )
    )
