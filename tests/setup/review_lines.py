"""Checks that tests/review_lines.md lists every line of the review, and that the tests that it
names exist. Also checks two lines that only concern the source: it must not use headers that
protobuf 22 lacks, nor the library spdlog.

    python3 tests/setup/review_lines.py SOURCE
"""

import os
import re
import sys

LINES = [
    letter + str(number)
    for letter, most in (("A", 7), ("B", 13), ("C", 21), ("F", 8), ("G", 5), ("H", 7))
    for number in range(1, most + 1)
] + [
    "audit_tls",
    "ray_init",
    "vendored_cudart",
    "ipc",
    "mask_0d",
    "packed_lengths",
    "linear_assignment",
    "peer",
    "fabric_info",
    "nvidia_smi",
    "exit_loses_assumptions",
    "vllm_sleep",
    "two_processes_one_card",
    "engine_backward",
    "window_empty_end_message",
    "window_fillstack",
    "window_hang_segment_map",
    "bomb_empty_strings",
    "deep_ops_170_bytes",
    "expandable_plan_replay_differs",
    "what_if_own_settings_differ",
    "escape_kernels",
    "programs",
]


def texts(root, folders, endings):
    for folder in folders:
        for path, inside, names in os.walk(os.path.join(root, folder)):
            inside[:] = [name for name in inside if not name.startswith(".")]
            for name in names:
                if name.endswith(endings):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        yield os.path.join(path, name), file.read()


def tests_of(root):
    found = set()
    for _, text in texts(root, ["tests"], (".cpp",)):
        found.update(
            "%s.%s" % names
            for names in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", text, re.M)
        )
    for _, text in texts(root, ["tests"], (".py",)):
        found.update(re.findall(r"^    def (test_\w+)\(self", text, re.M))
    for _, text in texts(root, ["tests"], ("CMakeLists.txt",)):
        found.update(re.findall(r"add_test\(NAME ([\w.]+)", text))
    return found


def problems(root):
    found = tests_of(root)
    with open(os.path.join(root, "tests", "review_lines.md"), encoding="utf-8") as file:
        rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in file
            if line.startswith("| ")
        ][1:]
    held = [line for row in rows for line in row[0].split(", ")]
    for line in LINES:
        if held.count(line) != 1:
            yield "line %s stands %d times in the table" % (line, held.count(line))
    for row in rows:
        names = re.findall(r"`([^`]+)`", row[2])
        if not names and row[2] != "none":
            yield "line %s names no test" % row[0]
        for name in names:
            if name not in found:
                yield "line %s: there is no test %s" % (row[0], name)
    for path, text in texts(
        root, ["app", "cupti", "emulated", "nvml", "profiler", "trainer", "ui"], (".cpp", ".h")
    ):
        before, included, _ = text.partition("google/protobuf/stubs/logging.h")
        if included and not before.rstrip("#include <\n").endswith(
            "#if GOOGLE_PROTOBUF_VERSION < 4022000"
        ):
            yield "C6: %s includes a header that protobuf 22 and later lack" % path
    with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
        if "spdlog" in file.read():
            yield "C16: CMakeLists.txt asks for spdlog"


if __name__ == "__main__":
    found = list(problems(sys.argv[1]))
    print("\n".join(found) or "tests/review_lines.md: as the tree has them")
    sys.exit(1 if found else 0)
