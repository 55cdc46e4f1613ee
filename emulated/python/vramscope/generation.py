"""transformers' generate(): no end token is ever computed, so it runs to the greatest length that it may have."""
import functools
import threading

from vramscope import imports, values


def install(process):
    imports.after("transformers.generation.utils", lambda module: _patch(process, module))


def _patch(process, module):
    mixin = getattr(module, "GenerationMixin", None)
    criteria = getattr(module, "StoppingCriteriaList", None)
    if mixin is None or criteria is None:
        return
    state = threading.local()
    look = criteria.__call__

    @functools.wraps(look)
    def __call__(self, input_ids, *args, **kwargs):
        state.full = any(input_ids.shape[-1] >= getattr(one, "max_length", float("inf")) for one in self)
        return look(self, input_ids, *args, **kwargs)

    def goes_on(ask, computed):
        @functools.wraps(ask)
        def wrapper(*args, **kwargs):
            answer = ask(*args, **kwargs)
            said = computed(args, kwargs, answer)
            if not (isinstance(said, process.torch.Tensor) and said.is_cuda and hasattr(state, "full")):
                return answer
            process.assume("generate() is taken to reach its greatest length", values.place())
            return not state.full

        return wrapper

    criteria.__call__ = __call__
    # Whether all sequences have ended: an argument of the first, the result of the second.
    if hasattr(mixin, "_has_unfinished_sequences"):
        mixin._has_unfinished_sequences = goes_on(
            mixin._has_unfinished_sequences,
            lambda args, kwargs, answer: args[1] if len(args) > 1 else kwargs.get("this_peer_finished"))
    if isinstance(mixin.__dict__.get("_beam_search_has_unfinished_sequences"), staticmethod):
        mixin._beam_search_has_unfinished_sequences = staticmethod(goes_on(
            mixin._beam_search_has_unfinished_sequences, lambda args, kwargs, answer: answer))
