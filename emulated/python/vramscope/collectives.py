"""Handles exchanges between ranks. NCCL writes into tensors without incrementing PyTorch's version
counter, so known values of these tensors are dropped. After the exchange, values are read from the
platform's bytes if those are known."""

import functools

from vramscope import known
from vramscope.known import FEW

# The functions of torch.distributed that write into a tensor argument.
_NAMES = (
    "all_gather",
    "all_gather_into_tensor",
    "_all_gather_base",
    "all_gather_coalesced",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "irecv",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "_reduce_scatter_base",
    "scatter",
)
MOST_SENT = 4 << 20  # bytes of an object that ranks exchange
_SENDING = ("isend", "send")  # the functions that read a tensor argument


def install(process, values):
    torch = process.torch

    def tensors(value, found):
        if isinstance(value, torch.Tensor):
            found.append((value, known.version(value)))
        elif type(value) in (list, tuple):
            for part in value:
                tensors(part, found)
        return found

    def gathered():
        """Returns whether operations are being collected and will run together later
        (batch_isend_irecv)."""
        return bool(
            getattr(
                getattr(torch.distributed.distributed_c10d, "_world", None),
                "pg_coalesce_state",
                None,
            )
        )

    def written(value, before):
        values.forget(value)
        if gathered():
            values.release(value)
            return
        if values.small(value, FEW):
            number = values.peek(value)
            if number is not None:
                # a launch that reads neighbouring bytes would make the bytes unknown
                values.restore(value, number)
                values.wrote(value, before)

    def sent(value):
        """Copies known values, such as those that a kernel wrote, to the shadow contents, which
        ranks exchange."""
        # an object as bytes
        if (
            values.small(value, FEW)
            or values.small(value, MOST_SENT)
            and value.dtype is torch.uint8
        ):
            number = values.kept(value)
            if number is not None:
                values.restore(value, number)
                if value.numel() > FEW and value.is_contiguous():
                    values.put(value, number.contiguous())
        elif type(value) in (list, tuple):
            for part in value:
                sent(part)

    def writing(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            found = []
            if not values.compiling():
                sent(args)
                sent(tuple(kwargs.values()))
                found = tensors((args, tuple(kwargs.values())), found)
            result = function(*args, **kwargs)
            for value, before in found:
                # the message has not arrived yet, and reading it would wait
                if function.__name__ == "irecv":
                    values.forget(value)
                    values.release(value)
                    continue
                if function.__name__ == "recv" and values.plain(value) and value.is_cuda:
                    # waits until the message has arrived
                    values.readable(value, value.numel() * value.element_size())
                written(value, before)
            return result

        return wrapper

    def sending(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if not values.compiling():
                sent(args)
                sent(tuple(kwargs.values()))
            return function(*args, **kwargs)

        return wrapper

    def batched(function):
        """Wraps batch_isend_irecv, which collects operations and runs them together."""

        @functools.wraps(function)
        def wrapper(p2p_op_list):
            found = []
            if not values.compiling():
                for operation in p2p_op_list:
                    if operation.op is distributed.distributed_c10d.irecv:
                        tensors(operation.tensor, found)
            result = function(p2p_op_list)
            for value, before in found:
                written(value, before)
            return result

        return wrapper

    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available():
        return
    for name in (*_NAMES, *_SENDING, "batch_isend_irecv"):
        function = getattr(distributed.distributed_c10d, name, None)
        if function is not None:
            wrapper = (
                batched if name == "batch_isend_irecv" else sending if name in _SENDING else writing
            )(function)
            for module in (distributed.distributed_c10d, distributed):
                if getattr(module, name, None) is function:
                    setattr(module, name, wrapper)
