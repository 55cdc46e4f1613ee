"""Finds names in headers that contain a word from the column "replaces" of docs/glossary.md. The
number of such names may only shrink.

    python3 public_identifiers.py ROOT          exit status 1 if there are more than LEFT
    python3 public_identifiers.py ROOT --list   prints them with the first file that has each

Names are types, functions, constants and members of structs; names that end with "_" are private.
"""

import pathlib
import re
import sys

LEFT = 0
FOLDERS = ("app", "cupti", "emulated", "nvml", "profiler", "trainer", "ui")
# Words of the column "replaces" that names may still contain, because they are also ordinary
# programming terms. For example, "fill" must not mean memset, but a rectangle can be filled.
ORDINARY = set(
    "kind what row link copy region success counted piece hole top bar who record known request "
    "measurement "
    "prediction loop toggle tape lane live iteration machine books helper fill kept".split()
)
# Names that contain such a word as a technical term, such as the moments of Adam.
TERMS = {"QuantisedMoment"}
# Vague words that the project used before, which the glossary does not list.
MORE = {"said", "told", "tells", "tell", "mine", "humps", "others", "anybody", "nobody"}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|#include[^\n]*", re.S)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
NAME = re.compile(r"\b[A-Za-z]\w*[A-Za-z0-9]\b(?!_)")


def words_of(identifier):
    return [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier)]


def replaced_words(root):
    words = set(MORE)
    for line in (root / "docs/glossary.md").read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) != 3 or cells[0] in ("term", "---"):
            continue
        for entry in re.split(r"[,;]", cells[2]):
            # Skips entries such as "lane (kept in code of ...)", because these words are allowed in
            # some places.
            if re.fullmatch(r"[a-z]+(?: \([^)]*\))?", entry.strip()) and "(kept" not in entry:
                words.add(entry.strip().split()[0])
    return words - ORDINARY


def main():
    root = pathlib.Path(sys.argv[1])
    words = replaced_words(root)
    assert {"card", "picture", "moment", "ghost"} <= words, words
    assert words_of("DrawPictureOf_card2") == ["draw", "picture", "of", "card", "2"]
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.h")):
            code = TEXT.sub('""', COMMENT.sub(" ", path.read_text(encoding="utf-8")))
            for name in NAME.findall(code):
                if name not in TERMS and not words.isdisjoint(words_of(name)):
                    found.setdefault(name, str(path.relative_to(root)))
    if "--list" in sys.argv:
        print(
            "\n".join(
                f"{name:32} {path}" for name, path in sorted(found.items(), key=lambda f: f[1])
            )
        )
    print(
        f"{len(found)} names in headers contain a word that the glossary replaces; at most "
        f"{LEFT} are allowed"
    )
    if len(found) > LEFT and "--list" not in sys.argv:
        print("rename them by docs/glossary.md; --list prints them")
    return 1 if len(found) > LEFT and "--list" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
