"""Allocations with the same Python frames, autograd node and innermost operator have one call site
(profiler/explain/README.md). A stack without any of these is identified by all its functions.
Blocks without a stack that the trace allocates have one site, and blocks without a stack that are
older have another."""

import re

NODE = re.compile(r"torch::autograd::(.*?)::apply\(")
OPERATOR = re.compile(r"at::_ops::([^:(]*)")


def is_python(frame):
    file = frame.get("filename") or ""
    return (
        file.endswith((".py", ".pyx"))
        or (file.startswith("<") and file.endswith(">"))
        or (frame.get("name") == "<module>" and file != "")
    )


def is_installed(frame):
    file = frame.get("filename") or ""
    return any(
        part in file for part in ("site-packages/", "dist-packages/", "/lib/python")
    ) or file.startswith("<frozen")


def node_of(frames):
    for frame in frames:
        found = NODE.match(frame.get("name") or "")
        if found and not is_python(frame):
            return found.group(1).rsplit(":", 1)[-1]
    return ""


# In "at::_ops::mul_Tensor", the overload follows the operator's name. Overloads that begin with a
# lower-case letter look like a part of the name, so they are listed here.
OVERLOADS = (
    "_memory_format",
    "_dim_IntList",
    "_start_step",
    "_dim_max",
    "_dim_min",
    "_start_out",
    "_from_file",
    "_correction",
    "_names",
    "_start",
    "_other",
    "_value",
    "_out",
    "_self",
    "_src",
    "_int",
    "_dim",
)


def operator_of(frames):
    """Returns the innermost operator that does more than allocate, without its overload."""
    for frame in frames:
        found = OPERATOR.match(frame.get("name") or "")
        if not found or not found.group(1) or is_python(frame):
            continue
        name = found.group(1)
        if name.startswith(("empty", "new_empty", "resize_")) or name == "_resize_":
            continue
        name = re.split("(?<=.)_(?=[A-Z])", name)[0]
        while any(name.endswith(o) and len(name) > len(o) for o in OVERLOADS):
            name = name[: -max(len(o) for o in OVERLOADS if name.endswith(o))]
        return name
    return ""


def _folder_and_file(path):
    return tuple(re.split(r"[/\\]", path)[-2:])


# Up to version 3.11, Python has frames with these names. Later versions inline them.
INLINED = ("<listcomp>", "<dictcomp>", "<setcomp>")


def script_of(frames):
    """Returns the script that the user started, which is the outermost module of the program."""
    modules = [
        f["filename"]
        for f in frames
        if f.get("name") == "<module>" and is_python(f) and not is_installed(f)
    ]
    return modules[-1] if modules else None


def innermost_of(frames, older):
    """Returns the innermost frame of the stack that is in the program's own code, together with the
    autograd node and the operator. Returns None if there is no such frame."""
    for frame in frames or ():
        if is_python(frame) and not is_installed(frame):
            return (
                _folder_and_file(frame.get("filename") or ""),
                frame.get("name") or "",
                node_of(frames),
                operator_of(frames),
                older,
            )
    return None


class Sites:
    """Computes keys of stacks. If many entries share a list of frames, computes its key once."""

    def __init__(self):
        self._known = {}
        self._kept = []  # keeps the lists alive, so that no id is reused

    def key(self, frames, portable=False, older=False):
        if not frames:
            return ("older",) if older else ("nobody",)
        known = self._known.get((id(frames), portable))
        if known is None:
            self._kept.append(frames)
            known = self._known[id(frames), portable] = self._key(frames, portable)
        return known

    @staticmethod
    def _key(frames, portable):
        # for comparing a program before and after a change, omits lines, outer folders and the
        # script's name
        if portable:
            script = script_of(frames)
            python = tuple(
                (
                    None
                    if f.get("filename") == script
                    else _folder_and_file(f.get("filename") or ""),
                    f.get("name") or "",
                )
                for f in frames
                if is_python(f) and f.get("name") not in INLINED
            )
        else:
            python = tuple(
                (f.get("filename"), f.get("line"), f.get("name") or "")
                for f in frames
                if is_python(f)
            )
        node, operator = node_of(frames), operator_of(frames)
        if python or node or operator:
            return python, node, operator
        return tuple(f.get("name") or "" for f in frames)
