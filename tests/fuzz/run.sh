#!/usr/bin/env bash
# tests/fuzz/run.sh SECONDS [TARGET...]: builds the fuzzers with clang in build/fuzz and runs each for SECONDS. New
# inputs stay in build/fuzz/corpus. The input of a crash is written next to it, and the exit status is then 1.
#
#   $VRAMSCOPE_FUZZ_PRESET  preset in CMakePresets.json: fuzz, or fuzz-quick (in build/fuzz-quick)
#   $VRAMSCOPE_FUZZ_JOBS    number of fuzzers that run at once
#   $VRAMSCOPE_FUZZ_ALL     total seconds for all of them, instead of SECONDS each
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
preset=${VRAMSCOPE_FUZZ_PRESET:-fuzz}
jobs=${VRAMSCOPE_FUZZ_JOBS:-1}
build=${VRAMSCOPE_FUZZ_BUILD:-$root/build/$preset}
began=$SECONDS
mkdir -p "$(dirname "$build")"
cmake -S "$root" --preset "$preset" -B "$build" > "$build.log" 2>&1 || { cat "$build.log" >&2; exit 4; }
cmake --build "$build" --target vramscope_fuzzer || exit 4
fuzzer=$build/bin/vramscope_fuzzer
targets=("$@")
((${#targets[@]} > 0)) || mapfile -t targets < <("$fuzzer")
((${#targets[@]} > 0)) || exit 4
echo "the fuzzers: built in $((SECONDS - began)) s"
if [[ -n ${VRAMSCOPE_FUZZ_ALL:-} ]]; then
  seconds=$((VRAMSCOPE_FUZZ_ALL * jobs / ${#targets[@]}))
  ((seconds > 0)) || seconds=1
fi
# UBSan's findings end the run, as ASan's do.
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}

# The limits for a single input are 2 GiB and 20 s. libFuzzer's preference for rare features is off, because counting
# features took nine tenths of the time for programs with many of them.
fuzz() {
  local name=${1#fuzz_} status=0
  local log=$build/$name.log
  mkdir -p "$build/corpus/$name"
  (cd "$build" && VRAMSCOPE_FUZZ_TARGET=$name "$fuzzer" -max_total_time="$seconds" -entropic=0 -rss_limit_mb=2048 -timeout=20 \
    -max_len=16384 -print_final_stats=1 -artifact_prefix="$name-" "corpus/$name" "$root/tests/fuzz/corpus/$name") \
    > "$log" 2>&1 || status=$?
  if ((status != 0)); then
    tail -n 100 "$log"
    echo "fuzzing $name: FAILED with status $status, $log"
    return 1
  fi
  echo "fuzzing $name: $seconds s, $(sed -nE 's/^stat::number_of_executed_units: *//p' "$log") executions"
}

status=0
running=0
for target in "${targets[@]}"; do
  if ((running >= jobs)); then
    wait -n || status=1
    running=$((running - 1))
  fi
  fuzz "$target" &
  running=$((running + 1))
done
while ((running > 0)); do
  wait -n || status=1
  running=$((running - 1))
done
exit $status
