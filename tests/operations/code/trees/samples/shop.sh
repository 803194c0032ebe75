#!/usr/bin/env bash
LIMIT=10
readonly NAME="x"
export HOST=here
greet() {
  local inner=1
  echo "hello $1"
}
function main { greet you; }
if true; then late() { :; }; fi
