#!/usr/bin/env bash
# tests/fuzz/run.sh SECONDS [TARGET...]: builds the fuzzers with clang in build/fuzz and runs each for
# so long. New inputs stay in build/fuzz/corpus; a crash is written beside it and ends with status 1.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
build=${VRAMSCOPE_FUZZ_BUILD:-$root/build/fuzz}
targets=("$@")
((${#targets[@]} > 0)) || targets=(fuzz_trace fuzz_batch fuzz_activities fuzz_pickle fuzz_snapshot_json fuzz_kineto fuzz_marks fuzz_history_tail
  fuzz_activity_tail fuzz_histogram fuzz_activity_chunks fuzz_program_folder fuzz_folder_stream fuzz_model_config fuzz_run_json
  fuzz_run_bytes fuzz_settings fuzz_requests fuzz_worker fuzz_outline fuzz_typed fuzz_experiments fuzz_assembly fuzz_device_code fuzz_device)
cmake -S "$root" --preset fuzz -B "$build" > "$build.log" 2>&1 || { cat "$build.log" >&2; exit 4; }
cmake --build "$build" --target "${targets[@]}"
# What UBSan finds ends the run, as what ASan finds does.
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
status=0
for target in "${targets[@]}"; do
  name=${target#fuzz_}
  mkdir -p "$build/corpus/$name"
  echo "== $target for $seconds s"
  # A leak check at exit would count libraries' caches; a single input is held to 2 GiB and 10 s.
  # Rare features are not preferred: to count them took nine tenths of the time where a program has many.
  (cd "$build" && "./bin/$target" -max_total_time="$seconds" -entropic=0 -rss_limit_mb=2048 -timeout=10 -max_len=16384 \
    -print_final_stats=1 "corpus/$name" "$root/tests/fuzz/corpus/$name") || status=1
done
exit $status
