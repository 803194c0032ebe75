#!/bin/bash
# Nothing below vendor/ is changed or read.
path=$(jq -r '.tool_input.file_path // empty')
case "$path" in
  "$CLAUDE_PROJECT_DIR"/vendor/*)
    echo "vendor/ is not ours to touch" >&2
    exit 2 ;;
esac
