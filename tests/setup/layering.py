"""Checks that folders include only the folders that the design allows (see each folder's
README.md).

    python3 layering.py ROOT        prints each violation as file:line; exit status 1 if any
"""

import pathlib
import re
import sys

# For each folder, the folders whose headers it may include. tests may include any; resources
# contains no code.
MAY_INCLUDE = {
    "proto": {"proto"},
    "resources": {"resources"},
    "profiler": {"profiler", "proto", "resources"},
    "nvml": {"nvml"},
    "cupti": {"cupti", "nvml", "profiler"},
    "emulated": {"emulated", "cupti", "nvml"},
    "trainer": {"trainer", "profiler", "nvml", "cupti", "emulated", "proto", "resources"},
    "ui": {"ui", "profiler", "proto", "resources"},
    "app": {"app", "ui", "trainer", "profiler", "cupti", "nvml", "proto", "resources"},
}
# For pairs of folders, the only headers of the second folder that the first may include.
ONLY = {
    ("emulated", "cupti"): {"cupti/records.h"},
    ("emulated", "nvml"): {"nvml/structs.h"},
    ("trainer", "emulated"): {"emulated/core/activity.h"},
    ("cupti", "profiler"): {
        "profiler/trace/activities.h",
        "profiler/trace/device_counters.h",
        "profiler/trace/python_files.h",
        "profiler/program/activity_chunk.h",
        "profiler/program/activity_tail.h",
        "profiler/program/history_tail.h",
    },
}
# For each folder of profiler/, the other folders of profiler/ that it may include
# (profiler/README.md).
PROFILER = {
    "base": set(),
    "run": {"base"},
    "trace": {"base", "run"},
    "allocator": {"base", "run", "trace"},
    "analysis": {"base", "run", "trace", "allocator"},
    "query": {"base", "run", "trace", "analysis"},
    "recording": {"base", "run", "trace", "allocator"},
    "inference": {"base", "run", "trace", "allocator", "recording"},
    "importers": {"base", "run", "trace", "allocator", "recording", "inference"},
    "program": {"base", "run", "trace", "allocator", "recording", "inference", "importers"},
    "setup": {"base", "run", "trace", "program"},
    "replay": {"base", "run", "trace", "allocator", "analysis"},
    "explain": {"base", "run", "trace", "allocator", "analysis", "replay"},
    "exporters": {"base", "run", "trace", "allocator", "analysis", "query", "replay", "explain"},
    "estimate": {"base", "run", "trace", "allocator", "analysis"},
    "fit": {"base", "run", "trace", "analysis"},
    "reproduce": {
        "base",
        "run",
        "trace",
        "allocator",
        "analysis",
        "explain",
        "exporters",
        "estimate",
    },
}
TORCH = re.compile(r"(torch|ATen|c10|caffe2)/|cuda|cupti")
QT = re.compile(r"Q[A-Z]\w*$|Qt\w*/|q[a-z]+\.h$")
IMGUI = re.compile(r"imgui")
ABSL_TABLES = re.compile(r"absl/container/(flat|node)_hash_|absl/container/internal/")
# In ui/, only ui/jobs may run work outside the UI thread. There are two exceptions: Crew
# distributes the drawing of a frame over threads, and Assembly builds a trace from the frames of a
# run.
THREADS = re.compile(r"\b(QThreadPool|QtConcurrent|QFuture\w*|std::j?thread|std::async)\b")
THREADS_IN = re.compile(r"ui/(jobs/|timeline/model/crew\.|worker/assembly\.)")
# Headers with templates for protobuf messages. Only .cpp files may include them or protobuf's own
# headers.
PROTOBUF_HEADERS = {"profiler/run/arena_message.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


class Checker:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.violations = []
        self._uses_torch = {}

    def files(self):
        for folder in MAY_INCLUDE:
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in (".h", ".cpp") and path.is_file():
                    yield folder, path

    def part(self, path):
        return path.relative_to(self.root).parts[1]

    def resolve(self, path, name):
        for candidate in (self.root / name, path.parent / name):
            if candidate.is_file():
                return candidate.resolve()
        return None

    def uses_torch(self, path, seen=frozenset()):
        """Returns whether a file includes headers of LibTorch, directly or through headers of the
        project."""
        path = path.resolve()
        if path in self._uses_torch:
            return self._uses_torch[path]
        if path in seen:
            return False
        result = False
        for _, angle, name in includes(path):
            if angle and TORCH.match(name):
                result = True
                break
            target = None if angle else self.resolve(path, name)
            if target and self.uses_torch(target, seen | {path}):
                result = True
                break
        self._uses_torch[path] = result
        return result

    def check_file(self, folder, path):
        def report(number, text):
            self.violations.append(f"{path.relative_to(self.root)}:{number}: {text}")

        for number, angle, name in includes(path):
            top = name.split("/")[0]
            if not angle and "/" in name and top in (*MAY_INCLUDE, "tests"):
                if top not in MAY_INCLUDE[folder]:
                    report(number, f"{folder}/ may not include {top}/ ({name})")
                if name not in ONLY.get((folder, top), {name}):
                    report(number, f"{folder}/ may not include {name}")
                part, target = self.part(path), name.split("/")[1]
                if top == folder == "profiler" and part in PROFILER and target in PROFILER:
                    if target not in (part, "base") and target not in PROFILER[part]:
                        report(
                            number, f"profiler/{part}/ may not include profiler/{target}/ ({name})"
                        )
            if ABSL_TABLES.match(name):
                report(
                    number,
                    f"absl's tables don't stand a failed allocation: profiler/base/hash_map.h "
                    f"({name})",
                )
            if angle and TORCH.match(name) and folder != "trainer":
                report(number, f"LibTorch and CUDA headers belong in trainer/ ({name})")
            if angle and (QT.match(name) or IMGUI.match(name)) and folder not in ("ui", "app"):
                report(number, f"Qt and Dear ImGui belong in ui/ and app/ ({name})")
            if name.endswith(".pb.h") or name.startswith("google/protobuf/"):
                if name.startswith("google/protobuf/stubs/") and path.name != "parse_message.cpp":
                    report(number, f"not part of protobuf's interface since version 22 ({name})")
                if (
                    path.suffix == ".h"
                    and path.relative_to(self.root).as_posix() not in PROTOBUF_HEADERS
                ):
                    report(number, f"protobuf only in .cpp files ({name})")
                elif self.uses_torch(path):
                    report(number, f"protobuf and LibTorch cannot meet in one unit ({name})")

    def check_threads(self, path):
        name = path.relative_to(self.root).as_posix()
        if THREADS_IN.match(name):
            return
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := THREADS.search(line.split("//")[0]):
                self.violations.append(f"{name}:{number}: ask ui/jobs in place of {match.group(1)}")

    def run(self):
        count = 0
        for folder, path in self.files():
            count += 1
            self.check_file(folder, path)
            if folder == "ui":
                self.check_threads(path)
        return count


def main():
    checker = Checker(sys.argv[1])
    count = checker.run()
    for violation in checker.violations:
        print(violation)
    if count == 0:
        print("no sources found")
        return 1
    print(f"{count} files, {len(checker.violations)} violations")
    return 1 if checker.violations else 0


if __name__ == "__main__":
    sys.exit(main())
