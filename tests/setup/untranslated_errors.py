"""Counts the errors whose text cannot be translated: absl statuses and NoteError() with English
text that does not use profiler/base/i18n.h or tr(). The number in each folder may only shrink.

    python3 untranslated_errors.py ROOT          exit status 1 if a folder has more than LEFT allows
    python3 untranslated_errors.py ROOT --list   prints the places

Also counts calls of functions in the same file that create a status from a text argument, such as
`absl::Status Bad(std::string text)`.
"""

import collections
import pathlib
import re
import sys

# The number of untranslated errors that each folder may have; 0 if not listed.
LEFT = {}
FOLDERS = ("app", "profiler", "ui")
# Errors in these files need not be translated. The MCP server returns English JSON. The AppImage's
# loader is not a part of the program. The other files report errors in resources/, which tests of
# the project find.
EXEMPT = (
    "app/cli/mcp/",
    "app/appimage/",
    "profiler/run/check_catalogue.cpp",
    "profiler/run/catalogue.cpp",
    "profiler/run/device_sources.cpp",
    "profiler/reproduce/experiment.cpp",
)
# Parts of texts that are the same in every language: options, placeholders, escapes.
SYSTEM_CALLS = r"\b(?:fork|pipe|socket|unshare|pivot_root)\b"
NO_ENGLISH = re.compile(SYSTEM_CALLS + r"|--[a-z][a-z-]*|\{[^{}]*\}|\\.")
STATUS = re.compile(r"(?:absl::\w+Error|\b(?:NoteError|InvalidModelConfig|Fail))\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Calls that translate their texts.
TRANSLATED = re.compile(r"(?:i18n::(?:Text|Format|English)|TEXT_MARK|\btr)\(")
# Matches a function or lambda that has a text as a parameter: its name and its parameters.
FUNCTION = re.compile(
    r"(\w+)(?:\s*=\s*\[[^\]]*\]\s*)?\(([^(){};]*\b(?:string|string_view|char)\b[^(){};]*)\)"
    r"(?:\s*(?:const|override))*\s*(?:->\s*[\w:<>]+\s*)?\{"
)

CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?:\[\])?\s*=\s*((?:\"(?:[^\"\\\n]|\\.)*\"\s*)+);")


def end_of_call(text, at):
    """Returns the position after the parenthesis that closes the parenthesis at `at`."""
    depth = 0
    while at < len(text):
        c = text[at]
        if c == '"':
            if text[at - 1] == "R":
                tag = re.match(r'"([^(]*)\(', text[at:]).group(1)
                at = text.index(f'){tag}"', at) + len(tag) + 1
            else:
                at = LITERAL.match(text, at).end() - 1
        elif c == "'" and not text[at - 1].isalnum():
            at = text.index("'", at + (3 if text[at + 1] == "\\" else 1))
        elif c in "({":
            depth += 1
        elif c in ")}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise ValueError("a parenthesis is not closed")


PARAMETER = re.compile(r"(?<!<)(?:std::string|std::string_view|const char\*)[&\s]*\s(\w+)")


def english_constants(code):
    """Returns the names of the text constants in the file that are not marked for translation."""
    return {name for name, value in CONSTANT.findall(code) if has_english(value)}


def without_translated(arguments):
    while match := TRANSLATED.search(arguments):
        arguments = (
            arguments[: match.start()] + arguments[end_of_call(arguments, match.end() - 1) :]
        )
    return arguments


def has_english(arguments):
    """Returns whether the arguments contain a word of two or more letters outside translated
    texts."""
    text = " ".join(LITERAL.findall(without_translated(arguments)))
    return re.search(r"[A-Za-z]{2}", NO_ENGLISH.sub(" ", text)) is not None


def places(source):
    """Returns the lines of a file that have an error without a translation."""
    code = re.sub(
        r"//[^\n]*", lambda m: m.group() if '"' in m.group() else " " * len(m.group()), source
    )
    constants, makers, found = english_constants(code), set(), []
    for call in STATUS.finditer(code):
        arguments = code[call.end() - 1 : end_of_call(code, call.end() - 1)]
        outside = LITERAL.sub("", without_translated(arguments))
        if has_english(arguments) or any(re.search(rf"\b{name}\b", outside) for name in constants):
            found.append(call.start())
        functions = list(FUNCTION.finditer(code, max(0, call.start() - 600), call.start()))
        if functions and "\n}" not in code[functions[-1].end() : call.start()]:
            name, parameters = functions[-1].groups()
            given = PARAMETER.findall(parameters)
            if any(re.search(rf"\b{p}\b", outside) for p in given) and name not in (
                "if",
                "for",
                "while",
            ):
                makers.add((name, functions[-1].start()))
    for name, defined in makers:
        for call in re.finditer(rf"(?<![\w.:>]){name}\(", code):
            if call.start() == defined:
                continue
            if has_english(code[call.end() - 1 : end_of_call(code, call.end() - 1)]):
                found.append(call.start())
    return sorted({source.count("\n", 0, at) + 1 for at in found})


def main():
    root = pathlib.Path(sys.argv[1])
    # Tests places() itself with examples.
    assert places('absl::DataLossError("it is cut")') and not places(
        'absl::DataLossError(i18n::Text("it"))'
    )
    assert places(
        'Status Bad(std::string t) { return absl::DataLossError(t); }\nBad("is cut");'
    ) == [2]
    assert not places('absl::DataLossError(fmt::format("{}: {}", a, b))')
    counts, lines = collections.Counter(), []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            name = path.relative_to(root)
            if str(name).startswith(EXEMPT):
                continue
            for line in places(path.read_text(encoding="utf-8")):
                counts[str(name.parent)] += 1
                lines.append((str(name.parent), f"{name}:{line}"))
    if "--list" in sys.argv:
        print("\n".join(line for _, line in lines))
        print(dict(counts))
        return 0
    failed = False
    for folder in sorted(counts | LEFT):
        if counts[folder] > LEFT.get(folder, 0):
            failed = True
            print(
                f"{folder}: {counts[folder]} errors are not translatable, {LEFT.get(folder, 0)} "
                f"are allowed:"
            )
            print("\n".join(f"  {line}" for where, line in lines if where == folder))
        elif counts[folder] < LEFT[folder]:
            print(f"{folder}: lower its number in LEFT to {counts[folder]}")
    if failed:
        print("write them with i18n::Text or i18n::Format (profiler/base/i18n.h)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
