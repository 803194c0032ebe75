import json
import os
import sys

event = json.load(sys.stdin)
if not event["stop_hook_active"] and not os.path.exists("NOTES.md"):
    print(json.dumps({"decision": "block", "reason": "Write NOTES.md before you stop."}))
