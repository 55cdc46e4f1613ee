"""Counts a program's steps and decides when a step is over. With several optimizers (a GAN has
two), the number of steps is that of the optimizer that has stepped least often. Without an
optimizer, a step is over when the weights were updated by hand since the last backward pass:

    loss.backward()
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-lr)   # calls no hook
    model.zero_grad()

An optimizer without a step method of its own is ignored. If a backward pass finds a tensor and its
gradient as the last pass left them, it accumulates gradients; otherwise the weights were updated.
If there are no gradients to check (torch.func, torch.autograd.grad), every pass is assumed to be a
step."""

import functools
import inspect
import weakref

# If an optimizer has made this many steps per requested step, the other optimizers are ignored,
# because they may never
# step.
MOST = 8
NODES = 10_000  # nodes of a graph that are searched for tensors that get a gradient
PARAMETER = 1  # a category of profiler/trace/types.h


class Updates:
    def __init__(self, hooks):
        self.hooks = hooks
        # step() of optimizer classes that do not define their own.
        self.step = inspect.unwrap(hooks.torch.optim.Optimizer.step)
        self.counts = weakref.WeakKeyDictionary()  # optimizer: its steps
        self.without = 0  # steps without an optimizer
        self.optimizers = False  # an optimizer was created, so steps are expected
        self.leaves = []  # weak references to tensors that get a gradient
        # state after the last backward pass: position, time, state of the leaf and its gradient
        self.left = None
        self.said = False

    # --- how many steps ---

    def _expects_steps(self):
        self.optimizers = True
        self.hooks.process.trains()

    def stepped(self, optimizer):
        self._expects_steps()
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1

    def enough(self, wanted):
        counts = list(self.counts.values())
        if not counts:
            return self.without >= wanted
        return min(counts) >= wanted or max(counts) >= MOST * wanted

    # --- without an optimizer ---

    def made(self, add_param_group):
        """Wraps add_param_group(), which every optimizer calls when it is created."""

        @functools.wraps(add_param_group)
        def wrapper(*args, **kwargs):
            # LOMO updates within backward and has no step
            if inspect.unwrap(type(args[0]).step) is not self.step:
                self._expects_steps()
                self.counts.setdefault(args[0], 0)
            return add_param_group(*args, **kwargs)

        return wrapper

    def backward_begins(self, outputs):
        if self.optimizers or self.hooks.roots and self._leaf() is not None:
            return
        nodes = [
            getattr(output, "grad_fn", None)
            for output in (outputs if isinstance(outputs, (list, tuple)) else (outputs,))
        ]
        seen, self.leaves = set(), []
        while nodes and len(seen) < NODES:
            node = nodes.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                self.leaves.append(weakref.ref(leaf))
            nodes.extend(edge[0] for edge in node.next_functions)
        self._tag()

    def backward_ends(self):
        if not self.optimizers:
            recorder = self.hooks.recorder
            self.left = (*recorder.position(), recorder.now(), self._state(self._leaf()))
            self._tag()

    def _tag(self):
        """Tags the parameters and gradients of a program that has no modules."""
        if self.hooks.roots:
            return
        leaves = [leaf for leaf in (reference() for reference in self.leaves) if leaf is not None]
        native = self.hooks.recorder.native
        native.tag(PARAMETER, leaves)
        native.tag_gradients(leaves)

    def over(self, cleared=False):
        """Returns the position and time of the last backward pass if the program has updated the
        weights itself since then. Otherwise returns None. No pass is returned twice. `cleared`
        means that the program clears gradients now."""
        if self.optimizers or self.left is None:
            return None
        leaf = self._leaf()
        before = self.left[3]
        if before is not None and not cleared and leaf is not None and self._state(leaf) == before:
            return None
        left, self.left = self.left, None
        self.without += 1
        if not self.said:
            self.said = True
            self.hooks.process.assume(
                "the program created no optimizer whose class defines step(). A step therefore "
                "ends when gradients are cleared or weights change after a backward pass"
            )
        return left[:3]

    def _leaf(self):
        return next(
            (leaf for leaf in (reference() for reference in self.leaves) if leaf is not None), None
        )

    def _state(self, leaf):
        gradient = None if leaf is None else leaf.grad
        if gradient is None:
            return None
        return leaf._version, gradient._version, id(gradient)
