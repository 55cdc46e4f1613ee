#!/usr/bin/env bash
# sanitize.sh: a few test programs under AddressSanitizer and UBSan, and a few under ThreadSanitizer (`./vramscope
# --help-setup` says which), in ctest's words, so that expected_tests.txt says how many have to be there. Status 1
# where they find something, or where a program that is built with them does not run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 4

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# run NAME OF_COMPILER OF_LAUNCHER
run() {
  if ! echo 'int main() {}' | "${CXX:-c++}" "-fsanitize=$2" -x c++ - -o "$folder/none" 2>"$folder/why" ||
    ! "$folder/none" 2>>"$folder/why"; then
    echo "$1: a program that is built with it does not run here: $(head -n 1 "$folder/why")"
    echo "sanitizers: VRAMSCOPE_CI_SANITIZE=0 .ci/run leaves them out"
    return 1
  fi
  if ! ./vramscope test "$3"; then
    echo "$1: failed"
    return 1
  fi
  echo "$1: passed"
}

status=0
run "AddressSanitizer and UBSan" address,undefined --sanitize || status=1
run ThreadSanitizer thread --sanitize=thread || status=1
exit $status
