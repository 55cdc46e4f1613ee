"""Checks the links of the Markdown files: every relative target and every anchor must exist. Needs
no network.

    python3 links.py ROOT        prints each broken link as file:line; exit status 1 if there is one

Checks links, `[name](path#anchor)`, and pictures. Also checks that file names in backticks exist:
paths from a folder of the repository (`profiler/trace/types.h`), and names of C++ files in any
folder (`types.h`).
"""

import pathlib
import re
import subprocess
import sys
import urllib.parse

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
CODE = re.compile(r"`([^`]+)`")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+/?$")
SOURCE = re.compile(r"(\.\./)*([\w.-]+/)*[\w-]+\.(h|cpp)$")
ELSEWHERE = ("c10/", "torch/")  # sources of other projects
SKIPPED = {"build", "dist", "node_modules"}


def markdown_files(root):
    """Returns the Markdown files that git tracks. Without git (in an unpacked archive), returns all
    that are not in build folders."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "*.md"], capture_output=True, text=True
    )
    if listed.returncode == 0 and listed.stdout:
        return [
            root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()
        ]
    return [
        path
        for path in sorted(root.rglob("*.md"))
        if not any(
            part in SKIPPED or part.startswith(".") for part in path.relative_to(root).parts[:-1]
        )
    ]


def lines_outside_code(text):
    """Yields (number, line) for all lines outside fenced and indented blocks of code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("    ", "\t")):
            yield number, line


def anchors(path):
    """Returns the anchors of a file's headings, formed as GitHub does: lower case, no punctuation,
    hyphens for spaces, and a number after repeated anchors."""
    found = {}
    for _, line in lines_outside_code(path.read_text(encoding="utf-8")):
        match = HEADING.match(line)
        if not match:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1))
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return set(found)


def sources(root):
    """Returns the paths of all C++ files and all of their suffixes: "types.h", "trace/types.h",
    ..."""
    ends = set()
    for folder in (
        entry for entry in root.iterdir() if entry.is_dir() and entry.name not in SKIPPED
    ):
        for path in folder.rglob("*"):
            if path.suffix in (".h", ".cpp") and not folder.name.startswith("."):
                parts = path.relative_to(root).parts
                ends.update("/".join(parts[first:]) for first in range(len(parts)))
    return ends


def broken_link(root, path, target):
    """Returns what is wrong with a link, or None."""
    if SCHEME.match(target):
        return None
    name, _, anchor = urllib.parse.unquote(target).partition("#")
    file = (path.parent / name).resolve() if name else path
    if not file.is_relative_to(root):
        return f"{target} is outside of the repository"
    if not file.exists():
        return f"{target} does not exist"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{target}: {file.name} has no such heading"
    return None


def broken(root, path, ends):
    """Yields (line, problem) for each broken link of a file. `ends` is what sources(root)
    returns."""
    folders = {entry.name for entry in root.iterdir() if entry.is_dir()} - SKIPPED
    lines = dict(lines_outside_code(path.read_text(encoding="utf-8")))
    # Joins the lines, because the text of a link may continue in the next line.
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    for match in LINK.finditer(text):
        what = broken_link(root, path, match.group(1))
        if what:
            yield text.count("\n", 0, match.start()) + 1, what
    for number, line in lines.items():
        for word in CODE.findall(line):
            if "NAME" in word:  # NAME is a wildcard
                continue
            if PATH.match(word) and word.split("/")[0] in folders:
                if not (root / word).exists() and not (path.parent / word).exists():
                    yield number, f"`{word}` does not exist"
            elif SOURCE.match(word) and not word.startswith(ELSEWHERE):
                if word.lstrip("./") not in ends:
                    yield number, f"`{word}` does not exist"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files, ends = markdown_files(root), sources(root)
    wrong = [
        f"{path.relative_to(root)}:{number}: {what}"
        for path in files
        for number, what in broken(root, path, ends)
    ]
    print("\n".join(wrong + [f"{len(files)} files, {len(wrong)} broken links"]))
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
