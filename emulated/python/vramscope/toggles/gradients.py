"""Toggles that free gradients earlier."""

import functools
import sys
import weakref

from vramscope.toggles.declaration import NOTHING, Toggle, toggle
from vramscope.toggles.optimizers import StepInBackward, parameters_of, reads_itself
from vramscope.toggles.session import unwrapped


class _Cleared(Toggle):
    """Observes zero_grad() of optimizers and modules."""

    group, changes = "optimizer", NOTHING

    def install(self):
        for owner in (self.torch.optim.Optimizer, self.torch.nn.Module):
            owner.zero_grad = self.wrapped(owner.zero_grad)

    def wrapped(self, zero_grad):
        @functools.wraps(zero_grad)
        def wrapper(owner, set_to_none=True):
            return zero_grad(owner, self.cleared(owner, set_to_none))

        return wrapper

    def cleared(self, owner, set_to_none):
        return set_to_none


@toggle
class ZeroGrad(_Cleared):
    name, label = "zero-grad-to-none", "Freeing gradients instead of zeroing them"
    explains = "Gradients use no memory between two steps"
    reduces = {"Gradient": 0.9}
    applies_to = "calls of zero_grad(set_to_none=False)"

    def cleared(self, owner, set_to_none):
        if set_to_none:
            self.already("zero_grad() already frees the gradients")
            return set_to_none
        return (
            self.reach(
                "%s.zero_grad(set_to_none=True)"
                % ("model" if isinstance(owner, self.torch.nn.Module) else "optimizer")
            )
            or set_to_none
        )

    def absent(self):
        return "the program never calls zero_grad()"


@toggle
class FreeGradients(_Cleared):
    name, label = "free-gradients", "Freeing gradients right after the step"
    explains = (
        "If a program clears gradients only between forward and backward, the gradients "
        "needlessly stay in memory during the forward pass"
    )
    excludes = ("step-in-backward",)
    reduces = {"Gradient": 0.9}
    applies_to = (
        "the program's own loop, if it keeps the gradients of a step during the next forward pass"
    )
    why_needed = "the program reads gradients after the step"
    ours = False

    def install(self):
        self.all = weakref.WeakKeyDictionary()  # optimizers that have stepped, in this order
        # those whose gradients the program has not cleared since their last step
        self.stale = weakref.WeakSet()
        self.lives = False  # such gradients exist during a forward pass
        self.watched = False
        self.removed = set()  # ids of parameters whose gradients the program itself sets to None
        self.owners = {}  # the optimizers that have stepped, while watched: {id of parameter: it}
        # the gradients that the program reads then: {id of parameter: (weak reference, version)}
        self.read = {}
        self.needed = False  # the program needs the gradients after the step
        super().install()

    def cleared(self, owner, set_to_none):
        if not set_to_none or self.ours or not self.stale:
            return set_to_none
        if isinstance(owner, self.torch.nn.Module):
            ids = {id(p) for p in owner.parameters()}
            for optimizer in list(self.stale):
                if all(id(p) in ids for p in parameters_of(optimizer)):
                    self.stale.discard(optimizer)
        else:
            self.stale.discard(owner)
        return set_to_none

    def stepped(self, optimizer):
        self.all[optimizer] = True
        self.stale.add(optimizer)
        if self.on and self.session.library != "Trainer":
            self.ours = True
            try:
                optimizer.zero_grad()
            finally:
                self.ours = False
        if not self.session.steps and self.session.library != "Trainer":
            self.owners.update({id(p): optimizer for p in parameters_of(optimizer)})
            self.watch()

    def watch(self):
        """Watches whether the program reads gradients between the first step and the next forward
        pass, for example to log their norms. If the toggle is on, the gradients are gone before the
        program itself clears them, so this also watches whether it does that without
        zero_grad()."""
        kind, grad = self.torch.nn.Parameter, self.torch.Tensor.grad

        def read(parameter):
            value = grad.__get__(parameter)
            kept = self.owners.get(id(parameter)) in self.stale
            if kept and reads_itself(self.torch, sys._getframe(1)):
                self.read[id(parameter)] = StepInBackward.state(value)
            return value

        def write(parameter, value):
            if value is None and not self.ours:
                self.removed.add(id(parameter))
                self.read.pop(id(parameter), None)
            grad.__set__(parameter, value)

        if "grad" not in kind.__dict__:
            kind.grad = property(read, write, grad.__delete__)
            self.watched = True

    def unwatch(self):
        if not self.watched:
            return
        del self.torch.nn.Parameter.grad
        self.watched, self.owners = False, {}
        in_backward = self.session.toggle("step-in-backward")
        if self.on or in_backward.on:  # the gradients are gone
            self.needed = bool(self.read)
        else:
            # A gradient that was then filled with zeros was read only for that.
            found = [one for one in self.read.values() if one is not None]
            self.needed = any(one() is None or one()._version == version for one, version in found)
        if self.needed:
            in_backward.unsuited(self.why_needed)

    def keeps(self, parameter):
        """Returns whether the program keeps the gradient, or would keep it without the toggle."""
        return id(parameter) not in self.removed if self.on else parameter.grad is not None

    def before_call(self, module):
        self.unwatch()
        if self.session.library == "Trainer":
            self.refuse("%s clears the gradients itself" % self.session.library)
            return
        trains = unwrapped(module).training and self.torch.is_grad_enabled()
        stale = [one for one in list(self.stale) if any(map(self.keeps, parameters_of(one)))]
        if self.on or not trains or self.session.forwards == 1:
            self.lives = self.lives or bool(stale)
        if trains and self.session.steps and not stale:
            self.already("the program already clears the gradients before its next forward pass")
        if self.lives:
            for optimizer in list(self.all):
                self.reach(
                    "optimizer.register_step_post_hook(lambda optimizer, *_: "
                    "optimizer.zero_grad())",
                    place=self.session.place_of(optimizer),
                )

    def finish(self):
        self.unwatch()
        if self.needed and self.on:
            self.reject(self.why_needed)
        elif self.needed and self.reached:
            self.withdraw(self.why_needed)
