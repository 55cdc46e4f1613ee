"""Checks that READMEs are short. The top-level README has at most 120 lines, others at most 100,
and all together at most 20,000 words.

    python3 readme_sizes.py ROOT        prints longer READMEs; exit status 1 if there are any

Measurements belong in docs/results, history in git, and longer texts in docs/.
"""

import pathlib
import sys

import links

MOST_LINES, MOST_LINES_AT_TOP, MOST_WORDS = 100, 120, 20_000


def faults(root):
    words = 0
    for path in links.markdown_files(root):
        if path.name != "README.md":
            continue
        text = path.read_text(encoding="utf-8")
        words += len(text.split())
        lines = text.splitlines()
        most = MOST_LINES_AT_TOP if path.parent == root else MOST_LINES
        name = path.relative_to(root)
        if len(lines) > most:
            yield f"{name} has {len(lines)} lines, {most} are allowed"
    if words > MOST_WORDS:
        yield f"READMEs have {words} words, {MOST_WORDS} are allowed"


def main():
    wrong = list(faults(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(wrong) or "READMEs: none is too long")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
