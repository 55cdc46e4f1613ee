"""No installed file needs newer libraries than documented. Libraries that are loaded into users'
programs may need glibc 2.28 and no C++ library. All other files may need glibc 2.35 and GCC 12's
C++ library (Ubuntu 22.04, Debian 12)."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import installed
from elf import Elf, is_elf

INJECTED = (2, 28)
OTHERS = (2, 35)
GLIBCXX = (3, 4, 30)
LINKED_BY_INJECTED = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "libvramscope-emulated.so",
    "libnvidia-ml.so.1",
}


class SymbolVersions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tree = installed.install(pathlib.Path(cls.folder.name, "tree"))
        cls.files = [
            path for path in sorted(cls.tree.rglob("*")) if path.is_file() and is_elf(path)
        ]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def injected(self):
        return [path for path in self.files if "emulated" in path.parts]

    def test_there_are_files(self):
        names = {path.name for path in self.files}
        self.assertLessEqual(
            {
                "vramscope",
                "libvramscope-emulated.so",
                "libvramscope-audit.so",
                "libvramscope-isolation.so",
                "libvramscope-activities.so",
                "libcuda.so.1",
                "libcudart.so.12",
                "nvidia-smi",
            },
            names,
        )

    def test_libraries_that_are_loaded_into_programs(self):
        for path in self.injected():
            with self.subTest(path.name):
                elf = Elf(path)
                self.assertLessEqual(elf.newest("GLIBC"), INJECTED, elf.versions)
                self.assertEqual(elf.newest("GLIBCXX"), ())
                self.assertLessEqual(set(elf.needed), LINKED_BY_INJECTED)

    def test_everything_else(self):
        for path in self.files:
            if path in self.injected():
                continue
            with self.subTest(path.name):
                elf = Elf(path)
                self.assertLessEqual(elf.newest("GLIBC"), OTHERS, elf.versions)
                self.assertLessEqual(elf.newest("GLIBCXX"), GLIBCXX)

    def test_no_folder_of_this_computer_is_searched(self):
        for path in self.files:
            with self.subTest(path.name):
                for folder in Elf(path).runpath:
                    self.assertTrue(folder.startswith("$ORIGIN"), folder)

    def test_the_reader_sees_what_readelf_sees(self):
        if not shutil.which("readelf"):
            self.skipTest("there is no readelf")
        path = self.tree / "bin/vramscope"
        text = subprocess.run(
            ["readelf", "-dVW", str(path)],
            capture_output=True,
            text=True,
            env=dict(os.environ, LC_ALL="C"),
        ).stdout
        elf = Elf(path)
        self.assertTrue(elf.needed)
        for name in elf.needed:
            self.assertIn("[%s]" % name, text)
        for versions in elf.versions.values():
            for version in versions:
                self.assertIn("Name: %s " % version, text)


if __name__ == "__main__":
    if os.environ.get("VRAMSCOPE_OLD_GLIBC") != "1":
        installed.skip(
            "this build links what it loads into programs against its own C library (sanitizers, "
            "another processor)"
        )
    unittest.main()
