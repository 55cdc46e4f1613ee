"""A program that changes files in all the ways that training programs use, and in some others.

    python3 ways.py FOLDER      FOLDER was made by `folder.py fill FOLDER`

After each way, this process (and, where relevant, another) checks that written data exist and that
removed files do not. Prints `N of M ways worked` and the ways that failed. The exit status is 0 if
all worked.
"""

import asyncio
import csv
import ctypes
import errno
import fcntl
import glob
import io
import json
import logging
import logging.handlers
import mmap
import multiprocessing
import os
import pathlib
import pickle
import shelve
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

ways, failed = [], []


def way(function):
    ways.append(function)
    return function


def shell(script, **more):
    return subprocess.run(
        ["/bin/sh", "-c", script], check=True, capture_output=True, text=True, **more
    ).stdout


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def write(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


def there(path, text=None):
    assert os.path.exists(path), "%s is not there" % path
    assert os.path.basename(path) in os.listdir(os.path.dirname(path) or "."), (
        "%s is not listed" % path
    )
    if text is not None:
        assert text in read(path), "%s has %r" % (path, read(path)[:80])


def gone(path):
    assert not os.path.lexists(path), "%s is still there" % path
    folder = os.path.dirname(path) or "."
    assert not os.path.isdir(folder) or os.path.basename(path) not in os.listdir(folder), (
        "%s is still listed" % path
    )
    try:
        open(path).close()
    except FileNotFoundError:
        return
    except NotADirectoryError:
        return
    raise AssertionError("%s can still be opened" % path)


def tree(folder):
    """Returns all names below the folder."""
    return sorted(
        os.path.relpath(os.path.join(base, name), folder)
        for base, folders, files in os.walk(folder)
        for name in folders + files
    )


CHECKPOINT = ["absolute", "latest", "run.sh", "state", "state/optimizer.bin", "weights.bin"]


def libc(name=None):
    return ctypes.CDLL(name, use_errno=True)


# --- single files ---


@way
def os_remove():
    os.remove("files/removed")
    gone("files/removed")
    assert os.path.islink("link_to_remove") and not os.path.exists("link_to_remove")


@way
def pathlib_unlink():
    pathlib.Path("files/unlinked").unlink()
    gone("files/unlinked")


@way
def remove_of_the_c_library():
    assert libc().remove(b"files/by_remove") == 0
    gone("files/by_remove")


@way
def remove_twice():
    write("files/twice", "x")
    os.remove("files/twice")
    try:
        os.remove("files/twice")
    except FileNotFoundError:
        return
    raise AssertionError("removed twice")


@way
def replace():
    write("t.tmp", "new")
    os.replace("t.tmp", "files/replaced")
    there("files/replaced", "new")
    gone("t.tmp")


@way
def rename_file():
    os.rename("files/moved", "files/moved_here")
    there("files/moved_here", "precious moved")
    gone("files/moved")


@way
def rename_exchanged():
    function = getattr(libc(), "renameat2", None)
    if function is None:
        return
    answer = function(-100, b"files/exchanged_1", -100, b"files/exchanged_2", 2)
    assert answer == 0 or ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS), os.strerror(
        ctypes.get_errno()
    )
    there("files/exchanged_1", "exchanged_2" if answer == 0 else "exchanged_1")


@way
def truncate_by_open():
    open("files/truncated", "w").close()
    assert os.path.getsize("files/truncated") == 0


@way
def truncate_by_path():
    os.truncate("files/shortened", 4)
    assert read("files/shortened") == "prec"


@way
def append():
    write("files/appended", "line\n", "a")
    assert read("files/appended") == "precious appended\nline\n"


@way
def read_write():
    with open("files/patched", "r+b") as file:
        file.seek(3)
        file.write(b"XYZ")
    with open("files/patched", "rb") as file:
        content = file.read()
    assert content[:8] == b"pppXYZpp" and len(content) == 8192


@way
def written_at():
    descriptor = os.open("files/written_at", os.O_RDWR)
    os.pwrite(descriptor, b"here", 5000)
    os.fsync(descriptor)
    os.close(descriptor)
    assert read("files/written_at")[4999:5005] == "wherew"


@way
def memory_map():
    with open("files/mapped", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0:4] = b"MMAP"
        memory.flush()
    there("files/mapped", "MMAPmm")


@way
def exclusive():
    with open("files/exclusive", "x") as file:
        file.write("x")
    try:
        open("files/exclusive", "x")
    except FileExistsError:
        pass
    else:
        raise AssertionError("created twice")
    os.remove("files/exclusive")
    open("files/exclusive", "x").close()


@way
def created_again():
    os.remove("files/in_place")
    write("files/in_place", "again")
    assert read("files/in_place") == "again"


@way
def low_level():
    descriptor = os.open("low.bin", os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(descriptor, b"low")
    os.fchmod(descriptor, 0o640)
    os.close(descriptor)
    there("low.bin", "low")
    assert stat.S_IMODE(os.stat("low.bin").st_mode) == 0o640


@way
def open_while_removed():
    with open("files/renamed_open") as file:
        os.remove("files/renamed_open")
        assert file.read() == "precious renamed_open\n"
    gone("files/renamed_open")


@way
def locked():
    with open("files/locked", "r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        file.write("LOCKED")
    there("files/locked", "LOCKEDus")


@way
def copied():
    shutil.copy2("files/copied", "files/copy")
    assert os.stat("files/copy").st_mtime == os.stat("files/copied").st_mtime == 1_600_000_000
    shutil.copy("config.json", "files/copied")
    there("files/copied", "{}")


@way
def odd_names():
    write("pa ckage/ünïcode\nname", "changed")
    there("pa ckage/ünïcode\nname", "changed")
    write("n" * 255, "long")
    there("n" * 255, "long")
    os.remove("n" * 255)
    gone("n" * 255)


# --- modes, times, links, attributes ---


@way
def modes_and_times():
    os.chmod("files/mode", 0o600)
    os.utime("files/times", (1, 1))
    assert (
        stat.S_IMODE(os.stat("files/mode").st_mode) == 0o600
        and read("files/mode") == "precious mode\n"
    )
    assert os.stat("files/times").st_mtime == 1 and read("files/times") == "precious times\n"


@way
def modes_and_times_by_descriptor():
    for name in ("mode", "times"):
        descriptor = os.open("files/descriptor_" + name, os.O_RDONLY)
        if name == "mode":
            os.fchmod(descriptor, 0o600)
        else:
            os.utime(descriptor, (1, 1))
        os.close(descriptor)
    assert stat.S_IMODE(os.stat("files/descriptor_mode").st_mode) == 0o600
    assert os.stat("files/descriptor_times").st_mtime == 1


@way
def owner():
    os.chown("files/owner", os.getuid(), os.getgid())
    os.lchown("link_to_nothing", os.getuid(), os.getgid())
    there("files/owner", "precious owner")


@way
def attributes():
    try:
        os.setxattr("files/attribute", "user.kind", b"changed")
    except OSError as error:
        assert error.errno in (errno.ENOTSUP, errno.EPERM), error
        return
    assert os.getxattr("files/attribute", "user.kind") == b"changed" and os.listxattr(
        "files/attribute"
    ) == ["user.kind"]


@way
def folder_mode_and_time():
    os.chmod("checkpoints/kept", 0o700)
    os.utime("checkpoints/kept", (5, 5))
    assert (
        stat.S_IMODE(os.stat("checkpoints/kept").st_mode) == 0o700
        and os.stat("checkpoints/kept").st_mtime == 5
    )
    assert tree("checkpoints/kept") == CHECKPOINT


@way
def links():
    os.symlink("files/found", "latest")
    there("latest", "precious found")
    os.remove("latest")
    os.symlink("config.json", "latest")
    assert os.readlink("latest") == "config.json"
    os.remove("link_to_nothing")
    gone("link_to_nothing")


@way
def hard_links():
    os.link("files/hard", "files/harder")
    write("files/harder", "more\n", "a")
    there("files/hard", "more")
    assert os.path.samefile("files/hard", "files/harder") and os.stat("files/harder").st_nlink >= 2
    os.remove("files/hard_too")
    gone("files/hard_too")


@way
def through_a_link():
    write("link_to_file", "through")
    assert read("files/linked") == "through" and os.path.islink("link_to_file")


@way
def through_a_folder_link():
    write("link_to_folder/new.bin", "new")
    there("checkpoints/kept/new.bin", "new")
    os.remove("link_to_folder/weights.bin")
    gone("checkpoints/kept/weights.bin")
    assert os.path.realpath("link_to_folder/new.bin") == os.path.realpath(
        "checkpoints/kept/new.bin"
    )
    write("link_to_folder/../../files/through_folder", "up")
    there("files/through_folder", "up")


@way
def link_is_replaced():
    os.symlink("config.json", "link.tmp")
    os.replace("link.tmp", "link_to_folder")
    assert read("link_to_folder") == read("config.json")


# --- folders ---


@way
def make_folders():
    os.makedirs("outputs/a/b/c", exist_ok=True)
    write("outputs/a/b/c/d", "deep")
    there("outputs/a/b/c/d", "deep")
    assert not any(os.path.ismount(path) for path in ("outputs", "outputs/a", "checkpoints"))
    descriptor = os.open("outputs/a", os.O_RDONLY)
    assert os.path.samestat(os.fstat(descriptor), os.stat("outputs/a"))
    os.close(descriptor)
    os.mkdir("checkpoints/removed/new")
    there("checkpoints/removed/new")


@way
def remove_empty_folders():
    os.rmdir("empty")
    gone("empty")
    try:
        os.rmdir("checkpoints/emptied")
    except OSError as error:
        assert error.errno in (errno.ENOTEMPTY, errno.EEXIST), error
    else:
        raise AssertionError("a folder with files was removed")
    shutil.rmtree("checkpoints/emptied/state")
    for name in os.listdir("checkpoints/emptied"):
        os.remove(os.path.join("checkpoints/emptied", name))
    assert os.listdir("checkpoints/emptied") == []
    os.rmdir("checkpoints/emptied")
    gone("checkpoints/emptied")


@way
def rmtree():
    shutil.rmtree("checkpoints/removed")
    gone("checkpoints/removed")
    gone("checkpoints/removed/weights.bin")


@way
def folder_made_again():
    shutil.rmtree("checkpoints/again")
    os.mkdir("checkpoints/again")
    assert os.listdir("checkpoints/again") == []
    write("checkpoints/again/one", "1")
    assert tree("checkpoints/again") == ["one"]
    gone("checkpoints/again/weights.bin")


@way
def rename_folder():
    os.rename("checkpoints/renamed", "checkpoints/best")
    gone("checkpoints/renamed")
    gone("checkpoints/renamed/weights.bin")
    assert tree("checkpoints/best") == CHECKPOINT
    there("checkpoints/best/weights.bin", "weights of renamed")
    status = os.stat("checkpoints/best/state/optimizer.bin")
    assert stat.S_IMODE(status.st_mode) == 0o640 and status.st_mtime == 1_600_000_000
    assert stat.S_IMODE(os.stat("checkpoints/best/run.sh").st_mode) == 0o755
    assert (
        os.readlink("checkpoints/best/latest") == "weights.bin"
        and os.lstat("checkpoints/best/latest").st_mtime == 1_600_000_000
    )
    assert (
        os.stat("checkpoints/best").st_mtime
        == os.stat("checkpoints/best/state").st_mtime
        == 1_600_000_000
    )
    write("checkpoints/best/weights.bin", "changed")
    there("checkpoints/best/weights.bin", "changed")


@way
def rename_changed_folder():
    write("checkpoints/merged/weights.bin", "changed")
    os.remove("checkpoints/merged/run.sh")
    write("checkpoints/merged/state/new", "new")
    pathlib.Path("checkpoints/merged").rename("checkpoints/merged_too")
    assert tree("checkpoints/merged_too") == sorted(set(CHECKPOINT) - {"run.sh"} | {"state/new"})
    there("checkpoints/merged_too/weights.bin", "changed")
    there("checkpoints/merged_too/state/optimizer.bin", "optimizer of merged")
    gone("checkpoints/merged")


@way
def rename_folder_onto_folders():
    os.rename("checkpoints/moved", "also_empty")
    assert tree("also_empty") == CHECKPOINT
    try:
        os.rename("also_empty", "checkpoints/target")
    except OSError as error:
        assert error.errno in (errno.ENOTEMPTY, errno.EEXIST), error
    else:
        raise AssertionError("a folder with files was replaced")
    shutil.rmtree("checkpoints/target")
    os.rename("also_empty", "checkpoints/target")
    there("checkpoints/target/weights.bin", "weights of moved")
    gone("also_empty")


@way
def rename_new_folder():
    os.makedirs("checkpoints/now.tmp/state")
    write("checkpoints/now.tmp/state/x", "x")
    os.replace("checkpoints/now.tmp", "checkpoints/now")
    assert tree("checkpoints/now") == ["state", "state/x"]
    gone("checkpoints/now.tmp")


@way
def rename_and_back():
    os.rename("checkpoints/exchanged", "checkpoints/aside")
    os.rename("checkpoints/aside", "checkpoints/exchanged")
    assert tree("checkpoints/exchanged") == CHECKPOINT
    os.rename("package", "package.old")
    os.mkdir("package")
    write("package/module.py", "VALUE = 'new'\n")
    assert tree("package") == ["module.py"] and tree("package.old") == ["module.py"]


@way
def rename_refuses():
    for source, target, expected in (
        ("config.json", "checkpoints", (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST)),
        ("checkpoints", "config.json", (errno.ENOTDIR,)),
        ("checkpoints", "checkpoints/kept/x", (errno.EINVAL,)),
        ("nowhere_at_all", "x", (errno.ENOENT,)),
    ):
        try:
            os.rename(source, target)
        except OSError as error:
            assert error.errno in expected, "%s to %s: %s" % (source, target, error)
        else:
            raise AssertionError("%s was renamed to %s" % (source, target))
    there("config.json")
    there("checkpoints/kept")


@way
def move():
    shutil.move("files/found", "../other/found")
    there("../other/found", "precious found")
    gone("files/found")
    shutil.move("../other/found", "files")
    there("files/found", "precious found")


@way
def copy_of_a_folder():
    shutil.copytree("checkpoints/copied", "checkpoints/copies", symlinks=True)
    assert tree("checkpoints/copies") == CHECKPOINT
    shutil.copytree(
        "checkpoints/copied", "checkpoints/exchanged", symlinks=False, dirs_exist_ok=True
    )


@way
def listings():
    write("files/listed_new", "x")
    os.remove("files/listed")
    names = os.listdir("files")
    assert "listed_new" in names and "listed" not in names and len(names) == len(set(names))
    assert (
        sorted(names)
        == sorted(entry.name for entry in os.scandir("files"))
        == sorted(path.name for path in pathlib.Path("files").iterdir())
    )
    assert sorted(names) == sorted(os.path.basename(path) for path in glob.glob("files/*"))
    assert sorted(names) == sorted(shell("ls -A files").splitlines())
    kinds = {entry.name: entry.is_dir() for entry in os.scandir("checkpoints/walked")}
    write("checkpoints/walked/new", "x")
    kinds["new"] = False
    assert kinds == {entry.name: entry.is_dir() for entry in os.scandir("checkpoints/walked")}


@way
def listed_while_removed():
    for entry in os.scandir("checkpoints/walked"):
        if not entry.is_dir(follow_symlinks=False):
            os.remove(entry.path)
    assert tree("checkpoints/walked") == ["state", "state/optimizer.bin"]


@way
def folder_descriptor():
    descriptor = os.open("checkpoints/by_descriptor", os.O_RDONLY)
    os.unlink("weights.bin", dir_fd=descriptor)
    os.mkdir("made", dir_fd=descriptor)
    os.rename("run.sh", "made/run.sh", src_dir_fd=descriptor, dst_dir_fd=descriptor)
    os.symlink("made", "link", dir_fd=descriptor)
    os.close(os.open("link/opened", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.chmod("state/optimizer.bin", 0o600, dir_fd=descriptor)
    os.utime("state", (1, 1), dir_fd=descriptor)
    assert os.readlink("link", dir_fd=descriptor) == "made" and os.access(
        "made/opened", os.W_OK, dir_fd=descriptor
    )
    assert os.stat("state/optimizer.bin", dir_fd=descriptor).st_mode & 0o777 == 0o600
    names = sorted(os.listdir(descriptor))
    with os.scandir(descriptor) as scanned:
        assert (
            names
            == sorted(entry.name for entry in scanned)
            == ["absolute", "latest", "link", "made", "state"]
        )
    shutil.rmtree("made", dir_fd=descriptor) if sys.version_info >= (3, 11) else shutil.rmtree(
        "checkpoints/by_descriptor/made"
    )
    os.close(descriptor)
    gone("checkpoints/by_descriptor/made")


@way
def working_folder():
    before = os.getcwd()
    os.makedirs("outputs/run")
    os.chdir("outputs/run")
    try:
        assert (
            os.getcwd()
            == os.path.join(before, "outputs/run")
            == os.path.realpath(".")
            == shell("pwd -P").strip()
        )
        write("here", "x")
        os.remove("../../files/by_chdir")
        os.chdir(os.path.join(before, "files"))
        assert os.getcwd() == os.path.join(before, "files")
        gone("by_chdir")
        there("../outputs/run/here", "x")
        os.chdir("../checkpoints/kept/state")
        write("in_lower", "x")
    finally:
        os.chdir(before)
    there("checkpoints/kept/state/in_lower", "x")
    descriptor = os.open("outputs", os.O_RDONLY)
    os.fchdir(descriptor)
    os.close(descriptor)
    try:
        there("run/here", "x")
        assert os.getcwd() == os.path.join(before, "outputs")
    finally:
        os.chdir(before)


@way
def outside_the_folder():
    write("../other/changed", "changed")
    there("../other/changed", "changed")
    os.remove("../other/removed")
    gone("../other/removed")


@way
def home():
    folder = os.path.abspath("../home")
    write(folder + "/.config/settings", "changed")
    os.makedirs(folder + "/.cache_of_nobody")
    write(folder + "/.cache_of_nobody/x", "x")
    there(folder + "/.cache_of_nobody/x", "x")
    shutil.rmtree(folder + "/.config")
    gone(folder + "/.config")


@way
def temporary_files():
    folder = tempfile.mkdtemp()
    write(os.path.join(folder, "t"), "t")
    shutil.rmtree(folder)
    gone(folder)
    with tempfile.NamedTemporaryFile(dir=".", delete=False) as file:
        file.write(b"named")
    os.replace(file.name, "files/temporary")
    there("files/temporary", "named")
    with tempfile.TemporaryFile(dir=".") as file:
        file.write(b"x")
    descriptor, path = tempfile.mkstemp(dir="files")
    os.close(descriptor)
    there(path)


@way
def nameless_file():
    try:
        descriptor = os.open("files", os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError as error:
        assert error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL), error
        return
    os.write(descriptor, b"nameless")
    os.link("/proc/self/fd/%d" % descriptor, "files/named", src_dir_fd=0, follow_symlinks=True)
    os.close(descriptor)
    there("files/named", "nameless")


# --- formats and libraries ---


@way
def serialised():
    with open("config.json", "w") as file:
        json.dump({"done": True}, file)
    with open("state.pkl", "wb") as file:
        pickle.dump({"a": 1}, file)
    with open("metrics.csv", "w", newline="") as file:
        csv.writer(file).writerow(["loss", 0])
    there("config.json", "true")
    there("state.pkl")
    there("metrics.csv", "loss")


@way
def database():
    with sqlite3.connect("runs.db") as connection:
        connection.execute("insert into runs values ('new')")
    connection.close()
    connection = sqlite3.connect("runs.db")
    connection.execute("pragma journal_mode=wal")
    with connection:
        connection.execute("insert into runs values ('third')")
    assert [row[0] for row in connection.execute("select name from runs")] == [
        "old",
        "new",
        "third",
    ]
    connection.close()
    assert (
        "third"
        in subprocess.run(
            [
                sys.executable,
                "-c",
                "import sqlite3; print(*sqlite3.connect('runs.db').execute('select * from runs'))",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )


@way
def shelved():
    with shelve.open("shelf") as shelf:
        shelf["k"] = 1
    with shelve.open("shelf") as shelf:
        assert shelf["k"] == 1


@way
def archives():
    with zipfile.ZipFile("out.zip", "w") as archive:
        archive.writestr("unpacked/a", "b")
    with tarfile.open("out.tar", "w") as archive:
        archive.add("files")
    with tarfile.open("out.tar") as archive:
        archive.extract("files/found", "unpacked")
    with zipfile.ZipFile("out.zip") as archive:
        archive.extractall(".")
    there("unpacked/files/found", "precious found")
    there("unpacked/a", "b")


@way
def logged():
    handler = logging.handlers.RotatingFileHandler("train.log", maxBytes=40, backupCount=2)
    logger = logging.getLogger("isolation")
    logger.propagate = False
    logger.addHandler(handler)
    for number in range(4):
        logger.error("line number %d of the log", number)
    handler.close()
    there("train.log", "line number 3")
    there("train.log.1", "line number 2")


@way
def written_module():
    os.makedirs("written_package", exist_ok=True)
    write("written_package/__init__.py", "")
    write("written_package/inner.py", "VALUE = 3\n")
    sys.path.insert(0, os.getcwd())
    try:
        import written_package.inner
    finally:
        sys.path.remove(os.getcwd())
    assert written_package.inner.VALUE == 3
    assert os.path.exists(written_package.inner.__file__)


@way
def c_library():
    assert libc().unlink(b"files/by_libc") == 0
    gone("files/by_libc")


@way
def c_library_by_name():
    assert libc("libc.so.6").unlink(b"files/by_named_libc") == 0, os.strerror(ctypes.get_errno())
    gone("files/by_named_libc")


@way
def c_streams():
    library = libc()
    library.fopen.restype = ctypes.c_void_p
    library.freopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(library.fopen(b"files/stdio", b"a"))
    assert stream.value, os.strerror(ctypes.get_errno())
    library.fputs(b"by fopen\n", stream)
    stream = ctypes.c_void_p(library.freopen(b"files/reopened", b"r+", stream))
    assert stream.value, os.strerror(ctypes.get_errno())
    library.fputs(b"REOPENED", stream)
    library.fclose(stream)
    there("files/stdio", "precious stdio\nby fopen")
    there("files/reopened", "REOPENED")


@way
def c_temporary():
    template = ctypes.create_string_buffer(b"files/c_XXXXXX")
    os.close(libc().mkstemp(template))
    there(template.value.decode())
    template = ctypes.create_string_buffer(b"files/d_XXXXXX")
    libc().mkdtemp.restype = ctypes.c_char_p
    assert libc().mkdtemp(template)
    there(template.value.decode())


@way
def c_glob():
    class Glob(ctypes.Structure):
        _fields_ = [
            ("count", ctypes.c_size_t),
            ("paths", ctypes.POINTER(ctypes.c_char_p)),
            ("rest", ctypes.c_byte * 128),
        ]

    write("files/globbed", "x")
    os.remove("files/by_glob")
    found = Glob()
    assert libc().glob(b"files/*glob*", 0, None, ctypes.byref(found)) == 0
    assert [found.paths[number] for number in range(found.count)] == [b"files/globbed"]


@way
def c_tree_walk():
    names = []
    visit = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
    )

    def remove(path, status, kind, place):
        names.append(path.decode())
        return libc().remove(path)

    write("checkpoints/by_nftw/new", "x")
    os.remove("checkpoints/by_nftw/run.sh")
    # FTW_DEPTH | FTW_PHYS
    assert libc().nftw(b"checkpoints/by_nftw", visit(remove), 16, 8 | 1) == 0
    assert (
        "checkpoints/by_nftw/new" in names
        and "checkpoints/by_nftw/run.sh" not in names
        and names[-1] == "checkpoints/by_nftw"
    )
    gone("checkpoints/by_nftw")


@way
def loaded_library():
    import _ctypes

    source = getattr(_ctypes, "__file__", None)
    if source is None:
        return
    os.makedirs("built", exist_ok=True)
    shutil.copy(source, "built/library.so")
    assert ctypes.CDLL(os.path.abspath("built/library.so")).PyInit__ctypes
    os.remove("built/library.so")
    gone("built/library.so")


@way
def calls_of_the_kernel():
    # Makes system calls directly, like code that does not use the C library, such as Rust's rustix.
    import platform

    if platform.machine() != "x86_64":
        return
    call = libc().syscall
    call.restype = ctypes.c_long
    write("files/new_name", "new")
    # renameat
    assert call(264, -100, b"files/new_name", -100, b"files/by_call") == 0, os.strerror(
        ctypes.get_errno()
    )
    there("files/by_call", "new")
    gone("files/new_name")
    descriptor = call(257, -100, b"files/by_call", os.O_WRONLY | os.O_APPEND, 0)  # openat
    os.write(descriptor, b" and more")
    os.close(descriptor)
    there("files/by_call", "new and more")
    assert call(87, b"files/by_call") == 0  # unlink
    gone("files/by_call")
    # mkdir, rmdir
    assert call(83, b"files/made_by_call", 0o755) == 0 and call(84, b"files/made_by_call") == 0
    ctypes.set_errno(0)
    assert call(87, b"files/by_call") == -1 and ctypes.get_errno() == errno.ENOENT
    assert call(87, ctypes.c_void_p(8)) == -1 and ctypes.get_errno() == errno.EFAULT


@way
def pipes_and_sockets():
    os.mkfifo("pipe")
    for pipe in ("pipe", "old_pipe"):
        assert stat.S_ISFIFO(os.stat(pipe).st_mode)
        writer = threading.Thread(target=write, args=(pipe, "through the pipe"))
        writer.start()
        assert read(pipe) == "through the pipe"
        writer.join()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("socket")
        server.listen()
        client.connect(
            os.path.abspath("socket") if len(os.path.abspath("socket")) < 100 else "socket"
        )
        server.accept()[0].close()
    there("socket")
    os.remove("socket")
    gone("socket")


# --- other processes ---


@way
def shell_commands():
    shell(
        "rm -rf checkpoints/by_shell && echo x >shell.txt && echo y >>files/by_shell && mkdir -p "
        "made/by/shell && touch made/by/shell/too"
    )
    gone("checkpoints/by_shell")
    there("shell.txt", "x")
    there("files/by_shell", "precious by_shell\ny")
    there("made/by/shell/too")


@way
def shell_tools():
    shell(
        "mv checkpoints/by_mv checkpoints/by_mv_too && cp -a checkpoints/by_mv_too "
        "checkpoints/by_cp && sed -i s/weights/WEIGHTS/ "
        "checkpoints/by_cp/weights.bin && ln -sf weights.bin checkpoints/by_cp/linked && chmod "
        "-R u+x checkpoints/by_cp && "
        "find checkpoints/by_find -type f -delete && rmdir checkpoints/by_find/state"
    )
    gone("checkpoints/by_mv")
    assert tree("checkpoints/by_mv_too") == CHECKPOINT and tree("checkpoints/by_cp") == sorted(
        [*CHECKPOINT, "linked"]
    )
    there("checkpoints/by_cp/weights.bin", "WEIGHTS of by_mv")
    assert tree("checkpoints/by_find") == ["absolute", "latest"]


@way
def shell_sees_it():
    write("files/in_place", "for the shell\n")
    assert (
        shell("cat files/in_place; test -e files/removed || echo gone; cd outputs && cat run/here")
        == "for the shell\ngone\nx"
    )


@way
def system_and_popen():
    assert os.system("rm checkpoints/by_rm/weights.bin && echo x >by_system") == 0
    gone("checkpoints/by_rm/weights.bin")
    there("by_system")
    library = libc()
    library.popen.restype = ctypes.c_void_p
    assert library.pclose(ctypes.c_void_p(library.popen(b"rm by_system", b"r"))) == 0
    gone("by_system")


@way
def child_python():
    subprocess.run(
        [sys.executable, "-I", "-c", "import os; os.remove('files/by_child')"], check=True
    )
    gone("files/by_child")


@way
def child_without_environment():
    subprocess.run(
        [sys.executable, "-I", "-c", "import os; os.remove('files/by_bare_child')"],
        check=True,
        env={},
    )
    gone("files/by_bare_child")
    shell("env -i /bin/sh -c 'rm files/by_cleared; echo x >files/bare'")
    gone("files/by_cleared")
    there("files/bare", "x")


@way
def spawned():
    pid = os.posix_spawn("/bin/rm", ["rm", "files/by_spawn"], {})
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    gone("files/by_spawn")
    pid = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", "echo more"],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "files/found", os.O_WRONLY | os.O_APPEND, 0)],
    )
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    there("files/found", "precious found\nmore")


@way
def forked():
    pid = os.fork()
    if pid == 0:
        try:
            os.remove("files/forked")
            write("files/by_fork", "child")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    gone("files/forked")
    there("files/by_fork", "child")


@way
def worker_processes():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(write, [("files/worker_%d" % number, "w") for number in range(4)])
        pool.map(os.remove, ["files/by_fork_server"])
    assert all(os.path.exists("files/worker_%d" % number) for number in range(4))
    gone("files/by_fork_server")


@way
def threads_at_once():
    def work(number):
        for turn in range(20):
            os.makedirs("threads/%d" % (turn % 3), exist_ok=True)
            write("threads/%d/%d" % (turn % 3, number), "x")
        write("files/by_thread_%d" % number, "x")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tree("threads")) == 3 + 3 * 6


@way
def asynchronous():
    async def run():
        process = await asyncio.create_subprocess_exec("/bin/sh", "-c", "echo async >files/async")
        return await process.wait()

    assert asyncio.run(run()) == 0
    there("files/async", "async")


@way
def new_script():
    write("script.sh", "#!/bin/sh\ncat files/in_place\n")
    os.chmod("script.sh", 0o755)
    assert subprocess.run(
        ["./script.sh"], capture_output=True, text=True, check=True
    ).stdout == read("files/in_place")
    write("checkpoints/kept/run.sh", "#!/bin/sh\necho changed\n")
    assert (
        subprocess.run(
            [os.path.abspath("checkpoints/kept/run.sh")], capture_output=True, text=True, check=True
        ).stdout
        == "changed\n"
    )
    write(
        "script.py",
        "import os, sys\nprint(os.path.exists(__file__), os.path.abspath(sys.argv[0]))\n",
    )
    assert subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, check=True
    ).stdout == "True %s\n" % os.path.abspath("script.py")
    os.makedirs("tools")
    shutil.copy("/bin/sh", "tools/interpreter")
    write("tools/interpreted", "#!%s\necho interpreted\n" % os.path.abspath("tools/interpreter"))
    os.chmod("tools/interpreted", 0o755)
    if len(os.path.abspath("tools/interpreter")) < 120:
        assert (
            subprocess.run(["tools/interpreted"], capture_output=True, text=True, check=True).stdout
            == "interpreted\n"
        )
    found = subprocess.run(
        ["interpreted"],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ, PATH=os.path.abspath("tools")),
    )
    assert found.stdout == "interpreted\n"


@way
def removed_script():
    os.remove("checkpoints/copied/run.sh")
    try:
        subprocess.run([os.path.abspath("checkpoints/copied/run.sh")], check=True)
    except FileNotFoundError:
        return
    raise AssertionError("a removed script was started")


@way
def working_folder_of_a_child():
    os.makedirs("outputs/child", exist_ok=True)
    subprocess.run(
        [sys.executable, "-c", "open('here', 'w').write('x')"], check=True, cwd="outputs/child"
    )
    there("outputs/child/here", "x")
    subprocess.run(["/bin/sh", "-c", "rm state/optimizer.bin"], check=True, cwd="checkpoints/by_rm")
    gone("checkpoints/by_rm/state/optimizer.bin")


@way
def another_descriptor_path():
    with open("files/by_proc") as file:
        write("/proc/self/fd/%d" % file.fileno(), "by /proc")
    assert read("files/by_proc") in ("by /proc", "precious by_proc\n")


@way
def input_of_another_process():
    # The child's standard input is a file that was opened only for reading.
    with open("files/by_input") as file, subprocess.Popen(
        ["/bin/sleep", "100"], stdin=file
    ) as child:
        write("/proc/%d/fd/0" % child.pid, "by its input")
        child.kill()
    assert read("files/by_input") in ("by its input", "precious by_input\n")


@way
def without_a_name_by_empty_path():
    descriptor = os.open("files", os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(descriptor, b"without a name")
    answer = libc().linkat(descriptor, b"", -100, b"files/got_a_name", 0x1000)
    os.close(descriptor)
    # ENOENT: not root
    assert answer == 0 or ctypes.get_errno() == errno.ENOENT, os.strerror(ctypes.get_errno())
    if answer == 0:
        there("files/got_a_name", "without a name")


@way
def owner_by_empty_path():
    descriptor = os.open("files/by_empty_path", os.O_RDONLY)
    owner = (
        (1, 1)
        if os.geteuid() == 0 and os.stat("files/by_empty_path").st_uid == 0
        else (os.getuid(), os.getgid())
    )
    answer = libc().fchownat(descriptor, b"", *owner, 0x1000)
    os.close(descriptor)
    # EINVAL: the user namespace maps only one user
    assert answer == 0 or ctypes.get_errno() == errno.EINVAL, os.strerror(ctypes.get_errno())
    assert (
        answer != 0
        or (os.stat("files/by_empty_path").st_uid, os.stat("files/by_empty_path").st_gid) == owner
    )


@way
def attributes_of_the_file_system():
    # A read-only descriptor suffices to set the flag "no dump" with FS_IOC_SETFLAGS.
    with open("files/flagged", "rb") as file:
        try:
            flags = int.from_bytes(fcntl.ioctl(file, 0x80086601, bytes(8)), sys.byteorder)
            fcntl.ioctl(file, 0x40086602, (flags | 0x40).to_bytes(8, sys.byteorder))
        except OSError as error:
            assert error.errno in (errno.EOPNOTSUPP, errno.ENOTTY, errno.EPERM), error


@way
def by_number():
    import platform

    if platform.machine() != "x86_64":
        return
    handle = ctypes.create_string_buffer((128).to_bytes(4, sys.byteorder) + bytes(132))
    call, number = libc().syscall, ctypes.c_int()
    # name_to_handle_at
    if call(303, -100, b"files/by_handle", handle, ctypes.byref(number), 0) != 0:
        return
    folder = os.open(".", os.O_RDONLY)
    descriptor = call(304, folder, handle, os.O_RDWR)  # open_by_handle_at
    os.close(folder)
    if descriptor >= 0:
        os.write(descriptor, b"by number")
        os.close(descriptor)


@way
def new_calls_of_the_kernel():
    import platform

    if platform.machine() != "x86_64":
        return
    call, value = libc().syscall, ctypes.create_string_buffer(b"changed")
    argument = (
        ctypes.addressof(value).to_bytes(8, sys.byteorder)
        + (7).to_bytes(4, sys.byteorder)
        + bytes(4)
    )
    call(463, -100, b"files/by_new_call", 0, b"user.kind", argument, 16)  # setxattrat
    # file_setattr with "no dump"
    call(469, -100, b"files/by_new_call", (0x80).to_bytes(8, sys.byteorder) + bytes(16), 24, 0)
    # openat2
    descriptor = call(
        437, -100, b"files/by_new_call", os.O_WRONLY.to_bytes(8, sys.byteorder) + bytes(16), 24
    )
    if descriptor >= 0:
        os.write(descriptor, b"changed")
        os.close(descriptor)
        there("files/by_new_call", "changed")


@way
def questions():
    write("files/asked", "asked")
    assert os.access("files/asked", os.R_OK | os.W_OK) and not os.access("files/removed", os.F_OK)
    assert (
        shutil.disk_usage("files").total > 0
        and os.statvfs("outputs/run").f_bsize > 0
        and os.pathconf("files/asked", "PC_NAME_MAX") > 0
    )
    assert os.path.samefile("files/asked", os.path.abspath("files/../files/asked"))
    assert (
        io.open("files/asked").read() == "asked"
        and os.path.isdir("outputs/run")
        and not os.path.ismount("outputs/run")
    )
    with open("files/asked") as file:
        assert os.path.samestat(os.fstat(file.fileno()), os.stat("files/asked"))


@way
def through_a_link_in_shared_memory():
    """/dev/shm is not isolated, but what a link there leads to is."""
    if not os.access("/dev/shm", os.W_OK):
        return
    link = "/dev/shm/vramscope-test-%d" % os.getpid()
    os.symlink(os.path.abspath("files"), link)
    try:
        write(link + "/by_shm", "by shm")
        there("files/by_shm", "by shm")
        os.chmod(link + "/by_shm", 0o600)
        assert stat.S_IMODE(os.stat("files/by_shm").st_mode) == 0o600
        os.remove(link + "/by_shm_too")
        gone("files/by_shm_too")
        os.mkdir(link + "/made_by_shm")
        assert os.path.isdir("files/made_by_shm")
        assert sorted(os.listdir(link)) == sorted(os.listdir("files"))
    finally:
        os.remove(link)


@way
def by_standard_input():
    with open("files/by_standard_input") as file:
        subprocess.run(["/bin/sh", "-c", "echo changed >/dev/stdin"], stdin=file, check=True)
    there("files/by_standard_input", "changed\n")


def change_status(descriptor):
    """Changes the mode and time of an open file. overlayfs refuses this if the file has lost its
    name."""
    for change in (lambda: os.fchmod(descriptor, 0o700), lambda: os.utime(descriptor, (1, 1))):
        try:
            change()
        except OSError as error:
            assert error.errno in (errno.ENOENT, errno.EEXIST), error
    os.close(descriptor)


@way
def by_descriptor_whose_folder_is_renamed():
    descriptor = os.open("checkpoints/while_open/weights.bin", os.O_RDONLY)
    folder = os.open("checkpoints/while_open/state", os.O_RDONLY)
    os.rename("checkpoints/while_open", "checkpoints/other_name")
    for each in (descriptor, folder):
        change_status(each)


@way
def by_descriptor_whose_name_is_a_link_now():
    descriptor = os.open("files/became_a_link", os.O_RDONLY)
    os.remove("files/became_a_link")
    os.symlink(os.path.abspath("files/behind_the_link"), "files/became_a_link")
    change_status(descriptor)
    status = os.stat("files/behind_the_link")
    assert stat.S_IMODE(status.st_mode) == 0o644 and status.st_mtime == 1_600_000_000


@way
def sparse():
    with open("files/sparse", "r+b") as file:
        file.write(b"new")
    status = os.stat("files/sparse")
    assert status.st_size == 32 << 20 and status.st_blocks * 512 < 8 << 20, status.st_blocks
    with open("files/sparse", "rb") as file:
        assert file.read(4) == b"new\0"
        file.seek(16 << 20)
        assert file.read(5) == b"data\0"


@way
def another_process_sees_the_same():
    script = (
        "import os, sys; sys.path.insert(0, %r); import folder; "
        "print('\\n'.join(folder.state('.')))" % os.path.dirname(os.path.abspath(__file__))
    )
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import folder

    mine = folder.state(".")
    theirs = subprocess.run(
        [sys.executable, "-B", "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert mine == theirs, "%s" % sorted(set(mine) ^ set(theirs))[:4]


def main():
    os.chdir(os.path.join(sys.argv[1], "project"))
    for function in ways:
        try:
            function()
        except BaseException as error:  # noqa: B902
            failed.append("%s: %s %s" % (function.__name__, type(error).__name__, error))
    print("%d of %d ways worked" % (len(ways) - len(failed), len(ways)))
    for line in failed:
        print("  " + line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
