#!/usr/bin/env bash
# check_tests.sh CTEST_OUTPUT EXPECTED: holds a run of all tests against expected_tests.txt. Prints what
# is wrong; status 1 then.
set -uo pipefail
output=$1 expected=$2

names=$(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*.*(Passed|Failed|Timeout|Exception|\*\*\*).*$/\1/p' "$output")
skipped=$(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*.*\*\*\*Skipped.*$/\1/p' "$output")
ran=$(comm -23 <(sort -u <<<"$names") <(sort -u <<<"$skipped"))
wrong=0

allowed=$(sed -nE 's/^skip (.*[^ ]) \| .*$/\1/p' "$expected")
while IFS= read -r name; do
  [[ -n $name ]] || continue
  found=0
  while IFS= read -r regex; do
    if [[ -n $regex ]] && grep -qxE -- "$regex" <<<"$name"; then
      found=1
      break
    fi
  done <<<"$allowed"
  if ((found == 0)); then
    echo "tests: $name was skipped, and $expected does not allow that"
    wrong=1
  fi
done <<<"$skipped"

while IFS=$'\t' read -r least regex what; do
  [[ -n $regex ]] || continue
  count=$(grep -cxE -- "$regex" <<<"$ran")
  if ((count < least)); then
    echo "tests: $count of at least $least ran of $regex ($what)"
    wrong=1
  fi
done < <(sed -nE 's/^run ([0-9]+) (.*[^ ]) \| (.*)$/\1\t\2\t\3/p' "$expected")
exit "$wrong"
