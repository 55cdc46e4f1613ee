"""Tests that the layering check finds violations."""

import pathlib
import tempfile
import unittest

from layering import Checker


def violations(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        checker = Checker(pathlib.Path(folder).resolve())
        checker.run()
        return checker.violations


class LayeringTest(unittest.TestCase):
    def test_allowed(self):
        self.assertEqual(
            violations(
                {
                    "profiler/trace/trace.h": "#pragma once\n",
                    "profiler/trace/reader.cpp": '#include "proto/trace.pb.h"\n',
                    "trainer/loop/loop.cpp": "#include <torch/torch.h>\n#include "
                    '"profiler/trace/trace.h"\n',
                    "ui/shell/window.cpp": "#include <QMainWindow>\n#include <imgui.h>\n"
                    '#include "profiler/trace/trace.h"\n',
                    "app/cli/main.cpp": '#include "ui/shell/window.h"\n#include '
                    '"trainer/trainer.h"\n',
                }
            ),
            [],
        )

    def expect_one(self, text, files):
        found = violations(files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])

    def test_upward(self):
        self.expect_one(
            "profiler/ may not include ui/", {"profiler/a.cpp": '#include "ui/timeline/x.h"\n'}
        )
        self.expect_one(
            "ui/ may not include trainer/", {"ui/a.cpp": '#include "trainer/trainer.h"\n'}
        )
        self.expect_one(
            "profiler/ may not include tests/", {"profiler/a.cpp": '#include "tests/fake.h"\n'}
        )

    def test_within_the_profiler(self):
        self.expect_one(
            "profiler/trace/ may not include profiler/analysis/",
            {"profiler/trace/a.cpp": '#include "profiler/analysis/analysis.h"\n'},
        )
        self.assertEqual(
            violations({"profiler/recording/a.cpp": '#include "profiler/allocator/rules.h"\n'}), []
        )

    def test_tables_of_absl(self):
        for name in ("flat_hash_map", "flat_hash_set", "node_hash_map"):
            self.expect_one(
                "profiler/base/hash_map.h", {"ui/a.cpp": f"#include <absl/container/{name}.h>\n"}
            )
        self.assertEqual(
            violations(
                {
                    "profiler/run/a.cpp": "#include <absl/container/btree_map.h>\n"
                    '#include "profiler/base/hash_map.h"\n'
                }
            ),
            [],
        )

    def test_certain_headers_alone(self):
        self.assertEqual(
            violations(
                {
                    "emulated/nvml/nvml.cpp": '#include "nvml/structs.h"\n#include '
                    '"cupti/records.h"\n'
                }
            ),
            [],
        )
        self.expect_one(
            "emulated/ may not include nvml/sampler.h",
            {"emulated/nvml/nvml.cpp": '#include "nvml/sampler.h"\n'},
        )

    def test_libraries(self):
        self.expect_one("LibTorch", {"profiler/a.h": "#include <c10/core/Allocator.h>\n"})
        self.expect_one("Qt", {"trainer/a.cpp": "#include <QString>\n"})
        self.expect_one("Qt", {"profiler/a.cpp": "#include <QtCore/QString>\n"})
        self.expect_one("protobuf only in .cpp", {"ui/a.h": '#include "proto/worker.pb.h"\n'})
        self.expect_one(
            "since version 22", {"profiler/a.cpp": "#include <google/protobuf/stubs/logging.h>\n"}
        )

    def test_threads_of_the_window(self):
        self.expect_one(
            "ask ui/jobs in place of QThreadPool",
            {"ui/panels/a.cpp": "QThreadPool::globalInstance()->start(job);\n"},
        )
        self.expect_one("in place of std::thread", {"ui/shell/a.h": "std::thread thread_;\n"})
        self.assertEqual(
            violations(
                {
                    "ui/jobs/a.cpp": "QThreadPool pool;\n",
                    "profiler/a.cpp": "std::thread t;\n",
                    "ui/a.cpp": "// no std::thread\n",
                }
            ),
            [],
        )

    def test_protobuf_meets_torch_through_a_header(self):
        self.expect_one(
            "cannot meet",
            {
                "trainer/taps.h": "#include <ATen/record_function.h>\n",
                "trainer/middle.h": '#include "trainer/taps.h"\n',
                "trainer/a.cpp": '#include "trainer/middle.h"\n#include "proto/worker.pb.h"\n',
            },
        )


if __name__ == "__main__":
    unittest.main()
