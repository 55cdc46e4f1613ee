"""transformers' generate() runs to its maximum length, because no end token is ever computed."""

import functools
import threading

from vramscope import imports, known, values


_state = threading.local()  # state of the running generate()


def install(process):
    imports.after(process, "transformers.generation.utils", lambda module: _patch(process, module))
    imports.after(
        process,
        "transformers.generation.beam_search",
        lambda module: _patch_scorer(process, module),
    )


def _patch_scorer(process, module):
    """Handles transformers before 4.50, which chooses beams in Python, token by token. No token is
    treated as an end token. These versions store on the GPU which beams are done and how long they
    are, and read both back."""
    scorer = getattr(module, "BeamSearchScorer", None)
    if scorer is None or not all(hasattr(scorer, name) for name in ("process", "finalize")):
        return
    begin, choose, finish, tensor = (
        scorer.__init__,
        scorer.process,
        scorer.finalize,
        process.torch.Tensor,
    )

    @functools.wraps(begin)
    def begin_beams(self, *args, **kwargs):
        begin(self, *args, **kwargs)
        done = getattr(self, "_done", None)
        if getattr(done, "is_cuda", False):
            self._vramscope_done, self._done = (
                done,
                process.torch.zeros(done.shape, dtype=done.dtype, device="cpu"),
            )

    @functools.wraps(choose)
    def choose_beams(
        self,
        input_ids,
        next_scores,
        next_tokens,
        next_indices,
        pad_token_id=None,
        eos_token_id=None,
        *args,
        **kwargs,
    ):
        if next_tokens.is_cuda:
            process.assume("generate() is assumed to reach its maximum length", values.place())
            eos_token_id = None
            _state.in_python = True
        return choose(
            self,
            input_ids,
            next_scores,
            next_tokens,
            next_indices,
            pad_token_id,
            eos_token_id,
            *args,
            **kwargs,
        )

    @functools.wraps(finish)
    def finish_beams(self, *args, **kwargs):
        new, kept = tensor.new, []

        def counted(self, *sizes):
            made = new(self, *sizes)
            if len(sizes) != 1 or type(sizes[0]) is not int or not made.is_cuda:
                return made
            kept.append(made)  # keeps the program's own allocation
            return process.torch.empty(sizes, dtype=made.dtype, device="cpu")

        tensor.new = counted
        try:
            return finish(self, *args, **kwargs)
        finally:
            tensor.new = new

    scorer.__init__, scorer.process, scorer.finalize = begin_beams, choose_beams, finish_beams


def _patch(process, module):
    mixin = getattr(module, "GenerationMixin", None)
    criteria = getattr(module, "StoppingCriteriaList", None)
    if mixin is None or criteria is None:
        return
    look = criteria.__call__

    @functools.wraps(look)
    def __call__(self, input_ids, *args, **kwargs):
        _state.full = any(
            input_ids.shape[-1] >= getattr(one, "max_length", float("inf")) for one in self
        )
        answer = look(self, input_ids, *args, **kwargs)
        # Not only generate() uses this result. Assisted generation, for example, uses it for its
        # candidates.
        if getattr(answer, "is_cuda", False):
            answer._vramscope_value, answer._vramscope_version = (
                process.torch.full(answer.shape, _state.full, device="cpu"),
                known.version(answer),
            )
        if getattr(_state, "in_python", False) and getattr(answer, "is_cuda", False):
            _state.in_python = False
            # the program reads each value
            return process.torch.full(answer.shape, _state.full, device="cpu")
        return answer

    def goes_on(ask, computed):
        @functools.wraps(ask)
        def wrapper(*args, **kwargs):
            answer = ask(*args, **kwargs)
            said = computed(args, kwargs, answer)
            if not (
                isinstance(said, process.torch.Tensor) and said.is_cuda and hasattr(_state, "full")
            ):
                return answer
            process.assume("generate() is assumed to reach its maximum length", values.place())
            return not _state.full

        return wrapper

    criteria.__call__ = __call__
    check = getattr(module, "StopCheck", None)  # transformers 5.23: reads from the GPU itself
    if check is not None:
        stops = check.__call__

        @functools.wraps(stops)
        def stop(self, unfinished_sequences, *args, **kwargs):
            answer = stops(self, unfinished_sequences, *args, **kwargs)
            if not unfinished_sequences.is_cuda or not hasattr(_state, "full"):
                return answer
            process.assume("generate() is assumed to reach its maximum length", values.place())
            return _state.full

        check.__call__ = stop
    # Whether all sequences have ended is an argument of the first method, and the result of the
    # second.
    if hasattr(mixin, "_has_unfinished_sequences"):
        mixin._has_unfinished_sequences = goes_on(
            mixin._has_unfinished_sequences,
            lambda args, kwargs, answer: (
                args[1] if len(args) > 1 else kwargs.get("this_peer_finished")
            ),
        )
    if isinstance(mixin.__dict__.get("_beam_search_has_unfinished_sequences"), staticmethod):
        mixin._beam_search_has_unfinished_sequences = staticmethod(
            goes_on(
                mixin._beam_search_has_unfinished_sequences, lambda args, kwargs, answer: answer
            )
        )
