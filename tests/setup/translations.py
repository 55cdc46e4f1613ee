"""Checks the catalogues of the window's languages. Every text is translated, with its placeholders,
and the catalogues agree with the code. The second part needs lupdate; without it, the part is
skipped with a message on stderr.

    python3 translations.py ROOT        prints each fault. Exit status 1 if there are any, and 77
                                        if a part was skipped and the rest is right
"""

import collections
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

QT = re.compile(r"%L?(?:\d{1,2}|n)")
BRACES = re.compile(r"\{([^{}]*)\}")


def braces(text):
    """Returns the placeholders of a text ({} (automatic), {0}, {name}), with their formats after
    the colon."""
    fields, automatic, numbered = [], 0, 0
    for field in BRACES.findall(text):
        name, _, form = field.partition(":")
        if name == "":
            name, automatic = str(automatic), automatic + 1
        elif name.isdigit():
            numbered += 1
        fields.append((name, form))
    return fields, automatic > 0 and numbered > 0


def faults_of(source, text):
    if collections.Counter(QT.findall(source)) != collections.Counter(QT.findall(text)):
        yield "other %-placeholders"
    fields, _ = braces(source)
    translated, mixed = braces(text)
    if mixed:
        yield "numbered and automatic placeholders together"
    # In "{} block{}", the second placeholder is for the English plural "s", which translations may
    # omit.
    plural = {
        str(i) for i, m in enumerate(BRACES.finditer(source)) if source[: m.start()][-1:].isalpha()
    }
    missing = set(fields) - set(translated) - {f for f in fields if f[0] in plural}
    if missing or set(translated) - set(fields):
        yield "other {}-placeholders"
    if source.count("\n") != text.count("\n") and "\n" in source:
        yield "another number of lines"


def check(ts):
    for context in ET.parse(ts).getroot().findall("context"):
        for message in context.findall("message"):
            source, translation = message.findtext("source"), message.find("translation")
            forms = [f.text or "" for f in translation.findall("numerusform")] or [
                translation.text or ""
            ]
            where = f"{ts.name}: {context.findtext('name')}: {source!r}"
            if translation.get("type") == "unfinished" or not all(forms):
                yield f"{where}: not translated"
            for form in forms:
                for fault in faults_of(source, form):
                    yield f"{where}: {fault}: {form!r}"


def main():
    root = pathlib.Path(sys.argv[1])
    faults = []
    catalogues = sorted((root / "resources/translations").glob("*.ts"))
    if not catalogues:
        faults.append("no catalogue in resources/translations")
    for ts in catalogues:
        faults += check(ts)
    # Tests faults_of() itself with examples.
    assert list(faults_of("%1 of %2", "%1")) and list(faults_of("{} of {}", "{}"))
    assert list(faults_of("{} of {}", "{} {1}")) and not list(faults_of("{} block{}", "{0} 块"))
    print("\n".join(faults))
    update = root / "resources/translations/update.py"
    code = subprocess.run([sys.executable, update, "--check"], check=False).returncode
    if faults or code not in (0, 77):
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
