"""Toggles that choose how attention is computed."""

import functools
import importlib.util

from vramscope.toggles.declaration import ROUNDING, Toggle, toggle


@toggle
class Attention(Toggle):
    name, label, group, changes = (
        "attention",
        "Attention implementation of transformers",
        "activations",
        ROUNDING,
    )
    explains = (
        "The implementations sdpa and flash_attention_2 do not store the matrix of attention scores"
    )
    values, default, tries = ("sdpa", "flash_attention_2", "eager"), "sdpa", ("sdpa",)
    reduces = {"Activation": 0.5, "Temporary": 0.5}
    applies_to = "models created by transformers' from_pretrained or from_config"

    def install(self):
        # the call that leaves the choice to transformers (which uses sdpa if it can), or ""
        self.by_default = ""

    def loads_model(self, keywords, which):
        there = keywords.get("attn_implementation") or self.session.attention
        if there is None and self.value == "sdpa":
            self.by_default = which  # model_made() knows whether the model supports it
        elif there == self.value:
            self.already('%s already has attn_implementation="%s"' % (which, there))
        elif self.value == "flash_attention_2" and importlib.util.find_spec("flash_attn") is None:
            self.refuse("the package flash_attn is not installed")
        elif self.reach('%s(..., attn_implementation="%s")' % (which, self.value)):
            keywords["attn_implementation"] = self.value

    def model_made(self, model, where):
        have = getattr(getattr(model, "config", None), "_attn_implementation", self.value)
        which, self.by_default = self.by_default, ""
        if which and have == "sdpa":
            self.already("%s uses sdpa by default" % which)
        elif which:
            self.refuse(
                "%s uses %s, because this model has no sdpa implementation"
                % (type(model).__name__, have)
            )
        elif self.reached and have != self.value:
            self.override("%s nevertheless uses %s" % (type(model).__name__, have))
        return model

    def absent(self):
        return "the model is not created by transformers' from_pretrained or from_config"


@toggle
class SdpaBackend(Toggle):
    name, label, group, changes = (
        "sdpa-backend",
        "Kernels of scaled_dot_product_attention",
        "activations",
        ROUNDING,
    )
    explains = (
        "The attention kernels that PyTorch may use. The math kernel stores the matrix "
        "of attention scores; the other kernels do not"
    )
    values = ("flash", "efficient", "cudnn", "math")
    applies_to = "calls of scaled_dot_product_attention for which PyTorch chooses other kernels"

    def install(self):
        # Whether PyTorch would have chosen the same kernels without the toggle in all calls so far.
        self.unchanged = True
        self.overruled = False  # the program chose the kernels of a call itself
        functional = self.torch.nn.functional
        self.before = {kind: self.enabled(kind) for kind in self.values}
        if not self.on:
            return
        for kind in self.values:
            self.switch(kind, kind == self.value)
        attention = functional.scaled_dot_product_attention

        @functools.wraps(attention)
        def scaled_dot_product_attention(*args, **kwargs):
            if any(self.enabled(kind) not in (None, kind == self.value) for kind in self.values):
                self.overruled = True
                return attention(*args, **kwargs)
            self.reach(
                *[
                    "torch.backends.cuda.%s(%s)" % (self.function(kind), kind == self.value)
                    for kind in self.values
                ],
                each=False,
            )
            self.unchanged = self.unchanged and self.chosen_anyway(args, kwargs)
            return attention(*args, **kwargs)

        functional.scaled_dot_product_attention = scaled_dot_product_attention

    def function(self, kind):
        return "enable_%s_sdp" % {"efficient": "mem_efficient"}.get(kind, kind)

    def switch(self, kind, on):
        # cuDNN's exists since PyTorch 2.5
        function = getattr(self.torch.backends.cuda, self.function(kind), None)
        if function is not None:
            function(on)

    def enabled(self, kind):
        enabled = getattr(
            self.torch.backends.cuda, self.function(kind).replace("enable_", "") + "_enabled", None
        )
        return None if enabled is None else enabled()

    def chosen_anyway(self, args, kwargs):
        """Returns whether PyTorch would choose the same kernels for this call without the
        toggle."""
        choice = getattr(self.torch, "_fused_sdp_choice", None)
        now = {kind: self.enabled(kind) for kind in self.values}
        if (
            choice is None
            or self.session.compiling()
            or now
            != {
                kind: kind == self.value if on is not None else None
                for kind, on in self.before.items()
            }
        ):
            return False
        try:
            with_toggle = choice(*args, **kwargs)
            for kind, on in self.before.items():
                self.switch(kind, on)
            return choice(*args, **kwargs) == with_toggle
        except (RuntimeError, TypeError):  # the choice for these arguments is unknown
            return False
        finally:
            for kind, on in now.items():
                self.switch(kind, on)

    def finish(self):
        if self.on and self.enabled(self.value) is False:
            self.override("the program disables these kernels afterwards")
        elif self.overruled and self.unchanged:
            self.withdraw("the program itself chooses the kernels with sdpa_kernel")
        elif self.on and self.reached and self.unchanged:
            self.withdraw("PyTorch already chooses these kernels for every call", already=True)

    def absent(self):
        return (
            "the program never calls scaled_dot_product_attention"
            if self.on
            else "a value is needed: one of %s" % ", ".join(self.values)
        )
