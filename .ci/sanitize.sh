#!/usr/bin/env bash
# sanitize.sh: a few test programs under AddressSanitizer and UBSan (`./vramscope test --sanitize` says which), in
# ctest's words, so that expected_tests.txt says how many have to be there. Status 1 where they find something, or
# where a program that is built with them does not run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 4

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! echo 'int main() {}' | "${CXX:-c++}" -fsanitize=address,undefined -x c++ - -o "$folder/none" 2>"$folder/why" ||
  ! "$folder/none" 2>>"$folder/why"; then
  echo "sanitizers: a program that is built with them does not run here: $(head -n 1 "$folder/why")"
  echo "sanitizers: VRAMSCOPE_CI_SANITIZE=0 .ci/run leaves them out"
  exit 1
fi
if ! ./vramscope test --sanitize; then
  echo "sanitizers: failed"
  exit 1
fi
echo "sanitizers: passed"
