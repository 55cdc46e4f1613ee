"""Builds an AppImage with the runtime of app/appimage from a small AppDir, and starts it as an
ordinary user without FUSE."""

import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

import installed

sys.path.insert(0, str(installed.SOURCE / "packaging"))
import package  # noqa: E402

HEAD = installed.BUILD / "bin/vramscope_appimage"
NOBODY = 65534
APP_RUN = """#!/bin/sh
echo "started with:" "$@"
echo "folder: $APPDIR"
echo "file: $APPIMAGE called $ARGV0 from $OWD"
exit 7
"""


def elf_size(data):
    """Returns the size of the ELF file. Tools for AppImages expect the image right after it."""
    (sections,) = struct.unpack_from("<Q", data, 40)
    size, number = struct.unpack_from("<HH", data, 58)
    return sections + size * number


class AppImage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.folder.chmod(0o755)
        tree = cls.folder / "tree"
        cls.big = os.urandom(3_000_000)
        cls.files = {
            "bin/vramscope": APP_RUN.encode(),
            "lib/vramscope/vramscope": cls.big,
            "lib/vramscope/empty": b"",
            "share/applications/vramscope.desktop": b"[Desktop Entry]\n",
            "share/icons/hicolor/scalable/apps/vramscope.svg": b"<svg/>",
            "share/doc/vramscope/licenses/x.txt": b"",
            "share/doc/vramscope/vramscope.spdx.json": b'{"packages": [], "relationships": []}',
        }
        for name, content in cls.files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(content)
        package.set_modes(tree)
        package.OWN_HEAD = HEAD
        os.environ.pop("VRAMSCOPE_APPIMAGE_RUNTIME", None)
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        for name in ("first", "second"):
            (cls.folder / name).mkdir()
        cls.image = package.appimage(tree, cls.folder / "first", "1.2.3")
        cls.again = package.appimage(tree, cls.folder / "second", "1.2.3")

    @classmethod
    def tearDownClass(cls):
        os.environ.pop("SOURCE_DATE_EPOCH", None)
        cls.scratch.cleanup()

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        if os.geteuid() == 0:
            os.chown(self.home, NOBODY, NOBODY)

    def run_image(self, *arguments, image=None, cwd=None, **environment):
        """Runs the AppImage as an ordinary user, without fusermount on PATH."""
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        kept = {"HOME": str(self.home), "PATH": "/nowhere", **environment}
        return subprocess.run(
            [str(image or self.image), *arguments],
            capture_output=True,
            text=True,
            cwd=cwd or self.home,
            env={name: value for name, value in kept.items() if value is not None},
            timeout=60,
            **user,
        )

    def cache(self):
        folders = list((self.home / ".cache/vramscope/appimage").iterdir())
        self.assertEqual(len(folders), 1)
        return folders[0]

    def test_the_file_is_an_appimage_of_type_2(self):
        data = self.image.read_bytes()
        self.assertEqual((data[:4], data[8:11]), (b"\x7fELF", b"AI\x02"))
        self.assertEqual(data[elf_size(data) :][:4], b"hsqs")
        self.assertTrue(os.access(self.image, os.X_OK))
        done = self.run_image("--appimage-offset")
        self.assertEqual(done.stdout, "%d\n" % elf_size(data), done.stderr)

    def test_it_is_the_same_every_time(self):
        self.assertEqual(self.image.read_bytes(), self.again.read_bytes())

    def test_it_starts_what_is_in_it(self):
        for _ in range(2):
            done = self.run_image("plan", "--preset", "gpt2 x")
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn("started with: plan --preset gpt2 x\n", done.stdout)
            self.assertIn(
                "file: %s called %s from %s\n" % (self.image, self.image, self.home), done.stdout
            )
            self.assertIn("folder: %s\n" % self.cache(), done.stdout)
        done = self.run_image("--appimage-extract-and-run", "info")
        self.assertEqual(
            (done.returncode, done.stdout.splitlines()[0]), (7, "started with: info"), done.stderr
        )

    def test_what_is_unpacked_is_what_was_packed(self):
        self.run_image()
        usr = self.cache() / "usr"
        for name, content in self.files.items():
            if "spdx" not in name:
                self.assertEqual((usr / name).read_bytes(), content, name)
        self.assertEqual(stat.S_IMODE((usr / "bin/vramscope").stat().st_mode), 0o755)
        self.assertEqual(stat.S_IMODE((usr / "lib/vramscope/empty").stat().st_mode), 0o644)
        self.assertEqual(os.readlink(self.cache() / "AppRun"), "usr/bin/vramscope")

    def test_what_its_head_is_linked_with_is_in_the_sbom(self):
        self.run_image()
        doc = self.cache() / "usr/share/doc/vramscope"
        text = (doc / "vramscope.spdx.json").read_text()
        for name in package.bundle.APPIMAGE_LINKED:
            self.assertIn('"name": "%s"' % name, text)
            self.assertTrue((doc / "licenses" / (name + ".txt")).stat().st_size > 100, name)

    def test_it_is_unpacked_once(self):
        self.run_image()
        marked = self.cache() / "usr/bin/vramscope"
        marked.chmod(0o755)
        marked.write_text("#!/bin/sh\necho the same folder\n")
        self.assertEqual(self.run_image().stdout, "the same folder\n")

    def test_two_first_starts_at_once(self):
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        started = [
            subprocess.Popen(
                [str(self.image), "x"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={"HOME": str(self.home)},
                **user,
            )
            for _ in range(6)
        ]
        for process in started:
            out, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 7, error)
            self.assertIn("started with: x", out)
        self.cache()

    def test_it_unpacks_into_this_folder_when_asked(self):
        done = self.run_image("--appimage-extract")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            (self.home / "squashfs-root/usr/lib/vramscope/vramscope").read_bytes(), self.big
        )
        self.assertNotEqual(self.run_image("--appimage-extract").returncode, 0)

    def test_limits_are_reported(self):
        for what, done in {
            "no folder": self.run_image(HOME=None),
            "not absolute": self.run_image(HOME="here"),
            "cannot be made": self.run_image(XDG_CACHE_HOME="/proc/none"),
        }.items():
            self.assertEqual(done.returncode, 4, what)
            self.assertIn("XDG_CACHE_HOME", done.stderr, what)
        done = self.run_image("--appimage-mount")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no option --appimage-mount", done.stderr)
        self.assertIn("FUSE is not needed", self.run_image("--appimage-help").stdout)
        self.assertEqual(self.run_image("--appimage-version").stdout.split()[0], "vramscope")

    def test_a_folder_writable_by_others_is_refused(self):
        self.run_image()
        self.cache().chmod(0o777)
        done = self.run_image()
        self.assertEqual(done.returncode, 4)
        self.assertIn("others can write to it", done.stderr)

    def test_a_truncated_file_fails_and_leaves_nothing(self):
        cut = self.folder / "cut.AppImage"
        data = self.image.read_bytes()
        cut.write_bytes(data[: elf_size(data) + 200_000])
        cut.chmod(0o755)
        done = self.run_image(image=cut)
        self.assertEqual(done.returncode, 4)
        self.assertTrue(done.stderr)
        cache = self.home / ".cache/vramscope/appimage"
        self.assertEqual(list(cache.iterdir()) if cache.exists() else [], [])

    def test_it_needs_no_library_of_this_computer(self):
        elf = installed_elf(self.image)
        self.assertEqual((elf.needed, elf.versions), ([], {}))

    def test_the_header_alone_identifies_the_file(self):
        done = subprocess.run([str(HEAD)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, re.compile("contains no image"))


def installed_elf(path):
    from elf import Elf

    return Elf(path)


if __name__ == "__main__":
    if not HEAD.exists():
        installed.skip(
            "this build has no head for an AppImage (libsquashfuse-dev is missing, or a "
            "sanitizer is on)"
        )
    if not shutil.which("mksquashfs"):
        installed.skip("mksquashfs is missing (Debian: squashfs-tools)")
    unittest.main()
