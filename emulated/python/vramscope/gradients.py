"""Parameters that an optimizer has and no backward pass reached: told behind each of its steps, as long as that changes."""
import gc
import weakref


class MissingGradients:
    def __init__(self, recorder):
        self.recorder = recorder
        self.optimizers = weakref.WeakKeyDictionary()  # each: [how many it trains, weak references to those that had no gradient so far]
        self.told = (0, 0, 0)

    def step_begins(self, optimizer):
        """Not of one that gets its gradients within its step."""
        collects = gc.isenabled()
        gc.disable()  # looking at a gradient makes an object: collections stay where they would be
        try:
            known = self.optimizers.get(optimizer)
            if known is None:
                trained = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad and p.numel()]
                self.optimizers[optimizer] = [len(trained), [weakref.ref(p) for p in trained if p.grad is None]]
            elif known[1]:
                known[1] = [one for one in known[1] if one() is not None and one().grad is None]
            self._tell()
        finally:
            if collects:
                gc.enable()

    def _tell(self):
        kept = list(self.optimizers.values())
        without = [p for p in (one() for _, ones in kept for one in ones) if p is not None]
        now = (sum(count for count, _ in kept), len(without), sum(p.numel() * p.element_size() for p in without))
        if now[1:] != self.told[1:]:
            self.told = now
            self.recorder.mark("N", *now)
