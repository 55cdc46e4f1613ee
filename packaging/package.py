"""Makes dist/: the wheel, the relocatable archive, the Debian package and the AppImage.
`./vramscope package` calls it.

    python3 package.py BUILD DIST [wheel] [tar] [deb] [appimage]

The same build produces the same bytes, because all times are that of the last commit
(SOURCE_DATE_EPOCH), and names are sorted.
"""

import base64
import datetime
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import bundle
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAG = "py3-none-manylinux_%d_%d_x86_64" % bundle.MOST_GLIBC
EARLIEST_OF_ZIP = 315532800  # the year 1980
ZSTD_LEVEL = "-17"


def say(text):
    print("package: " + text, file=sys.stderr, flush=True)


def version():
    return re.search(
        r"project\(vramscope VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()
    )[1]


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    log = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True
    )
    return int(log.stdout) if log.returncode == 0 and log.stdout.strip() else EARLIEST_OF_ZIP


def mode_of(path):
    return 0o755 if os.access(path, os.X_OK) else 0o644


def set_modes(tree):
    """Sets modes that do not depend on this computer's umask. Only programs are executable."""
    for path in [tree, *tree.rglob("*")]:
        if path.is_symlink():
            continue
        if path.is_dir():
            path.chmod(0o755)
        else:
            relative = str(path.relative_to(tree))
            program = (
                relative.startswith("bin/")
                or "/bin/" in relative
                or re.search(r"lib/vramscope/vramscope[^/.]*$", relative)
            )
            path.chmod(0o755 if program else 0o644)


def entry_points(project):
    sections = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    sections["console_scripts"] = {
        name: what for name, what in sections["console_scripts"].items() if name != "vramscope"
    }
    return "".join(
        "[%s]\n%s\n" % (section, "".join("%s = %s\n" % entry for entry in sorted(entries.items())))
        for section, entries in sorted(sections.items())
        if entries
    )


def wheel(tree, dist, name):
    project = tomllib.loads((ROOT / "emulated/python/pyproject.toml").read_text())["project"]
    info, python = "vramscope-%s.dist-info" % name, ROOT / "emulated/python/vramscope"
    contents = {}  # name in the wheel -> (bytes, mode)
    for path in sorted(python.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            contents["vramscope/" + str(path.relative_to(python))] = (path.read_bytes(), 0o644)
    # Wheels cannot contain links, so each link becomes a copy of its target. Nothing is installed
    # into the environment's share/ (.data/data): shells do not search the share/ of a virtual
    # environment, and pip would not remove folders there.
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            contents["vramscope/_bundle/" + str(path.relative_to(tree))] = (
                path.read_bytes(),
                mode_of(path),
            )
    script = (ROOT / "packaging/wheel_script.sh").read_text().replace("@VERSION@", name)
    contents["vramscope-%s.data/scripts/vramscope" % name] = (script.encode(), 0o755)
    points = entry_points(project)
    if points:
        contents[info + "/entry_points.txt"] = (points.encode(), 0o644)
    contents[info + "/WHEEL"] = (
        (
            "Wheel-Version: 1.0\nGenerator: vramscope packaging\nRoot-Is-Purelib: false\nTag: %s\n"
            % TAG
        ).encode(),
        0o644,
    )
    contents[info + "/METADATA"] = (
        (
            "Metadata-Version: 2.1\nName: vramscope\nVersion: %s\nSummary: What is in GPU memory "
            "while a neural network trains, "
            "with or without a GPU\nLicense: Apache-2.0\nRequires-Python: %s\nClassifier: "
            "Operating System :: POSIX :: Linux\n"
            "Classifier: License :: OSI Approved :: Apache Software "
            "License\nDescription-Content-Type: text/markdown\n\n%s"
            % (name, project["requires-python"], (ROOT / "README.md").read_text())
        ).encode(),
        0o644,
    )
    contents[info + "/licenses/LICENSE"] = ((ROOT / "LICENSE").read_bytes(), 0o644)
    record = [
        "%s,sha256=%s,%d\n"
        % (
            path,
            base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(),
            len(data),
        )
        for path, (data, _) in contents.items()
    ]
    contents[info + "/RECORD"] = ("".join(record + [info + "/RECORD,,\n"]).encode(), 0o644)
    moment = time.gmtime(max(epoch(), EARLIEST_OF_ZIP))[:6]
    target = dist / ("vramscope-%s-%s.whl" % (name, TAG))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (data, mode) in contents.items():  # dist-info is last, as PEP 427 recommends
            entry = zipfile.ZipInfo(path, moment)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return target


def archive(tree, target, top):
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = epoch()
        return entry

    with tempfile.TemporaryDirectory() as folder:
        plain_tar = pathlib.Path(folder, "a.tar")
        with tarfile.open(plain_tar, "w", format=tarfile.GNU_FORMAT) as out:
            out.add(tree, top, recursive=False, filter=plain)
            for path in sorted(tree.rglob("*")):
                out.add(
                    path, top + "/" + str(path.relative_to(tree)), recursive=False, filter=plain
                )
        subprocess.run(
            ["zstd", "-q", "-f", ZSTD_LEVEL, "-T1", str(plain_tar), "-o", str(target)], check=True
        )
    return target


def tar(tree, dist, name):
    top = "vramscope-%s-linux-x86_64" % name
    return archive(tree, dist / (top + ".tar.zst"), top)


def set_times(top):
    for path in sorted(top.rglob("*")) + [top]:
        os.utime(path, (epoch(), epoch()), follow_symlinks=False)


def link(target, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def deb(tree, dist, name):
    """Makes a package that installs into /opt, as the Filesystem Hierarchy Standard requires of
    packages that are not part of a distribution."""
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder, "deb")
        top.mkdir(mode=0o755)
        own = top / "opt/vramscope"
        shutil.copytree(tree, own, symlinks=True)
        link("../../opt/vramscope/bin/vramscope", top / "usr/bin/vramscope")
        for path in sorted(tree.rglob("*")):
            relative = path.relative_to(tree)
            if (
                path.is_file()
                and relative.parts[0] == "share"
                and relative.parts[1] not in ("vramscope", "doc")
            ):
                target = top / "usr" / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(own / relative, target)
        for path in sorted(own.rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        doc = top / "usr/share/doc/vramscope"
        doc.mkdir(parents=True)
        shutil.copyfile(ROOT / "LICENSE", doc / "copyright")
        control = top / "DEBIAN"
        control.mkdir()
        size = (
            sum(
                path.stat().st_size
                for path in top.rglob("*")
                if path.is_file() and not path.is_symlink()
            )
            // 1024
        )
        (control / "control").write_text(
            """Package: vramscope
Version: %s
Architecture: amd64
Maintainer: vramscope maintainers <maintainers@vramscope.invalid>
Installed-Size: %d
Depends: libc6 (>= %d.%d), libstdc++6 (>= 12)
Recommends: libegl1, libgl1, libfontconfig1, libx11-6, libwayland-client0, libdbus-1-3
Section: devel
Priority: optional
Description: what is in GPU memory while a neural network trains
 A profiler that shows parameters, gradients, optimizer state and activations
 byte by byte over time, and plans PyTorch programs without a GPU.
"""
            % (name, size, *bundle.MOST_GLIBC)
        )
        for path in top.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        set_times(top)
        target = dist / ("vramscope_%s_amd64.deb" % name)
        subprocess.run(
            [
                "dpkg-deb",
                "--root-owner-group",
                "--threads-max=1",
                "-Zxz",
                "-z6",
                "--build",
                str(top),
                str(target),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            env=dict(os.environ, SOURCE_DATE_EPOCH=str(epoch())),
        )
    return target


def app_dir(tree, folder, linked):
    shutil.copytree(tree, folder / "usr", symlinks=True)
    if linked:
        bundle.add_linked(folder / "usr", linked)
        set_modes(folder / "usr")
    link("usr/bin/vramscope", folder / "AppRun")
    shutil.copyfile(tree / "share/applications/vramscope.desktop", folder / "vramscope.desktop")
    shutil.copyfile(
        tree / "share/icons/hicolor/scalable/apps/vramscope.svg", folder / "vramscope.svg"
    )
    link("vramscope.svg", folder / ".DirIcon")
    folder.chmod(0o755)
    for name in ("vramscope.desktop", "vramscope.svg"):
        (folder / name).chmod(0o644)
    set_times(folder)


HEAD_MARK = b"vramscope-image "  # as in app/appimage/runtime.cpp


def appimage_head(scratch):
    """Returns the runtime that precedes the image in the AppImage, and the packages that are linked
    into the runtime. The runtime is $VRAMSCOPE_APPIMAGE_RUNTIME (type 2) or the build's
    app/appimage."""
    given = os.environ.get("VRAMSCOPE_APPIMAGE_RUNTIME")
    if given:
        head = pathlib.Path(given).read_bytes()
        if head[:4] != b"\x7fELF" or head[8:11] != b"AI\x02":
            raise SystemExit(
                "package: $VRAMSCOPE_APPIMAGE_RUNTIME: %s is not a type 2 runtime (an ELF file "
                "with AI\\x02 at byte 8)" % given
            )
        return head, []
    stripped = scratch / "head"
    subprocess.run(["strip", "-o", str(stripped), str(OWN_HEAD)], check=True)
    head = stripped.read_bytes()
    return head[:8] + b"AI\x02" + head[11:], bundle.APPIMAGE_LINKED


def stamped(head, image):
    """Writes the image's offset and digest into vramscope's runtime. Returns any other runtime
    unchanged."""
    at = head.find(HEAD_MARK)
    if at < 0:
        return head
    stamp = HEAD_MARK + b"%020d %s" % (len(head), hashlib.sha256(image).hexdigest().encode())
    return head[:at] + stamp + head[at + len(stamp) :]


OWN_HEAD = None  # build/bin/vramscope_appimage, if it was built


def appimage(tree, dist, name):
    missing = (
        []
        if os.environ.get("VRAMSCOPE_APPIMAGE_RUNTIME") or OWN_HEAD
        else ["libsquashfuse-dev, to build its runtime with"]
    )
    if not shutil.which("mksquashfs"):
        missing.append("squashfs-tools")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        folder = scratch / "vramscope.AppDir"
        if missing:
            say(
                "making an archive of the AppDir instead of an AppImage; for an AppImage, "
                "install %s" % " and ".join(missing)
            )
            app_dir(tree, folder, [])
            return archive(
                folder, dist / ("vramscope-%s-x86_64.AppDir.tar.zst" % name), folder.name
            )
        head, linked = appimage_head(scratch)
        app_dir(tree, folder, linked)
        image = scratch / "image"
        subprocess.run(
            [
                "mksquashfs",
                str(folder),
                str(image),
                "-root-owned",
                "-noappend",
                "-comp",
                "zstd",
                "-b",
                "1M",
                "-no-progress",
                "-quiet",
                "-processors",
                "1",
            ],
            check=True,
            env=dict(os.environ, SOURCE_DATE_EPOCH=str(epoch())),
        )
        target = dist / ("vramscope-%s-x86_64.AppImage" % name)
        content = image.read_bytes()
        target.write_bytes(stamped(head, content) + content)
    target.chmod(0o755)
    return target


FORMS = {"wheel": wheel, "tar": tar, "deb": deb, "appimage": appimage}


def main():
    global OWN_HEAD
    build, dist = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    forms = sys.argv[3:] or list(FORMS)
    if not set(forms) <= set(FORMS):
        raise SystemExit("package: choose from %s" % ", ".join(FORMS))
    for tool in ("patchelf", "strip", "dpkg-query"):
        if not shutil.which(tool):
            raise SystemExit("package: %s is needed" % tool)
    if (build / "bin/vramscope_appimage").exists():
        OWN_HEAD = build / "bin/vramscope_appimage"
    name = version()
    dist.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch, "vramscope")
        start = time.monotonic()
        created = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )
        bundle.make(build, tree, name, created)
        set_modes(tree)
        size = sum(
            path.stat().st_size
            for path in tree.rglob("*")
            if path.is_file() and not path.is_symlink()
        )
        say("the tree: %.1f MB in %.0f s" % (size / 1e6, time.monotonic() - start))
        for form in forms:
            start = time.monotonic()
            made = FORMS[form](tree, dist, name)
            say(
                "%s: %.1f MB in %.0f s, sha256 %s"
                % (
                    made.name,
                    made.stat().st_size / 1e6,
                    time.monotonic() - start,
                    bundle.sha256(made),
                )
            )


if __name__ == "__main__":
    main()
