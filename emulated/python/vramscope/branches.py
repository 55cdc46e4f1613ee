"""Chooses the branch if a program branches on a condition that the GPU would have computed: a
branch that does not end in an error, or one that leaves the loop.

    if (boxes[:, 2:] <= boxes[:, :2]).any():     # False
        raise ValueError("degenerate")
    assert torch.isclose(a, b).all()             # True
    while (noise.abs() > 2).any():               # False
        noise = torch.randn_like(noise)
    if outliers.any():                           # False: outliers are rare
        columns = torch.argwhere(outliers.any(dim=0))
    if loss > 0:                                 # True: the program is expected to train
        loss.backward()
    mixed = [w * op(x) for w, op in zip(weights, ops) if w > 0.1]    # True: something must be left

A number is assumed not to be 0 if the program divides by it, takes its logarithm, or trains only if
it is not 0:

    psnr = 10 * math.log10(1 / loss.item())

If the program compares numbers, comparisons.py assumes values with which the program does not fail.

The choice is derived from the program's source code if that can be read; the code is never
executed."""

import ast
import functools
import itertools
import linecache

_ENDS = {"exit", "quit", "_exit", "abort", "fail"}
_LOGARITHMS = {"log", "log2", "log10"}
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def way(frame):
    """Returns the result (True or False) to assume for the condition in the frame's line, or None
    if both are possible."""
    return _way(frame.f_code.co_filename, frame.f_lineno, _column(frame))


def _column(frame):
    """Returns the column of the condition, or None before Python 3.11. A line may have several
    conditions."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return None
    line, _, column, _ = next(itertools.islice(positions(), frame.f_lasti // 2, None))
    return column if line == frame.f_lineno else None


def _is_elsewhere(node, line, column):
    """Returns whether the decision is another statement than the one at this position."""
    test = node.test
    return isinstance(node, ast.stmt) and not (
        (node.lineno, node.col_offset) <= (line, column) < (test.end_lineno, test.end_col_offset)
    )


@functools.lru_cache(maxsize=4096)
def _way(filename, line, column):
    there = [
        node
        for node in decisions(_around(filename, line))
        if node.test.lineno <= line <= node.test.end_lineno
    ]
    if column is not None:
        there = [node for node in there if not _is_elsewhere(node, line, column)] or there
    if not there:
        return None
    best = max(reversed(there), key=lambda node: node.test.lineno)  # the last one of equals
    if isinstance(best, Filter):
        # For a filter by isnan() or similar, values.py already assumes the function's result.
        asks = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(best.test)} & {
            "isnan",
            "isinf",
            "isfinite",
        }
        return None if asks else _part(best.test, True)
    if any(
        "outlier" in node.id.lower() for node in ast.walk(best.test) if isinstance(node, ast.Name)
    ):
        return False
    if filename.endswith("lbfgs.py") and any(
        node.id == "ys" for node in ast.walk(best.test) if isinstance(node, ast.Name)
    ):
        return True  # otherwise L-BFGS would store no history
    wanted = sound(best)
    if wanted is not None:
        pass
    elif isinstance(best, ast.While):
        wanted = False
    elif _trains(best.body) != _trains(best.orelse):
        wanted = _trains(best.body)
    elif best in _skipping(filename, best.lineno):
        wanted = False
    else:
        return None
    return _part(best.test, wanted)


def sound(decision):
    """Returns the result of the test (True or False) with which the program goes on, or None if
    both results let it go on."""
    if isinstance(decision, (ast.Assert, Filter)):
        return True
    if isinstance(decision, ast.If):
        return False if _fails(decision.body) else True if _fails(decision.orelse) else None
    return None


class Filter:
    """An `if` in a comprehension, with a `test` like that of ast.If."""

    def __init__(self, test):
        self.test = test


@functools.lru_cache(maxsize=256)
def tree(filename):
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _children(node, line):
    """Yields the children of a node that contain the line, and those without a position. A file can
    have 40,000 nodes, which need not all be visited."""
    for child in ast.iter_child_nodes(node):
        first = min(
            (part.lineno for part in getattr(child, "decorator_list", ())),
            default=getattr(child, "lineno", line),
        )
        if first <= line <= getattr(child, "end_lineno", line):
            yield child


@functools.lru_cache(maxsize=256)
def _around(filename, line):
    """Returns the nodes of a file that contain the line, outer nodes first."""
    nodes = [tree(filename)]
    for node in nodes:
        nodes += _children(node, line)
    return tuple(nodes)


def decisions(nodes):
    """Returns the decisions among these nodes."""
    filters = [
        Filter(test) for node in nodes if isinstance(node, ast.comprehension) for test in node.ifs
    ]
    return (
        *(node for node in nodes if isinstance(node, (ast.If, ast.While, ast.Assert))),
        *filters,
    )


def _trains(body):
    """Returns whether the body contains a backward pass or an optimizer step."""
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "backward":
                return True
            owner = node.func.value
            if node.func.attr == "step" and getattr(
                owner, "id", getattr(owner, "attr", "")
            ).lower().startswith(("optim", "opt", "scaler")):
                return True
    return False


@functools.lru_cache(maxsize=256)
def _skipping(filename, line):
    """Returns the `if` statements around the line with which training loops skip the rest of an
    iteration."""
    found = []

    def look(node, loop):
        if (
            isinstance(node, ast.If)
            and loop is not None
            and isinstance(node.body[-1], ast.Continue)
            and _trains(loop.body)
        ):
            found.append(node)
        for child in _children(node, line):
            look(
                child,
                node
                if isinstance(node, _LOOPS)
                else None
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                else loop,
            )

    look(tree(filename), None)
    return frozenset(found)


# --- numbers ---


def scope_of(filename, line):
    """Returns the innermost function that contains the line, or the module."""
    around = [
        node
        for node in _around(filename, line)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line
    ]
    return max(around, key=lambda node: node.lineno, default=tree(filename))


@functools.lru_cache(maxsize=4096)
def nonzero(filename, line):
    """Returns whether the number that a line reads must not be 0."""
    scope = scope_of(filename, line)
    names = set()

    def of_it(node):
        """Returns whether the expression contains the number or a value computed from it."""
        return any(
            isinstance(part, ast.Name)
            and part.id in names
            or isinstance(part, ast.Call)
            and part.lineno <= line <= part.end_lineno
            and reads(part)
            for part in _but_lengths(node)
        )

    for node in ast.walk(scope):  # names are mostly assigned before they are used
        if (
            isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            and node.value is not None
            and of_it(node.value)
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") == "append"
            and isinstance(node.func.value, ast.Name)
            and any(map(of_it, node.args))
        ):
            names.add(node.func.value.id)  # losses.append(loss.item())
    for node in ast.walk(scope):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod))
            and of_it(node.right)
        ):
            return True
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", getattr(node.func, "id", "")) in _LOGARITHMS
            and any(map(of_it, node.args))
        ):
            return True
        if (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Compare)
            and of_it(node.test.left)
            and _is_zero(node.test.comparators[0])
        ):
            if (
                isinstance(node.test.ops[0], (ast.Gt, ast.NotEq))
                and _trains(node.body)
                and not _trains(node.orelse)
            ):
                return True
            if isinstance(node.test.ops[0], (ast.Eq, ast.LtE)) and node in _skipping(
                filename, node.lineno
            ):
                return True
    return False


def _but_lengths(node):
    """Yields the nodes of an expression, but not those in len(x): the length of a list does not
    depend on its numbers."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _but_lengths(child)


def _is_zero(node):
    return isinstance(node, ast.Constant) and node.value == 0


def reads(call):
    """Returns whether the call is x.item(), float(x) or int(x)."""
    return getattr(call.func, "attr", getattr(call.func, "id", "")) in ("item", "float", "int")


def _part(test, wanted):
    """Returns the value that every condition in the test must have to make the test `wanted`, or
    None if they need different values."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _part(test.operand, not wanted)
    if isinstance(test, ast.BoolOp):
        parts = {_part(value, wanted) for value in test.values}
        return parts.pop() if len(parts) == 1 else None
    return wanted


def _fails(body):
    for statement in body:
        if isinstance(statement, ast.Raise):
            return True
        if (
            isinstance(statement, ast.Assert)
            and isinstance(statement.test, ast.Constant)
            and not statement.test.value
        ):
            return True
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            first = call.args[0] if call.args else None
            if (
                name in _ENDS
                or name == "_assert"
                and isinstance(first, ast.Constant)
                and first.value is False
            ):
                return True
    return False
