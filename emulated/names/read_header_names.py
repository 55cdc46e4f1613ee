#!/usr/bin/env python3
"""Adds the names declared in headers to the list of a library that is in no package.

    read_header_names.py --library libcuda.so.1 --source nvidia-cuda-runtime-cu12==12.9.79 INCLUDE
    read_header_names.py --library libnvidia-ml.so.1 --source nvidia-nvml-dev-cu12==12.9.79 INCLUDE

No wheel contains the driver's libraries. Their exported names follow from the headers: every
declared function, every versioned name to which a macro maps a function, and, if the declaration
has them, the variants for the per-thread default stream (_ptsz, _ptds).
"""

import argparse
import pathlib
import re

import read_names

HEADERS = {
    "libcuda.so.1": ["cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"],
    "libnvidia-ml.so.1": ["nvml.h"],
}
DECLARED = re.compile(
    r"\b(?:CUresult\s+CUDAAPI|DECLDIR)\s+(?:const\s+char\s*\*\s*)?((?:cu[A-Z]|nvml[A-Z])\w*)\s*\("
)
DECLARED_TEXT = re.compile(r"const\s+DECLDIR\s+char\s*\*\s*(nvml[A-Z]\w*)\s*\(")
MAPPED = re.compile(
    r"^\s*#\s*define\s+((?:cu|nvml)[A-Z]\w*)\s+(?:(__CUDA_API_PT[SD][ZS])\(\s*)?((?:cu|nvml)[A-Z]\w*)\)?\s*$",
    re.M,
)
# Functions that programs look up, although headers do not declare them.
BESIDES = {
    "libcuda.so.1": [
        "cuGetExportTable",
        "cuProfilerInitialize",
        "cuProfilerStart",
        "cuProfilerStop",
    ]
}


def names_in(text):
    declared = set(DECLARED.findall(text)) | set(DECLARED_TEXT.findall(text))
    names = set(declared)
    for plain, variant, name in MAPPED.findall(text):
        if {plain, name} & declared:  # other macros name constants and types
            names |= {plain, name}
            if variant:
                names.add(name + ("_ptds" if variant.endswith("PTDS") else "_ptsz"))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, choices=sorted(HEADERS))
    parser.add_argument("--source", required=True)
    parser.add_argument("include")
    arguments = parser.parse_args()
    names = set(BESIDES.get(arguments.library, []))
    for header in HEADERS[arguments.library]:
        path = pathlib.Path(arguments.include) / header
        if path.exists():
            names |= names_in(path.read_text(errors="replace"))
    read_names.add(arguments.library, arguments.source, {name: ("", 0) for name in names})


if __name__ == "__main__":
    main()
