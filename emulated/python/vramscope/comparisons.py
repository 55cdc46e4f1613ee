"""Chooses the value of a number that is read back, if the program compares such numbers and would
fail with zeros:

    before = model.weight.sum().item()
    ...
    after = model.weight.sum().item()
    if after == before:                          # one is assumed to be 0, the other 1
        raise RuntimeError("nothing was learned")
    assert accuracy(model, test) > 0.5           # 1

All tests in the function that can make the program fail are evaluated with candidate numbers, until
none fails: zeros if possible, otherwise as few other numbers as possible. A number that a function
returns is also looked for in its callers. Conditions that contain other unknown values are
ignored."""

import ast
import functools
import itertools
import math
import operator

from vramscope import branches

# maximum count of numbers that are solved for together; maximum depth of callers that are searched
MOST_NUMBERS, LEVELS = 4, 3
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CALCULATE = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_CALL = {
    "abs": abs,
    "fabs": abs,
    "float": float,
    "int": int,
    "round": round,
    "min": min,
    "max": max,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "isclose": math.isclose,
}


def number(frame):
    """Returns (value, why) for the number that the frame's line reads. The value is 0 unless there
    is a reason for another one."""
    reader = None  # name of the function that returned the number
    for _ in range(LEVELS):
        filename, line = frame.f_code.co_filename, frame.f_lineno
        value, why = _number(filename, line, reader)
        if why:
            return value, why
        while (
            frame.f_back is not None
            and frame.f_code.co_name.startswith("<")
            and frame.f_code.co_name != "<module>"
        ):
            frame = frame.f_back  # skips comprehensions
        if frame.f_back is None or not _returns(filename, line, reader):
            break
        reader, frame = frame.f_code.co_name, frame.f_back
    return 0, ""


@functools.lru_cache(maxsize=4096)
def _number(filename, line, reader):
    numbers = _Numbers(branches.scope_of(filename, line), reader)
    value = _solve(filename, numbers, {key for key, at in numbers.keys.items() if line in at})
    if value is not None:
        return value, "because the program compares this number and would otherwise fail"
    if reader is None and branches.nonzero(filename, line):
        return (
            1,
            "because the program divides by this number, takes its logarithm, or trains only if "
            "it is not 0",
        )
    return 0, ""


def _solve(filename, numbers, mine):
    """Returns the value to assume for the numbers `mine`, or None if the usual value is
    suitable."""
    tests = [
        (decision.test, branches.sound(decision)) for decision in branches.decisions(numbers.nodes)
    ]
    rest = [
        (test, wanted, keys)
        for test, wanted in tests
        if wanted is not None and (keys := numbers.keys_in(test))
    ]
    together, keys = [], set(mine)
    # tests with numbers of the tests found so far
    while more := [row for row in rest if row[2] & keys]:
        together += more
        keys.update(*(row[2] for row in more))
        rest = [row for row in rest if row not in more]
    keys = sorted(set().union(*(row[2] for row in together)))
    if not 0 < len(keys) <= MOST_NUMBERS:
        return None
    base = {
        key: int(any(branches.nonzero(filename, line) for line in numbers.keys[key]))
        for key in keys
    }
    constants = {
        node.value
        for test, *_ in together
        for node in ast.walk(test)
        if isinstance(node, ast.Constant)
        and type(node.value) in (int, float)
        and math.isfinite(node.value)
    }
    candidates = sorted(
        {0, 1, *(value + more for value in constants for more in (0, 1, -1))},
        key=lambda value: (value < 0, abs(value)),
    )[:12]
    tried = sorted(
        itertools.product(candidates, repeat=len(keys)),
        key=lambda values: sum(value != base[key] for key, value in zip(keys, values)),
    )
    for values in tried:
        values = dict(zip(keys, values))
        if all(_evaluate(test, numbers, values) in (wanted, None) for test, wanted, _ in together):
            found = {values[key] for key in keys if key in mine}
            return (
                found.pop()
                if len(found) == 1 and any(values[key] != base[key] for key in keys if key in mine)
                else None
            )
    return None


class _Numbers:
    """Finds the names to which a function assigns numbers that it reads from the GPU, and the reads
    within expressions."""

    def __init__(self, scope, reader):
        self.nodes = tuple(_own(scope))
        self.reader = reader
        self.keys = {}  # name: lines with the reads whose results are assigned to it
        for node in self.nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self.assigned(target, node.value)
        for node in self.nodes:
            if self.read(node):
                self.keys.setdefault(self.name(node), set()).update(
                    range(node.lineno, node.end_lineno + 1)
                )

    def assigned(self, target, value):
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            for pair in zip(target.elts, value.elts):
                self.assigned(*pair)
        lines = {
            line
            for part in ast.walk(value)
            if self.read(part)
            for line in range(part.lineno, part.end_lineno + 1)
        }
        name = _dotted(target)
        if lines and name:
            self.keys.setdefault(name, set()).update(lines)

    def read(self, node):
        if not isinstance(node, ast.Call):
            return False
        if self.reader:
            return getattr(node.func, "attr", getattr(node.func, "id", "")) == self.reader
        # float("inf")
        return branches.reads(node) and not (node.args and isinstance(node.args[0], ast.Constant))

    def name(self, call):
        return "line %d:%d" % (call.lineno, call.col_offset)

    def key(self, node):
        """Returns the key of the number that the expression names or reads, or None for other
        expressions."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            text = _dotted(node)
            return text if text in self.keys else None
        return self.name(node) if self.read(node) else None

    def keys_in(self, test):
        return {key for node in ast.walk(test) if (key := self.key(node)) is not None}


def _own(scope):
    """Yields the nodes of a function except those of nested functions."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _own(child)


def _dotted(node):
    """Returns the text of a name or a dotted name, or None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    owner = _dotted(node.value) if isinstance(node, ast.Attribute) else None
    return owner and owner + "." + node.attr


def _evaluate(node, numbers, values):
    """Returns the value of a condition if the numbers have these values, or None if it depends on
    anything else."""

    def go(node):
        return _evaluate(node, numbers, values)

    key = numbers.key(node)
    if key is not None:
        return values[key]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        return node.value
    if isinstance(node, ast.BoolOp):
        parts, decides = [go(value) for value in node.values], isinstance(node.op, ast.Or)
        if any(part is not None and bool(part) is decides for part in parts):
            return decides
        return None if None in parts else not decides
    if isinstance(node, ast.UnaryOp):
        part = go(node.operand)
        return (
            None
            if part is None
            else not part
            if isinstance(node.op, ast.Not)
            else _try(_CALCULATE.get(type(node.op)), part)
        )
    if isinstance(node, ast.BinOp):
        return _try(_CALCULATE.get(type(node.op)), go(node.left), go(node.right))
    if isinstance(node, ast.Compare):
        sides = [go(side) for side in (node.left, *node.comparators)]
        found = [
            _try(_COMPARE.get(type(op)), *pair) for op, pair in zip(node.ops, zip(sides, sides[1:]))
        ]
        return False if False in found else None if None in found else True
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        keywords = {keyword.arg: go(keyword.value) for keyword in node.keywords}
        if None not in keywords and None not in keywords.values():
            return _try(
                functools.partial(_CALL[name], **keywords) if name in _CALL else None,
                *map(go, node.args),
            )
    return None


def _try(function, *parts):
    if function is None or None in parts:
        return None
    try:
        return function(*parts)
    except (ArithmeticError, TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=4096)
def _returns(filename, line, reader):
    """Returns whether a function returns the number that it reads in this line."""
    numbers = _Numbers(branches.scope_of(filename, line), reader)
    mine = {key for key, at in numbers.keys.items() if line in at}
    return any(
        isinstance(node, ast.Return)
        and node.value is not None
        and numbers.keys_in(node.value) & mine
        for node in numbers.nodes
    )
