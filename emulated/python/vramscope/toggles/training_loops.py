"""Reads in the program's source what the loop does that begins to iterate a DataLoader. Whether the
loop accumulates gradients with accelerate's Accelerator.accumulate() has to be known before its
first batch is loaded."""

import ast
import inspect
import linecache

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CLIPS = ("clip_grad_norm_", "clip_grad_value_")

_trees = {}  # {file: its syntax tree, or None}


def _tree(frame):
    path = frame.f_code.co_filename
    if path not in _trees:
        try:
            _trees[path] = ast.parse("".join(linecache.getlines(path, frame.f_globals)))
        except (SyntaxError, ValueError):
            _trees[path] = None
    return _trees[path]


def _holds(node, line):
    return node.lineno <= line <= node.end_lineno


def _innermost(frame):
    """Returns the innermost loop that the frame's line is in, or None."""
    best, tree, line = None, _tree(frame), frame.f_lineno
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (*_LOOPS, *_FUNCTIONS)) and _holds(node, line):
            if best is None or node.lineno >= best.lineno:
                best = node
    return best if isinstance(best, _LOOPS) else None


def _always(statements):
    """Yields the statements, and those within `with` and `try`, which run in each repetition of a
    loop."""
    for statement in statements:
        yield statement
        if isinstance(statement, (ast.With, ast.Try)):
            yield from _always(statement.body)


def _is_call(node, names):
    return isinstance(node, ast.Call) and (
        getattr(node.func, "attr", "") in names or getattr(node.func, "id", "") in names
    )


def _is_method(call, name):
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def _calls(statements):
    """Returns the calls in the order of the source."""
    found = [
        node
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
    ]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _loads(body):
    """Yields (statement, expression) of the statements such as `batch = next(expression)` that run
    in each repetition of `body`. Other statements may iterate a DataLoader for an evaluation."""
    for statement in _always(body):
        for node in ast.walk(statement) if not hasattr(statement, "body") else ():
            if _is_call(node, ("next",)) and node.args:
                yield statement, node.args[0]


class Loop:
    """A loop that trains with Accelerator.accumulate()."""

    def __init__(self, node, in_head, accumulates, receiver, frame, variables):
        self.body = node.body
        # whether the loop's head iterates the DataLoader (`for batch in loader:`)
        self.in_head = in_head
        # `for step in range(1000): batch = next(batches)`
        self.counts = not in_head and isinstance(node, ast.For)
        self.key = frame.f_code.co_filename, node.lineno
        self.accumulates = accumulates  # the statement `with accelerator.accumulate(model):`
        self.receiver = receiver  # the expression `accelerator` in it
        self.variables = variables
        # whether the loop iterates several DataLoaders at once
        self.zips = in_head + len({ast.dump(source) for _, source in _loads(node.body)}) > 1 or (
            in_head and any(_is_call(one, ("zip", "zip_longest")) for one in ast.walk(node.iter))
        )

    @classmethod
    def of(cls, frame, variables):
        """Returns the loop that iterates a DataLoader in this frame, or None if that loop does not
        train. `variables(frame)` returns the frame's variables."""
        node = _innermost(frame)
        if node is None:
            return None
        found = [
            (statement, item.context_expr.func.value)
            for statement in _always(node.body)
            if isinstance(statement, ast.With)
            for item in statement.items
            if isinstance(item.context_expr, ast.Call)
            and getattr(item.context_expr.func, "attr", "") == "accumulate"
        ]
        in_head = isinstance(node, ast.For) and frame.f_lineno <= node.iter.end_lineno
        loads = in_head or any(_holds(one, frame.f_lineno) for one, _ in _loads(node.body))
        if len(found) != 1 or not loads:
            return None
        return cls(node, in_head, *found[0], frame, {**frame.f_globals, **variables(frame)})

    def value(self, expression):
        """Returns the value of an expression such as `self.optimizer`, or None if it is another
        kind of expression. Runs no code of the program."""
        if isinstance(expression, ast.Name):
            return self.variables.get(expression.id)
        if isinstance(expression, ast.Attribute):
            fields = getattr(self.value(expression.value), "__dict__", None)
            return fields.get(expression.attr) if type(fields) is dict else None
        return None

    def accelerator(self):
        return self.value(self.receiver)

    def divides_the_loss(self):
        """Returns whether Accelerator.backward() computes the gradients, which divides the loss by
        the number of micro-batches."""
        wanted = ast.dump(self.receiver)
        return any(
            _is_method(call, "backward") and ast.dump(call.func.value) == wanted
            for call in _calls(self.accumulates.body)
        )

    def _each_time(self):
        """Yields the calls that run after each micro-batch, which are those outside of `if
        accelerator.sync_gradients:`."""

        def walk(node):
            if isinstance(node, _FUNCTIONS):
                return
            if isinstance(node, ast.If) and any(
                getattr(one, "attr", "") == "sync_gradients" for one in ast.walk(node.test)
            ):
                return
            if isinstance(node, ast.Call):
                yield node
            for child in ast.iter_child_nodes(node):
                yield from walk(child)

        for statement in self.body:
            yield from walk(statement)

    def clips_each_time(self):
        return any(_is_call(call, _CLIPS) for call in self._each_time())

    def clears_early(self):
        """Returns whether gradients of earlier micro-batches are cleared before the step. The
        optimizers that Accelerator has prepared clear gradients only in the last micro-batch, so
        they may do so only after the step, or before accumulate()."""
        stepped = []
        for call in _calls(self.accumulates.body):
            if _is_method(call, "step"):
                stepped.append(ast.dump(call.func.value))
            elif _is_method(call, "zero_grad") and ast.dump(call.func.value) not in stepped:
                return True
        return any(
            _is_method(call, "zero_grad")
            and not type(self.value(call.func.value)).__module__.startswith("accelerate.")
            for call in self._each_time()
        )

    def stepped_each_time(self):
        """Returns the objects whose method step() is called after each micro-batch."""
        return [
            self.value(call.func.value) for call in self._each_time() if _is_method(call, "step")
        ]


def is_generator(frame):
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR)
