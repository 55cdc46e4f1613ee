"""Reports how many of the optimizers' parameters have not been reached by any backward pass. If
this number has changed when a step begins, it is reported again."""

import gc
import weakref


class MissingGradients:
    def __init__(self, recorder):
        self.recorder = recorder
        # {optimizer: [number of its trainable parameters, weak references to the parameters that
        # have had no gradient]}
        self.optimizers = weakref.WeakKeyDictionary()
        self.told = (0, 0, 0)

    def step_begins(self, optimizer):
        """Call before an optimizer's step, except for optimizers that compute gradients in their
        step."""
        collects = gc.isenabled()
        # reading gradients creates objects, which must not influence when garbage collections run
        gc.disable()
        try:
            known = self.optimizers.get(optimizer)
            if known is None:
                trained = [
                    p
                    for group in optimizer.param_groups
                    for p in group["params"]
                    if p.requires_grad and p.numel()
                ]
                self.optimizers[optimizer] = [
                    len(trained),
                    [weakref.ref(p) for p in trained if p.grad is None],
                ]
            elif known[1]:
                known[1] = [one for one in known[1] if one() is not None and one().grad is None]
            self._tell()
        finally:
            if collects:
                gc.enable()

    def _tell(self):
        kept = list(self.optimizers.values())
        without = [p for p in (one() for _, ones in kept for one in ones) if p is not None]
        now = (
            sum(count for count, _ in kept),
            len(without),
            sum(p.numel() * p.element_size() for p in without),
        )
        if now[1:] != self.told[1:]:
            self.told = now
            self.recorder.mark("N", *now)
