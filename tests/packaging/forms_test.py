"""Tests the package formats (packaging/package.py). The bytes of packages must not depend on the
place and time of the build. If the wheel's program cannot run, it must print what it needs. Uses a
small generated tree; symbol_versions_test and install_test use the real tree."""

import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import installed

sys.path.insert(0, str(installed.SOURCE / "packaging"))
import package  # noqa: E402

RUNTIME = b"\x7fELF\x02\x01\x01\x00AI\x02" + bytes(200)  # only the header is that of an AppImage


def make_tree(folder, umask):
    before = os.umask(umask)
    try:
        for name, text in {
            "bin/vramscope": '#!/bin/sh\necho started "$@"\n',
            "lib/vramscope/vramscope": "x" * 100_000,
            "lib/vramscope/libQt6Core.so.6": "y" * 50_000,
            "share/applications/vramscope.desktop": "[Desktop Entry]\n",
            "share/icons/hicolor/scalable/apps/vramscope.svg": "<svg/>",
            "share/doc/vramscope/note": "z",
        }.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (folder / "lib/vramscope/libQt6Core.so").symlink_to("libQt6Core.so.6")
    finally:
        os.umask(before)
    package.set_modes(folder)
    return folder


class Forms(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        os.environ.pop("VRAMSCOPE_APPIMAGE_RUNTIME", None)

    def tearDown(self):
        os.environ.pop("SOURCE_DATE_EPOCH", None)
        os.environ.pop("VRAMSCOPE_APPIMAGE_RUNTIME", None)
        self.scratch.cleanup()

    def made(self, form, name, umask, moment):
        tree = make_tree(self.folder / name / "tree", umask)
        for path in tree.rglob("*"):
            os.utime(path, (moment, moment), follow_symlinks=False)
        dist = self.folder / name / "dist"
        dist.mkdir()
        with contextlib.redirect_stderr(io.StringIO()):
            return package.FORMS[form](tree, dist, "1.2.3")

    def check_same(self, form):
        """Checks that packages are the same if they are made in another folder, with another umask,
        and at another time."""
        first = self.made(form, form + "-first", 0o022, 1_600_000_000)
        second = self.made(form, form + "-second", 0o077, time.time() - 5)
        self.assertEqual(first.name, second.name)
        self.assertGreater(first.stat().st_size, 500)
        self.assertEqual(first.read_bytes(), second.read_bytes(), form)
        return first

    def test_the_wheel_is_the_same_every_time(self):
        self.check_same("wheel")

    def test_the_archive_is_the_same_every_time(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        self.check_same("tar")

    def test_the_debian_package_is_the_same_every_time(self):
        if not shutil.which("dpkg-deb"):
            self.skipTest("dpkg-deb is not installed")
        self.check_same("deb")

    def test_without_a_runtime_the_appdir_comes_as_an_archive(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        archive = self.check_same("appimage")
        self.assertTrue(archive.name.endswith(".AppDir.tar.zst"))
        listed = subprocess.run(
            "zstd -dc %s | tar -tv" % archive,
            shell=True,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        self.assertIn("vramscope.AppDir/AppRun -> usr/bin/vramscope", listed)

    def test_an_appimage_is_runtime_and_image(self):
        if not shutil.which("mksquashfs"):
            self.skipTest("mksquashfs is not installed")
        runtime = self.folder / "runtime"
        os.environ["VRAMSCOPE_APPIMAGE_RUNTIME"] = str(runtime)
        runtime.write_bytes(b"#!/bin/sh\n")
        with self.assertRaisesRegex(SystemExit, "not a type 2 runtime"):
            self.made("appimage", "wrong", 0o022, 1_600_000_000)
        runtime.write_bytes(RUNTIME)
        image = self.check_same("appimage")
        self.assertTrue(image.name.endswith(".AppImage") and os.access(image, os.X_OK))
        bytes_of_it = image.read_bytes()
        self.assertEqual(bytes_of_it[: len(RUNTIME)], RUNTIME)
        self.assertEqual(bytes_of_it[len(RUNTIME) :][:4], b"hsqs")

    def test_no_certificate_of_this_computers_owner_is_shipped(self):
        if (
            not shutil.which("dpkg-query")
            or not pathlib.Path("/usr/share/ca-certificates").exists()
        ):
            self.skipTest("ca-certificates is not installed")
        tree = self.folder / "tree"
        (tree / "share/vramscope").mkdir(parents=True)
        packages = package.bundle.Packages()
        package.bundle.add_certificates(tree, packages)
        shipped = (tree / "share/vramscope/ca-certificates.crt").read_text()
        listed = [
            line
            for line in package.bundle.run("dpkg", "-L", "ca-certificates").splitlines()
            if line.endswith(".crt")
        ]
        self.assertEqual(shipped.count("BEGIN CERTIFICATE"), len(listed))
        for path in pathlib.Path("/usr/local/share/ca-certificates").rglob("*.crt"):
            self.assertNotIn(path.read_text().strip().splitlines()[1], shipped, path)

    def start(self, **replaced):
        """Runs the wheel's script at the path where pip would install it. First replaces texts in
        the script."""
        text = (
            (installed.SOURCE / "packaging/wheel_script.sh")
            .read_text()
            .replace("@VERSION@", "1.2.3")
        )
        for old, new in replaced.items():
            before = text
            text = text.replace({"loader": "/lib64/ld-linux-x86-64.so.2"}[old], new)
            self.assertNotEqual(text, before)
        script = self.folder / "bin/vramscope"
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        script.chmod(0o755)
        packages = self.folder / "lib/python3.11/site-packages"
        (packages / "vramscope-1.2.3.dist-info").mkdir(parents=True, exist_ok=True)
        make_tree_once = packages / "vramscope/_bundle"
        if not make_tree_once.exists():
            make_tree(make_tree_once, 0o022)
        fake = self.folder / "fake"
        fake.mkdir(exist_ok=True)
        (fake / "uname").write_text('#!/bin/sh\n[ "$1" = -m ] && echo aarch64 || echo Linux\n')
        (fake / "uname").chmod(0o755)
        return subprocess.run(
            [str(script), "--version"],
            capture_output=True,
            text=True,
            env=dict(os.environ, PATH="%s:%s" % (fake, os.environ["PATH"])),
        )

    def test_the_wheels_script_starts_the_program(self):
        done = self.start(loader="/")
        self.assertEqual((done.returncode, done.stdout), (0, "started --version\n"), done.stderr)

    def test_the_wheels_script_says_what_musl_and_another_processor_lack(self):
        done = self.start(loader="/no/such/loader.so")
        self.assertEqual(done.returncode, 4)
        for words in ("glibc on x86-64", "Linux on aarch64", "/no/such/loader.so", "musl"):
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
