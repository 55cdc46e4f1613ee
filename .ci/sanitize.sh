#!/usr/bin/env bash
# sanitize.sh: a few test programs under AddressSanitizer and UBSan (`./vramscope test --sanitize` says which):
# status 1 where they find something. A compiler without the sanitizers' libraries is said and skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 4

# Building them has not been timed on two idle cores yet, so that it has to be asked for.
if [[ ${VRAMSCOPE_CI_SANITIZE:-0} != 1 ]]; then
  echo "sanitizers: skipped, VRAMSCOPE_CI_SANITIZE=1 runs them"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! echo 'int main() {}' | "${CXX:-c++}" -fsanitize=address,undefined -x c++ - -o "$folder/none" 2>"$folder/why" ||
  ! "$folder/none" 2>>"$folder/why"; then
  echo "sanitizers: skipped, a program that is built with them does not run: $(head -n 1 "$folder/why")"
  exit 0
fi
if ! ./vramscope test --sanitize; then
  echo "sanitizers: failed"
  exit 1
fi
echo "sanitizers: passed"
