#!/usr/bin/env bash
# Tests a copy of the launcher. Fakes replace all commands that install, download or build.
set -uo pipefail
launcher=$1
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
  local what=$1
  shift
  if "$@"; then
    echo "ok: $what"
  else
    echo "FAILED: $what"
    failures=$((failures + 1))
  fi
}
has() { grep -qF -- "$2" "$1"; }
lacks() { ! has "$@"; }

check "the script parses" bash -n "$launcher"
if command -v shellcheck >/dev/null; then
  check "shellcheck has nothing to say" shellcheck "$launcher"
else
  echo "skipped: shellcheck is not installed"
fi

# The project has one source file and a torch that looks complete. The fakes are at the front of PATH.
project=$work/a\ project
mkdir -p "$project"/{app,resources,tests} "$work/fakes"
cp "$launcher" "$project/vramscope"
cp "$(dirname "$launcher")/CMakeLists.txt" "$project/CMakeLists.txt"
mapfile -t added < <(sed -nE 's/^[[:space:]]*add_subdirectory\((.*)\)/\1/p' "$project/CMakeLists.txt")
check "CMakeLists.txt adds folders" test "${#added[@]}" -ge 5
for folder in "${added[@]}"; do mkdir -p "$project/$folder"; done
echo 'int main() {}' >"$project/app/main.cpp"
touch "$project/CMakePresets.json"
torch=$work/torch
for file in torch/include/torch/csrc/api/include/torch/torch.h torch/include/c10/cuda/CUDAStream.h \
  torch/lib/libtorch_cpu.so torch/lib/libc10.so torch/lib/libtorch_cuda.so torch/lib/libtorch_cuda_linalg.so \
  torch/lib/libtorch_nvshmem.so torch/__init__.py nvidia/cu13/include/cuda_runtime_api.h \
  nvidia/cu13/include/crt/host_config.h nvidia/cu13/include/nv/target nvidia/cu13/include/cupti.h \
  nvidia/cu13/lib/libcudart.so.13 nvidia/cu13/lib/libcupti.so.13; do
  mkdir -p "$torch/$(dirname "$file")"
  touch "$torch/$file"
done
cat >"$work/fakes/cmake" <<'FAKE'
#!/usr/bin/env bash
echo "cmake $*" >>"$CALLS"
if [[ ${FAIL_BUILD:-0} == 1 && $1 == --build ]]; then echo "main.cpp:1: error: no such thing"; exit 1; fi
if [[ ${SLOW_BUILD:-0} == 1 && $1 == --build ]]; then
  sleep 300 &  # ninja has compilers as children, too
  echo "$! $$" >"$CALLS.pids"
  wait
fi
mkdir -p build/release/bin
touch build/release/build.ninja
for argument in "$@"; do
  case $argument in
    -DVRAMSCOPE_TORCH_ROOT=*) echo "VRAMSCOPE_TORCH_ROOT:PATH=${argument#*=}" >build/release/CMakeCache.txt ;;
    -DVRAMSCOPE_TEST_PYTHONPATH:STRING=*) echo "VRAMSCOPE_TEST_PYTHONPATH:STRING=${argument#*=}" >>build/release/CMakeCache.txt ;;
    -DVRAMSCOPE_WERROR=*) echo "VRAMSCOPE_WERROR:BOOL=${argument#*=}" >>build/release/CMakeCache.txt ;;
    -DVRAMSCOPE_TESTS=*) echo "VRAMSCOPE_TESTS:BOOL=${argument#*=}" >>build/release/CMakeCache.txt ;;
  esac
done
cat >build/release/bin/vramscope <<'PROGRAM'
#!/usr/bin/env bash
printf 'program'; printf ' <%s>' "$@"; echo
exit "${PROGRAM_STATUS:-0}"
PROGRAM
cp build/release/bin/vramscope build/release/bin/vramscope-worker
chmod +x build/release/bin/*
FAKE
cat >"$work/fakes/ctest" <<'FAKE'
#!/usr/bin/env bash
echo "ctest $*" >>"$CALLS"
echo "100% tests passed, 0 tests failed out of 3"
exit "${CTEST_STATUS:-0}"
FAKE
cat >"$work/fakes/xvfb-run" <<'FAKE'
#!/usr/bin/env bash
while [[ $1 == -* ]]; do if [[ $1 == -s ]]; then shift; fi; shift; done
exec "$@"
FAKE
for tool in apt-get sudo; do
  printf '#!/usr/bin/env bash\necho "%s $*" >>"$CALLS"\nexit 1\n' "$tool" >"$work/fakes/$tool"
done
# $INSTALLED lists the packages that count as installed, one per line.
cat >"$work/fakes/dpkg-query" <<'FAKE'
#!/usr/bin/env bash
while read -r package; do echo "$package installed"; done <"$INSTALLED"
FAKE
chmod +x "$work/fakes/"*

export CALLS=$work/calls INSTALLED=$work/installed VRAMSCOPE_TORCH_ROOT=$torch VRAMSCOPE_GPU=0
export VRAMSCOPE_OS_RELEASE=$work/os-release
unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM VRAMSCOPE_SKIP_PACKAGES VRAMSCOPE_WERROR
system() { printf '%s\n' "$@" >"$VRAMSCOPE_OS_RELEASE"; }
system ID=debian VERSION_CODENAME=bookworm
launch() {
  : >"$CALLS"
  PATH=$work/fakes:$PATH "$project/vramscope" "$@" >"$work/out" 2>"$work/err"
}
"$launcher" --help-setup | sed -n '/apt-get/,/LibTorch/p' | sed '1d;$d' >"$work/packages"
grep -v '"test"' "$work/packages" | tr -s ' ' '\n' | sed '/^$/d' >"$INSTALLED"
check "--help-setup lists the packages" has "$INSTALLED" qt6-base-dev
check "and those of the tests apart from them" has "$work/packages" '"test" alone: libgtest-dev'
check "which the program does without" lacks "$INSTALLED" libgtest-dev

launch plan --json "two words"
check "a first start succeeds" test $? -eq 0
check "it passes the arguments on, and nothing else is on stdout" \
  test "$(cat "$work/out")" = "program <plan> <--json> <two words>"
check "it configures" has "$CALLS" "cmake --preset release"
check "without the tests" has "$CALLS" "-DVRAMSCOPE_TESTS=OFF"
check "it builds the two programs" has "$CALLS" "--target vramscope vramscope-worker"
check "it does not touch packages that are there" lacks "$CALLS" apt-get

launch info x.trace
check "a second start runs nothing but the program" test ! -s "$CALLS"

launch
check "without a display the default plan runs" test "$(cat "$work/out")" = "program <plan>"
DISPLAY=:7 launch
check "with a display the window opens" test "$(cat "$work/out")" = "program <>"

PROGRAM_STATUS=1 launch check
check "the program's exit status comes back" test $? -eq 1

sleep 0.02
echo '// changed' >>"$project/app/main.cpp"
launch plan
check "a changed source is built" has "$CALLS" "cmake --build"
check "without configuring again" lacks "$CALLS" "cmake --preset"
for turn in configures "stays as"; do
  sleep 0.02
  echo '// changed' >>"$project/app/main.cpp"
  VRAMSCOPE_WERROR=1 launch plan
  if [[ $turn == configures ]]; then
    check "warnings taken for errors are configured" has "$CALLS" "-DVRAMSCOPE_WERROR=ON"
  else
    check "once" lacks "$CALLS" "cmake --preset"
  fi
done
for folder in "${added[@]}" resources; do
  [[ $folder == tests ]] && continue
  sleep 0.02
  echo '// new' >"$project/$folder/new.cpp"
  launch plan
  check "a new source in $folder/ is built" has "$CALLS" "cmake --build"
  sleep 0.02
  echo '// changed' >>"$project/$folder/new.cpp"
  launch plan
  check "a changed source in $folder/ is built" has "$CALLS" "cmake --build"
done
sleep 0.02
rm "$project/app/main.cpp"
launch plan
check "a removed source is noticed" has "$CALLS" "cmake --build"

sleep 0.02
touch "$project/tests/new_test.cpp"
launch plan
check "tests do not delay the program" test ! -s "$CALLS"

mkdir -p "$project/packaging"
echo 'import sys; print("packed", *sys.argv[1:])' >"$project/packaging/package.py"
launch package wheel
check "package builds what it packs" has "$CALLS" "--target vramscope vramscope-worker vramscope_start vramscope_descriptions"
check "and packs it into dist/" test "$(cat "$work/out")" = "packed $project/build/release $project/dist wheel"
launch package wheel
check "a second time it builds nothing" test ! -s "$CALLS"

touch "$project/app/other.cpp"
FAIL_BUILD=1 launch plan
check "a failed build ends with 4" test $? -eq 4
check "and shows the compiler's words" has "$work/err" "error: no such thing"
launch plan
check "and is tried again" has "$CALLS" "cmake --build"

# Ctrl-C interrupts only the launcher, because the processes that the launcher started are in another group.
: >"$CALLS"
rm -f "$CALLS.pids"
touch "$project/app/other.cpp"
SLOW_BUILD=1 PATH=$work/fakes:$PATH env --default-signal=INT setsid \
  "$project/vramscope" plan >"$work/out" 2>"$work/err" &
launched=$!
for ((turn = 0; turn < 300; ++turn)); do
  [[ -s $CALLS.pids ]] && break
  sleep 0.1
done
check "a build can be interrupted" test -s "$CALLS.pids"
check "while it goes on, the lock is held" test "$(flock -n "$project/.deps/lock" echo free)" = ""
kill -INT "$launched"
wait "$launched"
check "an interrupted build ends with 130" test $? -eq 130
check "and says so" has "$work/err" "interrupted"
ended() { local pid; for pid in $(<"$CALLS.pids"); do ! kill -0 "$pid" 2>/dev/null || return 1; done; }
check "the build and what it had started are gone" ended
check "nobody holds the lock" flock -n "$project/.deps/lock" true
launch plan
check "and the next start builds" has "$CALLS" "cmake --build"

system ID=fedora 'PRETTY_NAME="Fedora Linux 42"'
touch "$project/app/other.cpp"
launch plan
check "another distribution ends with 4" test $? -eq 4
check "is called by its name" has "$work/err" "This is Fedora Linux 42"
check "is told what is needed" has "$work/err" "Qt 6.4 or newer"
check "and probable names" has "$work/err" "dnf install gcc-c++"
check "and how to go on" has "$work/err" "VRAMSCOPE_SKIP_PACKAGES=1 ./vramscope"
check "nothing is installed there" lacks "$CALLS" apt-get
system ID=manjaro ID_LIKE=arch
launch plan
check "a relative of Arch Linux is told its names" has "$work/err" "pacman -S"
system ID=ubuntu ID_LIKE=debian VERSION_CODENAME=jammy 'PRETTY_NAME="Ubuntu 22.04.5 LTS"'
sed -i '/^mold$/d' "$INSTALLED"
launch plan
check "an Ubuntu that is too old is told so before anything is installed" has "$work/err" \
  "Ubuntu 22.04.5 LTS is too old: it has no Qt 6.4"
check "and apt-get is left alone" lacks "$CALLS" apt-get
echo mold >>"$INSTALLED"
system ID=debian VERSION_CODENAME=bookworm

launch test
if ((EUID == 0)); then
  check "test installs what tests need" has "$CALLS" "--no-install-recommends libgtest-dev"
fi
printf '%s\n' libgtest-dev libgmock-dev libbenchmark-dev xvfb xauth clang-format >>"$INSTALLED"
launch test -R something
check "test succeeds when ctest does" test $? -eq 0
check "test configures the tests" has "$CALLS" "-DVRAMSCOPE_TESTS=ON"
check "test builds everything" has "$CALLS" "--target all"
check "arguments of test go to ctest" has "$CALLS" "-R something"
check "ctest's closing line is seen" has "$work/out" "0 tests failed out of 3"
CTEST_STATUS=8 launch test --sanitize
check "a report's status stays" test $? -eq 8
check "test --sanitize configures the sanitizers" has "$CALLS" "cmake --preset asan"
check "and builds a few programs with them" has "$CALLS" "--target planted_faults trace_builder_test"
check "which ctest runs" has "$CALLS" "-R ^(sanitized(_thread)?\\.)?(planted_faults|trace_builder_test|"
launch test --sanitize=thread some_test
check "another sanitizer has a build of its own" has "$CALLS" "cmake --preset tsan"
check "of the programs that were named" has "$CALLS" "--target some_test"
CTEST_STATUS=8 launch test --sanitize all
check "all of them are run by ctest, whose status stays" test $? -eq 8
check "in the sanitizers' build" has "$CALLS" "ctest --test-dir $project/build/asan"
CTEST_STATUS=8 launch test
check "test fails when ctest does" test $? -eq 8
touch "$project/app/other.cpp"
launch plan
check "the program alone does not configure the tests away" lacks "$CALLS" "cmake --preset"

# A package is missing, and the fakes refuse all commands that need root.
sed -i '/^mold$/d' "$INSTALLED"
touch "$project/app/other.cpp"
if ((EUID == 0)); then
  launch plan
  check "missing packages are installed by root" has "$CALLS" "apt-get -y"
  check "and only these" has "$CALLS" "--no-install-recommends mold"
  check "a failed install ends with 4" has "$work/err" "could not be installed: mold"
  chmod -R a+rwX "$work" && chmod a+x "$work"
  if command -v setpriv >/dev/null; then
    : >"$CALLS"
    chmod a+rw "$CALLS"
    PATH=$work/fakes:$PATH setpriv --reuid=65534 --regid=65534 --clear-groups \
      "$project/vramscope" plan >"$work/out" 2>"$work/err" </dev/null
    check "without root it ends with 4" test $? -eq 4
    check "and prints the line to run" has "$work/err" \
      "su -c 'apt-get update && apt-get install -y --no-install-recommends mold'"
  fi
else
  launch plan </dev/null
  check "without root it ends with 4" test $? -eq 4
  check "and prints the line to run" has "$work/err" \
    "su -c 'apt-get update && apt-get install -y --no-install-recommends mold'"
fi
VRAMSCOPE_SKIP_PACKAGES=1 launch plan
check "VRAMSCOPE_SKIP_PACKAGES leaves packages alone" test $? -eq 0

echo "$failures failed"
((failures == 0))
