#!/usr/bin/env python3
"""Writes the functions of a library that nobody wrote by hand.

    generate_stubs.py names/libcufft.so.11.txt cufft.o --assembler X.S --version-script X.map

Each tells the core (emulated/core) the library's and its own name, which counts it and says it
once, and returns 0, the success of all these libraries. Names that the given object files define
are left to them. The version script gives every name the node that programs were linked against.
"""
import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "names"))
import read_names  # noqa: E402


def defined_in(objects):
    names = set()
    for path in objects:
        output = subprocess.run(["nm", "--defined-only", "--extern-only", "--format=posix", path],
                                capture_output=True, text=True, check=True).stdout
        names |= {line.split()[0] for line in output.splitlines() if len(line.split()) > 1}
    return names


def assembler(soname, functions, data):
    lines = ['.section .note.GNU-stack,"",@progbits', ".text"]
    for index, name in enumerate(functions):
        lines += [f".globl {name}", f".type {name},@function", f"{name}:",
                  "  lea .Lsoname(%rip),%rdi", f"  lea .Lname{index}(%rip),%rsi",
                  "  jmp vramscope_emulated_unknown@PLT", f".size {name},.-{name}"]
    lines += [".section .rodata", f'.Lsoname: .asciz "{soname}"']
    lines += [f'.Lname{index}: .asciz "{name}"' for index, name in enumerate(functions)]
    lines.append(".bss")
    for name, size in data:
        lines += [".balign 16", f".globl {name}", f".type {name},@object", f".size {name},{size}",
                  f"{name}: .zero {size}"]
    return "\n".join(lines) + "\n"


def version_script(node, names, extra):
    """Hand-written names that no list has (extra) take the library's node."""
    by_node = {}
    for name, (own, _) in names.items():
        by_node.setdefault(own, []).append(name)
    by_node.setdefault(node, []).extend(extra)
    if set(by_node) <= {""}:
        return "{ global:\n" + "".join(f"  {n};\n" for n in sorted(by_node.get("", []))) + "local: *; };\n"
    # A node cannot be anonymous beside named ones: names without a version take the library's node,
    # which satisfies a reference that asks for none.
    if "" in by_node:
        by_node.setdefault(node or sorted(filter(None, by_node))[0], []).extend(by_node.pop(""))
    parts = []
    for index, own in enumerate(sorted(by_node, key=lambda n: (n != node, n))):
        local = " local: *;" if index == 0 else ""
        parts.append(f"{own} {{ global:\n" + "".join(f"  {n};\n" for n in sorted(set(by_node[own])))
                     + f"{local} }};\n")
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names")
    parser.add_argument("object", nargs="*")
    parser.add_argument("--assembler", required=True)
    parser.add_argument("--version-script", required=True)
    parser.add_argument("--keep-prefix", default="vramscope_emulated_",
                        help="hand-written names with this prefix are exported, too")
    arguments = parser.parse_args()
    soname, node, _, names = read_names.read_list(pathlib.Path(arguments.names))
    written = defined_in(arguments.object)
    missing = sorted(set(names) - written)
    functions = [name for name in missing if not names[name][1]]
    data = [(name, names[name][1]) for name in missing if names[name][1]]
    extra = sorted(n for n in written if n.startswith(arguments.keep_prefix))
    pathlib.Path(arguments.assembler).write_text(assembler(soname, functions, data))
    pathlib.Path(arguments.version_script).write_text(version_script(node or "", names, extra))


if __name__ == "__main__":
    main()
