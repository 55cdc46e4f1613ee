"""Finds the system calls that could have changed a file in the output of
`strace -f -y -s 4096 -e trace=%file,%desc -e signal=SIGSYS`.

A call that caused SIGSYS was not executed.
"""

import os
import re

LINE = re.compile(r"^(\d+) +(?:(\w+)\((.*)|(<\.\.\. .*)|(--- .*))$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?')
FOLDER = re.compile(r"(AT_FDCWD|-?\d+)(?:<((?:[^<>\\]|\\.)*)>)?")
OPENS = {"open", "openat", "openat2", "creat"}
WRITES = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"}
# System calls that change the file at their path, or the target if there is a link.
PATHS = {
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "rename",
    "renameat",
    "renameat2",
    "symlink",
    "symlinkat",
    "link",
    "linkat",
    "mknod",
    "mknodat",
    "truncate",
    "chmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "lchown",
    "fchownat",
    "utime",
    "utimes",
    "utimensat",
    "futimesat",
    "setxattr",
    "lsetxattr",
    "removexattr",
    "lremovexattr",
    "mount",
    "umount2",
    "pivot_root",
    "swapon",
    "acct",
}
DESCRIPTORS = {"ftruncate", "fchmod", "fchown", "fallocate", "fsetxattr", "fremovexattr"}
TEXT_FIRST = {"symlink", "symlinkat"}  # the first string is the target of the link
# only the first string is a path
NAME_SECOND = {"setxattr", "lsetxattr", "removexattr", "lremovexattr", "mount"}


def unescaped(text):
    return os.fsdecode(
        re.sub(
            rb"\\(x[0-9a-f]{2}|[0-7]{1,3}|.)", lambda match: replaced(match.group(1)), text.encode()
        )
    )


def replaced(escape):
    if escape[:1] == b"x":
        return bytes([int(escape[1:], 16)])
    if escape[:1].isdigit():
        return bytes([int(escape, 8)])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}.get(escape, escape)


def paths_of(call, arguments):
    """Yields the paths that the call may change. Relative paths stay relative if their folder is
    unknown."""
    if call in DESCRIPTORS or (call == "utimensat" and STRING.search(arguments) is None):
        match = FOLDER.match(arguments)
        if match is None or not match.group(1).startswith("-"):  # -1 is not a file
            yield unescaped(match.group(2) or "") if match else arguments
        return
    if (
        call in OPENS
        and call != "creat"
        and not WRITES & set(re.split(r"[|,\s)]+", STRING.sub("", arguments)))
    ):
        return
    strings = list(STRING.finditer(arguments))
    if call in TEXT_FIRST:
        strings = strings[1:]
    if call in NAME_SECOND:
        strings = strings[:1]
    for string in strings:
        path = unescaped(string.group(1))
        if not path.startswith("/"):
            before = FOLDER.search(arguments[: string.start()].rpartition('"')[2])
            path = os.path.join(unescaped(before.group(2) or "") if before else "", path)
        yield path


def is_within(path, folders):
    path = os.path.normpath(path)
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def outside(lines, folders):
    """Returns the calls that may change a path outside the folders, and the number of calls that
    may change any path."""
    found, count, last = [], 0, {}  # last: the unfinished call of each process
    for line in lines:
        match = LINE.match(line)
        if match is None:
            continue
        process, call, arguments, resumed, signal = match.groups()
        if resumed:
            continue
        before = last.pop(process, [])
        if signal and "SIGSYS" in signal:
            continue
        count += len(before)
        found += [text for text, path in before if not is_within(path, folders)]
        if call in OPENS | PATHS | DESCRIPTORS:
            last[process] = [(line.rstrip(), path) for path in paths_of(call, arguments)]
    for before in last.values():
        count += len(before)
        found += [text for text, path in before if not is_within(path, folders)]
    return found, count
