"""Provides a separate working folder for a test. The folder must stay empty, so it reveals commands
that write to paths that they did not get.

    setUpModule = working_folder.enter
"""

import os
import shutil
import tempfile
import unittest


def enter():
    before, folder = os.getcwd(), tempfile.mkdtemp(prefix="vramscope-working-folder-")
    os.chdir(folder)

    def leave():
        os.chdir(before)
        left = sorted(os.listdir(folder))
        shutil.rmtree(folder)
        if left:
            raise AssertionError("left in the working folder: %s" % ", ".join(left))

    unittest.addModuleCleanup(leave)
