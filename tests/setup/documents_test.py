"""Tests the documentation checks on a generated repository."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import links
import readme_sizes

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("profiler/types.h", "")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def broken(self):
        ends = links.sources(self.root)
        return [
            what
            for path in links.markdown_files(self.root)
            for _, what in links.broken(self.root, path, ends)
        ]


class Links(Repository):
    def test_whole_ones_are_none(self):
        self.write(
            "README.md",
            "[a](docs/a.md#two-words) ![p](p.png) [web](https://example.org/x)\n"
            "`profiler/types.h` `types.h`\n"
            "    [not a link](nowhere.md)\n",
        )
        self.write("docs/a.md", "# Two words\n[up](../README.md) [here](#two-words)\n")
        self.write("p.png", "")
        self.assertEqual(self.broken(), [])

    def test_a_missing_file(self):
        self.write("README.md", "[a](docs/a.md)\n")
        self.assertEqual(self.broken(), ["docs/a.md does not exist"])

    def test_a_missing_heading(self):
        self.write("README.md", "# Top\n[a](#other)\n")
        self.assertEqual(self.broken(), ["#other: README.md has no such heading"])

    def test_a_link_that_leaves_the_repository(self):
        self.write("README.md", "[a](../elsewhere.md)\n")
        self.assertEqual(self.broken(), ["../elsewhere.md is outside of the repository"])

    def test_names_in_backticks(self):
        self.write(
            "README.md", "`profiler/gone.h`, `gone.h` and `c10/cuda/CUDACachingAllocator.cpp`\n"
        )
        self.assertEqual(
            self.broken(), ["`profiler/gone.h` does not exist", "`gone.h` does not exist"]
        )


class Sizes(Repository):
    def faults(self):
        return list(readme_sizes.faults(self.root))

    def test_the_longest_that_are_allowed(self):
        self.write("README.md", "line\n" * 120)
        self.write("profiler/README.md", "line\n" * 100)
        self.assertEqual(self.faults(), [])

    def test_one_line_more(self):
        self.write("README.md", "line\n" * 121)
        self.write("profiler/README.md", "line\n" * 101)
        self.assertEqual(
            sorted(self.faults()),
            [
                "README.md has 121 lines, 120 are allowed",
                "profiler/README.md has 101 lines, 100 are allowed",
            ],
        )

    def test_words_in_all(self):
        self.write("profiler/README.md", ("word " * 30 + "\n") * 90)
        self.assertEqual(self.faults(), [])
        for number in range(8):
            self.write(f"profiler/{number}/README.md", ("word " * 30 + "\n") * 90)
        self.assertEqual(self.faults(), ["READMEs have 24300 words, 20000 are allowed"])


class Results(Repository):
    def run_results(self, *options):
        return subprocess.run(
            [sys.executable, str(ROOT / "tests/results.py"), "--root", str(self.root), *options],
            capture_output=True,
            text=True,
        )

    def setUp(self):
        super().setUp()
        for name in ("tests/accuracy/run.py", "tests/accuracy/rows.json"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "docs/results/data").mkdir(parents=True)

    def test_a_changed_figure_is_found(self):
        row = {
            "equal": 7,
            "total": 7,
            "peak": {"loop": 10, "program": 10},
            "reserved": {"loop": 20, "program": 20},
            "commit": "abc",
        }
        data = self.root / "docs/results/data/oracle.json"
        data.write_text(json.dumps({"gpt2": row}))
        self.assertEqual(self.run_results("--write").returncode, 0)
        self.assertEqual(self.run_results().returncode, 0)
        page = (self.root / "docs/results/oracle.md").read_text()
        self.assertIn("| gpt2 | 7 of 7 | 10 | 20 |", page)
        row["peak"]["loop"] = 12
        data.write_text(json.dumps({"gpt2": row}))
        done = self.run_results()
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/results/oracle.md", done.stdout)
        self.run_results("--write")
        self.assertIn(
            "| gpt2 | 7 of 7 | 10, loop +2 | 20 |",
            (self.root / "docs/results/oracle.md").read_text(),
        )

    def test_a_recording_whose_figures_differ_is_named(self):
        files = {
            "a.trace": {"comparisons": 1500, "failed": [], "skipped": []},
            "b.trace": {"comparisons": 500, "failed": ["info"], "skipped": []},
            "c.prof": {"refused": "c.prof is no trace"},
        }
        data = self.root / "docs/results/data/selfcheck.json"
        data.write_text(json.dumps({"golden": {"commit": "abc", "files": files}}))
        self.run_results("--write")
        page = (self.root / "docs/results/selfcheck.md").read_text()
        self.assertIn("| golden | 2 | 2,000 | b.trace |", page)
        self.assertIn("- c.prof: c.prof is no trace", page)

    def test_rows_that_did_not_run_and_errors(self):
        rows = json.loads((self.root / "tests/accuracy/rows.json").read_text())
        first, second, third = rows[0]["rows"][:3]
        (self.root / "docs/results/data/accuracy.json").write_text(
            json.dumps(
                {
                    first["name"]: {"planned": first["measured"], "commit": "abc"},
                    second["name"]: {"planned": None, "commit": "abc"},
                    third["name"]: {"planned": third["measured"] * 11 // 10, "commit": "abc"},
                }
            )
        )
        self.run_results("--write")
        page = (self.root / "docs/results/accuracy.md").read_text()
        self.assertIn(
            f"| {first['name']} | {first['measured']:,} | {first['measured']:,} | 0 |", page
        )
        self.assertIn(f"| {second['name']} | {second['measured']:,} | did not run |  |", page)
        self.assertIn("| +10.00 % |", page)
        self.assertIn("3 of ", page)


if __name__ == "__main__":
    unittest.main()
