#!/usr/bin/env python3
"""Writes stubs for the functions of a library that are not written by hand.

    generate_stubs.py names/libcufft.so.11.txt cufft.o --assembler X.S --version-script X.map

Each stub passes the library's name and its own name to the core (emulated/core), which counts and
logs the call, sets the results to zero where they are known (names/outputs.txt), and returns the
library's "not supported" status, or success if names/succeeding.txt lists it. Names defined in the
given object files get no stub. The version script assigns every name to the version node that
programs were linked against.
"""

import argparse
import fnmatch
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "names"))
import read_names  # noqa: E402


def defined_in(objects):
    names = set()
    for path in objects:
        output = subprocess.run(
            ["nm", "--defined-only", "--extern-only", "--format=posix", path],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        names |= {line.split()[0] for line in output.splitlines() if len(line.split()) > 1}
    return names


# The status that each library returns for unsupported calls: "not supported", or a similar
# one.
REFUSALS = [
    ("libcudart.so.*", 801),
    ("libcuda.so.*", 801),
    ("libnvidia-ml.so.*", 3),
    ("libcublas*.so.*", 15),  # includes cuBLASLt
    ("libcudnn*.so.8", 9),
    ("libcudnn*.so.9", 3000),
    ("libcufft.so.*", 16),
    ("libcusolver*.so.*", 9),
    ("libcusparse*.so.*", 10),
    ("libcurand.so.*", 204),  # architecture mismatch
    ("libnccl.so.*", 5),  # invalid usage
    ("libnvrtc.so.*", 11),  # internal error
    ("libnvJitLink.so.*", 6),  # internal error
    ("libcufile.so.*", 5007),  # platform not supported
    ("libcupti.so.*", 27),
]
REGISTERS = 6  # parameters passed in registers


def answer_of(soname, name, succeeding):
    """Returns the status of the stub: 0 for a listed function, otherwise the status of its library
    in REFUSALS."""
    if any(
        fnmatch.fnmatchcase(soname, library) and fnmatch.fnmatchcase(name, function)
        for library, function in succeeding
    ):
        return 0
    for library, status in REFUSALS:
        if fnmatch.fnmatchcase(soname, library):
            return status
    raise SystemExit(
        f"{soname}: no status for unsupported calls, and {name} is not in names/succeeding.txt"
    )


def read_succeeding(path):
    """Returns the list of functions that succeed as [(library, function)]. The reason in each line
    is left out."""
    patterns = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split(None, 2)
        if len(fields) < 3:
            raise SystemExit(f"{path}:{number}: expected a library, a function and a reason")
        patterns.append((fields[0], fields[1]))
    return patterns


def read_outputs(path):
    """Returns {function: the size in bytes of the result to which each of its first parameters
    points, or 0}."""
    outputs = {}
    for line in path.read_text().splitlines():
        name, *results = line.split()
        sizes = [0] * REGISTERS
        for result in results:
            index, size = result.split(":")
            sizes[int(index)] = int(size)
        outputs[name] = sizes
    return outputs


def assembler(soname, functions, data, succeeding, outputs):
    """Returns the code of all functions. Each passes the address of its Stub (core/assumptions.h)
    as the seventh argument, after its own arguments."""
    lines = ['.section .note.GNU-stack,"",@progbits', ".text"]
    for index, name in enumerate(functions):
        lines += [
            f".globl {name}",
            f".type {name},@function",
            f"{name}:",
            f"  lea .Lstub{index}(%rip),%rax",
            "  push %rax",
            "  call vramscope_emulated_unknown@PLT",
            "  add $8,%rsp",
            "  ret",
            f".size {name},.-{name}",
        ]
    lines += [".section .rodata", f'.Lsoname: .asciz "{soname}"']
    lines += [f'.Lname{index}: .asciz "{name}"' for index, name in enumerate(functions)]
    lines += ['.section .data.rel.ro,"aw",@progbits', ".balign 8"]
    for index, name in enumerate(functions):
        sizes = ",".join(str(size) for size in outputs.get(name, [0] * REGISTERS))
        lines += [
            f".Lstub{index}: .quad .Lsoname, .Lname{index}, {answer_of(soname, name, succeeding)}",
            f"  .byte {sizes},0,0",
        ]
    lines.append(".bss")
    for name, size in data:
        lines += [
            ".balign 16",
            f".globl {name}",
            f".type {name},@object",
            f".size {name},{size}",
            f"{name}: .zero {size}",
        ]
    return "\n".join(lines) + "\n"


def version_script(node, names, extra):
    """Returns the version script. `extra` are hand-written names that are not in the list; they get
    the library's version node."""
    by_node = {}
    for name, (own, _) in names.items():
        by_node.setdefault(own, []).append(name)
    by_node.setdefault(node, []).extend(extra)
    if set(by_node) <= {""}:
        return (
            "{ global:\n"
            + "".join(f"  {n};\n" for n in sorted(by_node.get("", [])))
            + "local: *; };\n"
        )
    # A version script cannot mix anonymous and named nodes, so names without a version get the
    # library's node. The linker accepts it for references without a version.
    if "" in by_node:
        by_node.setdefault(node or sorted(filter(None, by_node))[0], []).extend(by_node.pop(""))
    parts = []
    for index, own in enumerate(sorted(by_node, key=lambda n: (n != node, n))):
        local = " local: *;" if index == 0 else ""
        parts.append(
            f"{own} {{ global:\n"
            + "".join(f"  {n};\n" for n in sorted(set(by_node[own])))
            + f"{local} }};\n"
        )
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names")
    parser.add_argument("object", nargs="*")
    parser.add_argument("--assembler", required=True)
    parser.add_argument("--version-script", required=True)
    parser.add_argument(
        "--keep-prefix",
        default="vramscope_emulated_",
        help="hand-written names with this prefix are exported, too",
    )
    arguments = parser.parse_args()
    soname, node, _, names = read_names.read_list(pathlib.Path(arguments.names))
    written = defined_in(arguments.object)
    missing = sorted(set(names) - written)
    functions = [name for name in missing if not names[name][1]]
    data = [(name, names[name][1]) for name in missing if names[name][1]]
    extra = sorted(n for n in written if n.startswith(arguments.keep_prefix))
    folder = pathlib.Path(__file__).resolve().parent / "names"
    pathlib.Path(arguments.assembler).write_text(
        assembler(
            soname,
            functions,
            data,
            read_succeeding(folder / "succeeding.txt"),
            read_outputs(folder / "outputs.txt"),
        )
    )
    pathlib.Path(arguments.version_script).write_text(version_script(node or "", names, extra))


if __name__ == "__main__":
    main()
