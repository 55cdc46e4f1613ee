#!/usr/bin/env bash
# check_tests_test.sh CHECK_TESTS EXPECTED: tests that CHECK_TESTS finds missing tiers and skips that are not allowed, and
# that the committed list EXPECTED is well formed.
set -uo pipefail
check=$1 list=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
expect() {
  local what=$1 status=$2 text=$3
  "$check" "$work/out" "$work/list" >"$work/said"
  if [[ $? -ne $status ]] || ! grep -qF -- "$text" <<<"$(<"$work/said")$([[ -z $text ]] && echo "$text")"; then
    echo "FAILED: $what"
    cat "$work/said"
    failures=$((failures + 1))
  else
    echo "ok: $what"
  fi
}
cat >"$work/list" <<'LIST'
# a comment
skip Snapshots\..* | not in the repository
run 2 Window\..* | the window
LIST
cat >"$work/out" <<'OUT'
      Start  1: Window.Opens
 1/4 Test  #1: Window.Opens .....................   Passed    0.02 sec
 2/4 Test  #2: Window.Closes ....................***Failed    0.02 sec
 3/4 Test  #3: Snapshots.OpenAll ................***Skipped   0.01 sec
 4/4 Test  #4: Other.Thing ......................   Passed    0.01 sec
OUT
expect "an allowed skip and a whole tier pass" 0 ""
sed -i 's/Other.Thing ......................   Passed/Other.Thing ......................***Skipped/' "$work/out"
expect "a skip that is not allowed is found" 1 "Other.Thing was skipped"
sed -i '/Other.Thing/d; s/Window.Closes ....................\*\*\*Failed/Window.Closes ....................***Skipped/' "$work/out"
expect "a skipped tier is found" 1 "1 of at least 2 ran of Window"
sed -i '/Window.Closes/d' "$work/out"
expect "a tier that is not there is found" 1 "1 of at least 2 ran of Window"
if grep -vE '^(#.*|skip .+ \| .+|run [0-9]+ .+ \| .+|)$' "$list"; then
  echo "FAILED: lines above are neither skip nor run"
  failures=$((failures + 1))
fi
echo "$failures failed"
((failures == 0))
