"""Helpers of the isolation tests: a folder with valuable contents, and its state.

    python3 folder.py fill FOLDER     fills a new folder with known content
    python3 folder.py state FOLDER    prints every name with kind, mode, owner, times, link target,
                                      extended attributes and content

Two states are equal if and only if nothing was changed between them.
"""

import hashlib
import os
import sqlite3
import stat
import sys

TEXTS = [
    "removed",
    "unlinked",
    "replaced",
    "truncated",
    "shortened",
    "appended",
    "moved",
    "copied",
    "hard",
    "linked",
    "mode",
    "times",
    "by_shell",
    "by_child",
    "by_bare_child",
    "by_libc",
    "by_named_libc",
    "by_descriptor",
    "by_chdir",
    "in_place",
    "forked",
    "found",
    "locked",
    "reopened",
    "stdio",
    "attribute",
    "owner",
    "exchanged_1",
    "exchanged_2",
    "by_spawn",
    "by_fork_server",
    "descriptor_mode",
    "descriptor_times",
    "temporary",
    "renamed_open",
    "through_folder",
    "by_glob",
    "listed",
    "by_cleared",
    "read_only",
    "by_proc",
    "by_remove",
    "by_input",
    "by_empty_path",
    "flagged",
    "by_handle",
    "by_new_call",
    "by_shm",
    "by_shm_too",
    "by_standard_input",
    "became_a_link",
    "behind_the_link",
]


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def fill(folder):
    """Creates three folders: the working folder, one next to it, and a home folder."""
    project = os.path.join(folder, "project")
    for name in TEXTS:
        write(os.path.join(project, "files", name), "precious %s\n" % name)
    for name in ("mapped", "patched", "written_at"):
        write(os.path.join(project, "files", name), name[0] * 8192)
    for name in (
        "removed",
        "renamed",
        "moved",
        "emptied",
        "again",
        "by_shell",
        "by_find",
        "kept",
        "by_mv",
        "target",
        "walked",
        "copied",
        "by_rm",
        "by_nftw",
        "merged",
        "by_descriptor",
        "by_remove",
        "exchanged",
        "while_open",
    ):
        checkpoint = os.path.join(project, "checkpoints", name)
        write(os.path.join(checkpoint, "weights.bin"), "weights of %s\n" % name)
        write(os.path.join(checkpoint, "state", "optimizer.bin"), "optimizer of %s\n" % name, 0o640)
        write(os.path.join(checkpoint, "run.sh"), "#!/bin/sh\necho %s\n" % name, 0o755)
        os.symlink("weights.bin", os.path.join(checkpoint, "latest"))
        os.symlink(os.path.join(checkpoint, "state"), os.path.join(checkpoint, "absolute"))
    with open(os.path.join(project, "files", "sparse"), "wb") as file:
        file.truncate(32 << 20)
        file.seek(16 << 20)
        file.write(b"data")
    os.mkfifo(os.path.join(project, "old_pipe"))
    os.makedirs(os.path.join(project, "empty"))
    os.makedirs(os.path.join(project, "also_empty"))
    write(os.path.join(project, "config.json"), "{}")
    write(os.path.join(project, "train.log"), "log\n")
    write(os.path.join(project, "pa ckage", "ünïcode\nname"), "odd name\n")
    write(os.path.join(project, "package", "module.py"), "VALUE = 'old'\n")
    os.symlink("files/linked", os.path.join(project, "link_to_file"))
    os.symlink("files/removed", os.path.join(project, "link_to_remove"))
    os.symlink("checkpoints/kept", os.path.join(project, "link_to_folder"))
    os.symlink("nowhere", os.path.join(project, "link_to_nothing"))
    os.link(os.path.join(project, "files", "hard"), os.path.join(project, "files", "hard_too"))
    database = sqlite3.connect(os.path.join(project, "runs.db"))
    database.execute("create table runs (name text)")
    database.execute("insert into runs values ('old')")
    database.commit()
    database.close()
    write(os.path.join(folder, "other", "changed"), "other\n")
    write(os.path.join(folder, "other", "removed"), "other\n")
    write(os.path.join(folder, "home", ".config", "settings"), "settings\n")
    # Sets times in the past, so that any change shows. Begins with the deepest paths, because
    # setting a time must not alter a folder's time later.
    for path in sorted(entries(folder), key=len, reverse=True):
        os.utime(path, (1_600_000_000, 1_600_000_000), follow_symlinks=False)


def entries(folder):
    """Returns the folder and every path in it."""
    yield folder
    for base, folders, files in os.walk(folder):
        for name in folders + files:
            yield os.path.join(base, name)


def described(folder, path):
    status = os.lstat(path)
    words = [
        os.path.relpath(path, folder),
        oct(status.st_mode),
        status.st_uid,
        status.st_gid,
        status.st_mtime_ns,
        status.st_nlink,
    ]
    if stat.S_ISLNK(status.st_mode):
        words.append(os.readlink(path))
    else:
        words.append(sorted(os.listxattr(path)) if hasattr(os, "listxattr") else [])
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            words += [status.st_size, hashlib.sha256(file.read()).hexdigest()]
    return " ".join(repr(word) for word in words)


def state(folder):
    """Returns one line about each path, sorted by name."""
    return [described(folder, path) for path in sorted(entries(folder))]


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(sys.argv[2])
    else:
        print("\n".join(state(sys.argv[2])))
