"""A build with sanitizers finds the faults that planted_faults.cpp commits, and reports nothing if
there is none. Uses the sanitizer options of its environment, which `./vramscope test --sanitize`
sets.

    planted_faults_test.py PROGRAM address|thread
"""

import os
import subprocess
import sys

FAULTS = {
    "address": {
        "use_after_free": "ERROR: AddressSanitizer: heap-use-after-free",
        "beyond_the_end": "ERROR: AddressSanitizer: heap-buffer-overflow",
        "use_after_return": "ERROR: AddressSanitizer: stack-use-after-return",
        "beyond_the_size": "Assertion '__n < this->size()' failed",
        "leak": "ERROR: LeakSanitizer: detected memory leaks",
        "signed_overflow": "runtime error: signed integer overflow",
        "shift_too_far": "runtime error: shift exponent 40 is too large",
        "float_too_large": "runtime error: 1e+20 is outside the range",
    },
    "thread": {
        "race": "WARNING: ThreadSanitizer: data race",
        "use_after_free": "WARNING: ThreadSanitizer: heap-use-after-free",
    },
}
# Defaults for running ctest directly. They equal the options that ./vramscope sets.
OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def run(program, fault):
    # Makes sanitizers write their reports to stderr, even if the caller has redirected them to
    # files.
    environment = {**OPTIONS, **os.environ}
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
        environment[name] = ":".join(filter(None, (environment.get(name), "log_path=stderr")))
    done = subprocess.run(
        [program, fault], capture_output=True, text=True, timeout=120, env=environment, check=False
    )
    return done.returncode, done.stdout + done.stderr


def main():
    program, kind = sys.argv[1:]
    failures = 0
    for fault, report in {"nothing": "", **FAULTS[kind]}.items():
        status, output = run(program, fault)
        good = report in output and (status != 0) == bool(report)
        print(f"{'ok' if good else 'FAILED'}: {fault}: status {status}, {report or 'no report'}")
        if not good:
            print(output)
            failures += 1
    print(f"{len(FAULTS[kind])} faults planted, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
