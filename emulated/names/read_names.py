#!/usr/bin/env python3
"""Adds the names that a library exports to the list of its soname.

    read_names.py --source nvidia-cublas-cu12==12.1.3.1 nvidia/cublas/lib/libcublas.so.12 ...

A list (names/SONAME.txt) is the union over all versions that were read, so that a program built for
an older version finds its names, too. Lines beginning with '#' have the soname, the version node
and the sources. Each other line has one name: as 'name@NODE' if its version node is not the list's,
and followed by '?data SIZE' if it is not a function. A library's internal C++ names are left out.
"""

import argparse
import pathlib
import re
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
LOADERS_OWN = {"_init", "_fini", "__bss_start", "_edata", "_end"}
# Internal names that cuDNN and NVSHMEM export.
NOT_PUBLIC = re.compile(
    r".*(cask|xmma|dummy|_dbg)|CallbackFun|startingTime|userData|bwdDataAlgo|registerRuntime"
)


def parse_symbols(text):
    """Returns {name: (node, size of data or 0)} from the output of `nm -D -S --defined-only
    --with-symbol-versions`."""
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 3 or line.startswith("#"):
            continue
        kind, symbol = fields[-2], fields[-1]
        name, _, node = symbol.partition("@")
        node = node.lstrip("@")
        if (
            kind not in "TtWwiDBRVu"
            or not NAME.match(name)
            or name.startswith("_Z")
            or name in LOADERS_OWN
            or NOT_PUBLIC.match(name)
        ):
            continue
        size = int(fields[1], 16) if kind in "DBRVu" and len(fields) == 4 else 0
        found[name] = (node, size)
    return found


def read_list(path):
    """Returns (soname, node, sources, {name: (node, size)}) of a list, or empty values if the file
    does not exist."""
    soname, node, sources, names = path.name[: -len(".txt")], "", [], {}
    if not path.exists():
        return soname, None, sources, names
    for line in path.read_text().splitlines():
        if line.startswith("# node "):
            node = line[len("# node ") :]
        elif line.startswith("# source "):
            sources.append(line[len("# source ") :])
        elif line and not line.startswith("#"):
            symbol, _, data = line.partition(" ?data ")
            name, at, own = symbol.partition("@")
            names[name] = (own if at else node, int(data or 0))
    return soname, node, sources, names


def write_list(path, soname, node, sources, names):
    lines = [f"# soname {soname}"] + ([f"# node {node}"] if node else [])
    lines += [f"# source {source}" for source in sources]
    for name in sorted(names):
        own, size = names[name]
        lines.append(name + ("" if own == node else f"@{own}") + (f" ?data {size}" if size else ""))
    path.write_text("\n".join(lines) + "\n")


def add(soname, source, symbols, folder=FOLDER):
    path = folder / f"{soname}.txt"
    _, node, sources, names = read_list(path)
    for name, (own, size) in symbols.items():
        if name not in names or size > names[name][1]:
            names[name] = (own, size)
    if node is None:  # the list's node is the most common one in the first version read
        nodes = [own for own, _ in symbols.values()]
        node = max(sorted(set(nodes)), key=nodes.count) if nodes else ""
    if source not in sources:
        sources.append(source)
    write_list(path, soname, node, sources, names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True, help="package and version, NAME==VERSION")
    parser.add_argument("library", nargs="+")
    arguments = parser.parse_args()
    for library in arguments.library:
        dynamic = subprocess.run(
            ["readelf", "-dW", library], capture_output=True, text=True, check=True
        )
        soname = re.search(r"SONAME.*\[(.*?)\]", dynamic.stdout)
        symbols = subprocess.run(
            ["nm", "-D", "-S", "--defined-only", "--with-symbol-versions", library],
            capture_output=True,
            text=True,
            check=True,
        )
        add(
            soname.group(1) if soname else pathlib.Path(library).name,
            arguments.source,
            parse_symbols(symbols.stdout),
        )


if __name__ == "__main__":
    main()
