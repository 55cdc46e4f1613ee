#!/usr/bin/env python3
"""Writes outputs.txt, which lists the result parameters of libraries' functions, from the
libraries' headers.

    read_outputs.py INCLUDE... > outputs.txt

INCLUDE is the include folder of CUDA 13.0, and that of CUDA 12.9 for nvml.h.

A result is a non-const pointer parameter to a number or a handle. A function that is not emulated
sets its results to zero (../generate_stubs.py), so that a program that ignores the status does not
read stale memory. Each line has a function's name and PARAMETER:BYTES for each result among its
first six parameters. Functions whose parameters are not all in integer registers (structures,
floating point) or that take lists are left out. Text buffers are left out, too, because their
length is another parameter.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ["cuda_runtime_api.h", "cuda.h", "cupti.h", "nvml.h"]
DECLARED = re.compile(
    r"\b(?:cudaError_t|CUresult|CUptiResult|nvmlReturn_t)\s+((?:cu|nvml)\w+)\s*\(([^()]*)\)\s*;"
)
REGISTERS = 6


def preprocessed(include, header):
    command = ["gcc", "-E", "-P", "-xc", "-I", include, "-"]
    return subprocess.run(
        command, input=f'#include "{header}"\n', capture_output=True, text=True, check=True
    ).stdout


def parameters(text):
    """Returns the types of the parameters."""
    found = []
    for parameter in text.split(","):
        parameter = re.sub(r"\s+", " ", parameter.strip())
        if parameter in ("", "void"):
            continue
        match = re.fullmatch(r"(.*?[\s*])(\w+)(\[\w*\])?", parameter)
        kind = (
            match.group(1)
            if match and match.group(1).strip() not in ("struct", "enum", "const", "unsigned")
            else parameter
        ).strip()
        found.append(kind)
    return found


def sizes(include, header, types):
    """Returns {type: its size, or 0 if the type is neither a number nor a pointer}."""
    lines = [f'#include "{header}"', "#include <stdio.h>", "int main(void) {"]
    for index, kind in enumerate(types):
        lines.append(f'printf("{index} %zu\\n", sizeof({kind}));')
    source = "\n".join(lines + ["}"])
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "sizes"
        for _ in range(len(types)):
            done = subprocess.run(
                ["gcc", "-xc", "-I", include, "-o", program, "-"],
                input=source,
                capture_output=True,
                text=True,
            )
            if done.returncode == 0:
                break
            wrong = {int(line) for line in re.findall(r"<stdin>:(\d+):\d+: error", done.stderr)}
            source = "\n".join(
                "" if at in wrong else line for at, line in enumerate(source.split("\n"), 1)
            )
        output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {
        types[int(index)]: int(size)
        for index, size in (line.split() for line in output.splitlines())
    }


def main():
    results = {}
    for include in sys.argv[1:]:
        for header in HEADERS:
            if not (pathlib.Path(include) / header).exists():
                continue
            declared = {
                name: parameters(text)
                for name, text in DECLARED.findall(preprocessed(include, header))
            }
            kinds = sorted({kind for all_kinds in declared.values() for kind in all_kinds})
            pointees = sorted(
                {kind[:-1].strip() for kind in kinds if kind.endswith("*") and "const" not in kind}
            )
            size = sizes(include, header, sorted(set(kinds) | set(pointees)))
            for name, all_kinds in declared.items():
                if (
                    name.endswith("Attributes")
                    or "Batch" in name
                    or any(
                        "float" == k or "double" == k or not 0 < size.get(k, 0) <= 8
                        for k in all_kinds
                    )
                ):
                    continue
                outputs = []
                for index, kind in enumerate(all_kinds[:REGISTERS]):
                    pointee = (
                        kind[:-1].strip() if kind.endswith("*") and "const" not in kind else ""
                    )
                    if pointee not in ("", "void", "char") and size.get(pointee) in (1, 2, 4, 8):
                        outputs.append(f"{index}:{size[pointee]}")
                if outputs:
                    results.setdefault(name, outputs)
    for name in sorted(results):
        print(name, *results[name])


if __name__ == "__main__":
    main()
