#!/usr/bin/env python3
"""Brings resources/translations/*.ts up to date with the sources, or checks that they are.

    python3 resources/translations/update.py            writes the catalogues (needs lupdate)
    python3 resources/translations/update.py --check    prints what is missing; exits with 1
                                                        if anything is

Texts come from these places: tr() in ui/ (lupdate reads it), i18n::Text, i18n::Format,
i18n::English and TEXT_MARK in ui/, profiler/ and app/ (and the literals of functions
`std::string_view Name(`), the help of commands and options in app/cli, assumptions and toggles in
emulated/, and the catalogues of techniques, published experiments and GPUs. All texts except those
of tr() have the context "text".
"""

import argparse
import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources/translations"
LANGUAGES = ["zh_CN"]
# Files with functions such as Name() whose return values the window shows.
NAMES = [
    "profiler/trace/types.cpp",
    "profiler/trace/activities.cpp",
    "profiler/trace/block_evidence.cpp",
    "profiler/query/things.cpp",
    "profiler/query/idle_gaps.cpp",
    "profiler/query/operand_links.cpp",
    "profiler/explain/trace_diff.cpp",
    "profiler/replay/releases.cpp",
    "profiler/inference/rules.cpp",
]
# Keys of catalogue.json whose values are shown and so are translated.
CATALOGUE_KEYS = {"group", "title", "explanation", "help", "label", "why", "implies", "assumes"}
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
CALL = re.compile(rf"(?:i18n::(?:Text|Format|English)|TEXT_MARK)\(\s*((?:{LITERAL}\s*)+)")
NAME = re.compile(r"std::string_view (?:Name|Rule|UseText|RuleName)\([^)]*\) \{\n(.*?)\n\}", re.S)
# Matches the declaration of a command-line option. The last argument is the help text.
DECLARATION = re.compile(r"(?:add_(?:option|flag)\w*(?:<[^<>()]*>)?|->footer)\(")
# Matches calls that record an assumption of a plan, and Python calls that report a missing hook.
ASSUMED = re.compile(
    rf"\b(?:[Aa]ssume(?:_of)?|AnswerAssumed|part|lacks)\(\s*((?:{LITERAL}\s*)+)[,)]"
)
HELP = re.compile(rf"\.help =\s*((?:{LITERAL}\s*)+)")
TABLE = re.compile(r"kNames = \{\n(.*?)\n\};", re.S)


def lupdate():
    for name in ("lupdate", "lupdate-qt6"):
        found = shutil.which(name, path="/usr/lib/qt6/bin:/usr/lib64/qt6/bin") or shutil.which(name)
        if found:
            return found
    return None


def value(literals):
    """Joins adjacent string literals, as a compiler does."""
    parts = re.findall(LITERAL, literals)
    return (
        "".join(
            re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m.group(1), 16)), p[1:-1])
            for p in parts
        )
        .replace('\\"', '"')
        .replace("\\n", "\n")
        .replace("\\\\", "\\")
    )


def last_argument(source, start):
    """Returns the last argument of the call whose arguments begin at `start`."""
    depth, begin, at = 0, start, start
    while at < len(source):
        literal = re.compile(LITERAL).match(source, at)
        if literal:
            at = literal.end()
            continue
        if source[at] in "([{":
            depth += 1
        elif source[at] in ")]}":
            if depth == 0:
                return source[begin:at].strip()
            depth -= 1
        elif source[at] == "," and depth == 0:
            begin = at + 1
        at += 1
    return ""


def texts_of_help():
    texts = {}
    for path in sorted((ROOT / "app/cli").rglob("*.cpp")):
        source = path.read_text(encoding="utf-8")
        found = [
            last_argument(source, m.end()) for m in DECLARATION.finditer(source)
        ] + HELP.findall(source)
        for argument in found:
            if re.fullmatch(rf"(?:{LITERAL}\s*)+", argument):
                texts.setdefault(value(argument), str(path.relative_to(ROOT)))
    texts.pop("", None)
    return texts


def texts_of_code():
    texts = {}
    for folder in ("ui", "profiler", "app"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h") or path.name.startswith("i18n."):
                continue
            for match in CALL.finditer(path.read_text(encoding="utf-8")):
                texts.setdefault(value(match.group(1)), str(path.relative_to(ROOT)))
    for name in NAMES:
        source = (ROOT / name).read_text(encoding="utf-8")
        for body in NAME.findall(source) + TABLE.findall(source):
            for literals in re.findall(rf"((?:{LITERAL}\s*)+)", body):
                texts.setdefault(value(literals), name)
    texts.pop("", None)
    return texts


def texts_of_emulated():
    """Returns the assumptions that plans of programs record, except assumptions with arguments,
    which are in profiler/trace/assumptions.cpp."""
    texts = {}
    for path in sorted((ROOT / "emulated").rglob("*")):
        if path.suffix in (".cpp", ".py"):
            for match in ASSUMED.finditer(path.read_text(encoding="utf-8")):
                texts.setdefault(value(match.group(1)), str(path.relative_to(ROOT)))
    return texts


def texts_of_toggles():
    """Returns the labels and explanations of the toggles of programs, and the reasons for which a
    toggle does not apply."""
    texts = {}

    def add(node, path):
        if isinstance(node, ast.IfExp):
            add(node.body, path)
            add(node.orelse, path)
        elif (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
        ):
            texts.setdefault(re.sub("%[a-z]", "{}", node.left.value), str(path.relative_to(ROOT)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
            texts.setdefault(node.value, str(path.relative_to(ROOT)))

    for path in sorted((ROOT / "emulated/python/vramscope/toggles").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign):
                names = getattr(node.targets[0], "elts", node.targets)
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for name, given in zip(names, values):
                    if getattr(name, "id", getattr(name, "attr", "")) in (
                        "label",
                        "explains",
                        "why",
                        "applies_to",
                    ):
                        add(given, path)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (
                "refuse",
                "override",
                "reject",
                "already",
                "withdraw",
                "withdraw_since",
                "unsuited",
            ):
                add(node.args[0], path)
            elif isinstance(node, ast.FunctionDef) and node.name == "absent":
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return):
                        add(inner.value, path)
    return texts


def texts_of_catalogue():
    texts = {}

    def walk(node, key, where):
        if isinstance(node, dict):
            for name, child in node.items():
                walk(child, key if (key, name) == ("assumes", "what") else name, where)
        elif isinstance(node, list):
            for child in node:
                walk(child, key, where)
        elif isinstance(node, str) and key in CATALOGUE_KEYS and re.search("[A-Za-z]{2}", node):
            texts.setdefault(node, where)

    for path in [ROOT / "resources/catalogue.json"]:
        walk(json.loads(path.read_text(encoding="utf-8")), "", str(path.relative_to(ROOT)))
    return texts


def texts_of_experiments():
    """Returns the texts that `reproduce` and the window's page of published experiments show."""
    texts = {}
    for path in sorted((ROOT / "resources/experiments").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        found = [opened.get("what", "") for opened in document.get("open", [])]
        for experiment in document["experiments"]:
            found += [experiment["title"], experiment.get("note", "")]
            for figure in experiment.get("figures", []):
                found += [figure.get("why", ""), figure["name"] if " " in figure["name"] else ""]
        for text in filter(None, found):
            texts.setdefault(text, str(path.relative_to(ROOT)))
    return texts


def texts_of_devices():
    """Returns the texts that state where the figures of GPUs are from. Leaves out assumptions that
    match a format in device_sources.cpp, because the format is translated."""
    formats = [
        re.compile(".+".join(map(re.escape, value(text).split("{}"))))
        for text in CALL.findall(
            (ROOT / "profiler/run/device_sources.cpp").read_text(encoding="utf-8")
        )
    ]
    documents = json.loads((ROOT / "resources/device_sources.json").read_text(encoding="utf-8"))
    texts = {document["title"]: "resources/device_sources.json" for document in documents.values()}
    for path in sorted((ROOT / "resources/devices").glob("*.json")):
        for device in json.loads(path.read_text(encoding="utf-8")):
            found = [
                how
                for how in device.get("assumed", {}).values()
                if not any(f.fullmatch(how) for f in formats)
            ]
            for name in device.get("sources", {}):
                document, _, part = name.partition("/")
                if part and name not in documents and "address" not in documents[document]:
                    found.append(f"{part} ({documents[document]['title']})")
            for text in found:
                texts.setdefault(text, str(path.relative_to(ROOT)))
    return texts


def write_literals(path, texts):
    """Writes `texts` as literals in a C++ file for lupdate, which reads neither JSON nor
    i18n::Text()."""
    lines = ["#include <QtCore>"]
    for text in sorted(texts):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'const char* _ = QT_TRANSLATE_NOOP("text", "{escaped}");')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def update(ts, tool):
    with tempfile.TemporaryDirectory() as scratch:
        texts = (
            texts_of_catalogue()
            | texts_of_experiments()
            | texts_of_devices()
            | texts_of_emulated()
            | texts_of_toggles()
            | texts_of_help()
            | texts_of_code()
        )
        literals = pathlib.Path(scratch) / "texts.cpp"
        write_literals(literals, texts)
        subprocess.run(
            [
                tool,
                "-silent",
                "-locations",
                "none",
                "-no-obsolete",
                "-no-ui-lines",
                "-I",
                str(ROOT),
                str(ROOT / "ui"),
                str(literals),
                "-target-language",
                ts.stem.split("_", 1)[1],
                "-ts",
                str(ts),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
        )


def messages(ts):
    found = {}
    for context in ET.parse(ts).getroot().findall("context"):
        for message in context.findall("message"):
            key = (
                context.findtext("name"),
                message.findtext("source"),
                message.findtext("comment"),
            )
            found[key] = message.find("translation")
    return found


def check(ts, tool):
    with tempfile.TemporaryDirectory() as scratch:
        fresh = pathlib.Path(scratch) / ts.name
        shutil.copy(ts, fresh)
        update(fresh, tool)
        now, had = messages(fresh), messages(ts)
    problems = [f"{ts.name}: not in the catalogue: {k[0]}: {k[1]!r}" for k in now if k not in had]
    problems += [
        f"{ts.name}: not in the code any more: {k[0]}: {k[1]!r}" for k in had if k not in now
    ]
    return problems


def unknown_reasons():
    """Returns an error for each reason with arguments that profiler/program/toggles.cpp does not
    list."""
    known = texts_of_code()
    return [
        f"{where}: not in kReasons of profiler/program/toggles.cpp: {text!r}"
        for text, where in texts_of_toggles().items()
        if "{}" in text and text not in known
    ]


def first_argument(source, start):
    """Returns the first argument of the call whose arguments begin at `start`, with literals as
    they are written."""
    depth, at = 0, start
    while at < len(source):
        literal = re.compile(LITERAL).match(source, at)
        if literal:
            at = literal.end()
            continue
        if source[at] in "([{":
            depth += 1
        elif depth == 0 and source[at] in "),":
            break
        elif source[at] in ")]}":
            depth -= 1
        at += 1
    return source[start:at].strip()


def formats_of_python(node):
    """Returns the formats of all texts that the expression can have, with {} in place of each part
    that is not a literal."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return formats_of_python(node.body) + formats_of_python(node.orelse)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return [re.sub("%[a-z]", "{}", text) for text in formats_of_python(node.left)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [
            left + right
            for left in formats_of_python(node.left)
            for right in formats_of_python(node.right)
        ]
    return ["{}"]


def format_of_cpp(expression):
    """Returns the format of the text of a C++ expression, with {} in place of each operand of +
    that is not a literal."""
    text, at = "", 0
    for match in re.finditer(rf"(?:{LITERAL}\s*)+", expression):
        text += ("{}" if expression[at : match.start()].strip(" +\n") else "") + value(
            match.group()
        )
        at = match.end()
    return text + ("{}" if expression[at:].strip(" +\n") else "")


def formats_of_assumptions():
    """Returns {format: file} of the assumptions in emulated/, with {} for each argument. The format
    of a text that is not a literal at all is "{}"."""
    formats = {}
    for path in sorted((ROOT / "emulated").rglob("*")):
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = (
                    getattr(node.func, "attr", getattr(node.func, "id", ""))
                    if isinstance(node, ast.Call)
                    else ""
                )
                if name in ("assume", "assume_of", "lacks", "part") and node.args:
                    for text in formats_of_python(node.args[0]):
                        formats.setdefault(text, str(path.relative_to(ROOT)))
        elif path.suffix == ".cpp":
            source = path.read_text(encoding="utf-8")
            for call in re.finditer(r"\b(?:Assume|AnswerAssumed)\(", source):
                argument = first_argument(source, call.end())
                if '"' in argument and "?" not in argument:
                    formats.setdefault(format_of_cpp(argument), str(path.relative_to(ROOT)))
    return formats


def unknown_assumptions():
    """Returns an error for each assumption with arguments that profiler/trace/assumptions.cpp does
    not list. An argument may stand for any part of a listed text."""
    known = list(texts_of_code() | texts_of_emulated())

    def is_known(text):
        pattern = re.compile(".+".join(map(re.escape, text.replace("{}.{}", "{}").split("{}"))))
        return any(pattern.fullmatch(each) for each in known)

    return [
        f"{where}: not in kFormats of profiler/trace/assumptions.cpp: {text!r}"
        for text, where in formats_of_assumptions().items()
        if text != "{}" and not is_known(text)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    tool = lupdate()
    if tool is None:
        print("lupdate was not found (Debian: qt6-l10n-tools)", file=sys.stderr)
        return 77
    problems = unknown_reasons() + unknown_assumptions()
    for language in LANGUAGES:
        ts = FOLDER / f"vramscope_{language}.ts"
        if options.check:
            problems += check(ts, tool)
        else:
            update(ts, tool)
    print("\n".join(problems))
    if problems:
        print("run resources/translations/update.py and translate what is unfinished")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
