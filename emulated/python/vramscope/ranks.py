"""Runs one process as rank R of N. Other ranks do not exist, so nothing waits for them. Objects
that they would send are assumed to equal those that this rank sends; over gloo (between CPUs)
nothing is sent."""

import functools
import os
import pickle

from vramscope import imports

UNIQUE_ID = 128  # size of NCCL's communicator id, which the first rank publishes


def install(process):
    rank, world = (int(part) for part in process.settings.as_rank.split("/"))
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK="0",
        WORLD_SIZE=str(world),
        LOCAL_WORLD_SIZE="1",
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT="29500",
    )
    # NCCL's heartbeat thread would query the store every second for failed ranks, but there are
    # none. The store is written in Python. If the thread called it while the interpreter shuts
    # down, the thread would be killed, and with it the process.
    os.environ.update(TORCH_NCCL_ENABLE_MONITORING="0", TORCH_NCCL_DUMP_ON_TIMEOUT="0")
    process.about.update(rank=rank, world_size=world)
    process.assume(
        "one process runs as rank %d of %d: data from the other ranks is missing" % (rank, world),
        "--as-rank",
    )
    import torch.distributed as distributed

    if not distributed.is_available():
        return
    init = distributed.init_process_group

    class Store(distributed.Store):
        """A store that returns the values that this rank has set. Keys of other ranks have
        placeholder values."""

        def __init__(self):
            super().__init__()
            self.said = {}

        def set(self, key, value):
            self.said[key] = value.encode() if isinstance(value, str) else bytes(value)

        def get(self, key):
            return self.said.get(key, bytes(UNIQUE_ID))

        def add(self, key, number):
            self.said[key] = b"%d" % (int(self.said.get(key, b"0")) + number)
            return int(self.said[key])

        def compare_set(self, key, expected, desired):
            if self.get(key) == bytes(expected) or key not in self.said:
                self.set(key, desired)
            return self.get(key)

        def wait(self, *args):
            pass

        def check(self, keys):
            # check() reports keys of other ranks as absent, because programs do not use check() to
            # wait for them.
            return all(key in self.said for key in keys)

        def delete_key(self, key):
            return self.said.pop(key, None) is not None

        def num_keys(self):
            return len(self.said)

        def set_timeout(self, timeout):
            pass

    def without_gloo(backend):
        """Replaces gloo, which would connect to the other processes, by PyTorch's fake backend."""
        try:
            import torch.testing._internal.distributed.fake_pg  # noqa: F401, it registers itself
        except (ImportError, AttributeError):
            return backend or "nccl"
        return backend.lower().replace("gloo", "fake") if backend else "cpu:fake,cuda:nccl"

    @functools.wraps(init)
    def init_process_group(backend=None, *args, **kwargs):
        for name in ("init_method", "rank", "world_size", "store"):
            kwargs.pop(name, None)
        return init(without_gloo(backend), rank=rank, world_size=world, store=store, **kwargs)

    new = distributed.new_group

    @functools.wraps(new)
    def new_group(ranks=None, timeout=None, backend=None, *args, **kwargs):
        return new(ranks, timeout, without_gloo(backend) if backend else None, *args, **kwargs)

    store = process.store = Store()  # C++ alone would not keep the Python part of the object alive

    for module in (distributed, distributed.distributed_c10d):
        module.init_process_group, module.new_group = init_process_group, new_group
    process.part(
        "objects sent by other ranks are missing",
        _objects,
        process,
        rank,
        distributed.distributed_c10d,
    )
    imports.after(
        process, "torch.distributed.checkpoint.utils", functools.partial(_checkpoints, process)
    )
    imports.after(
        process, "torch.distributed.fsdp._optim_utils", functools.partial(_flat_states, process)
    )


def _objects(process, rank, module):
    write, read = module._object_to_tensor, module._tensor_to_object
    sent = []

    def own():
        process.assume(
            "objects from other ranks are assumed to equal the objects that this rank sends",
            "--as-rank",
        )
        return pickle.loads(pickle.dumps(sent[0])) if sent else None

    @functools.wraps(write)
    def _object_to_tensor(obj, *args, **kwargs):
        sent[:] = [obj]
        return write(obj, *args, **kwargs)

    @functools.wraps(read)
    def _tensor_to_object(*args, **kwargs):
        try:
            return read(*args, **kwargs)
        except (EOFError, pickle.UnpicklingError, RuntimeError, ValueError):
            return own()

    scatter, broadcast = module.scatter_object_list, module.broadcast_object_list

    @functools.wraps(scatter)
    def scatter_object_list(
        scatter_object_output_list, scatter_object_input_list=None, *args, **kwargs
    ):
        if scatter_object_input_list:
            scatter(scatter_object_output_list, scatter_object_input_list, *args, **kwargs)
            scatter_object_output_list[0] = scatter_object_input_list[
                min(rank, len(scatter_object_input_list) - 1)
            ]
        else:  # the length of the list is unknown, so the object that this rank sent is used
            scatter_object_output_list[0] = own()

    @functools.wraps(broadcast)
    def broadcast_object_list(object_list, src=None, *args, **kwargs):
        if (src or 0) == rank or kwargs.get("group_src") is not None:
            return broadcast(object_list, src, *args, **kwargs)
        return None

    module.scatter_object_list = process.torch.distributed.scatter_object_list = scatter_object_list
    module.broadcast_object_list = process.torch.distributed.broadcast_object_list = (
        broadcast_object_list
    )
    module._object_to_tensor, module._tensor_to_object = _object_to_tensor, _tensor_to_object


def _checkpoints(process, module):
    """Lets torch.distributed.checkpoint work without asking other ranks which parts they write and
    read."""
    wrapper = module._DistWrapper
    begin = wrapper.__init__

    @functools.wraps(begin)
    def __init__(self, group, use_dist, coordinator_rank):
        process.assume(
            "only this rank's parts of a distributed checkpoint are written and read", "--as-rank"
        )
        begin(self, group, False, 0)

    wrapper.__init__ = __init__


def _flat_states(process, module):
    """Handles FSDP1's optim_state_dict, for which ranks exchange the names and states of their
    parameters. For a parameter of which this rank has no part, assumes a state like that of a
    parameter of this rank."""
    if not hasattr(module, "_allgather_state_info"):
        return  # before 2.1, ranks do not exchange names and states
    mapped, gathered = module._map_param_key_to_optim_keys, module._allgather_state_info

    @functools.wraps(mapped)
    def _map_param_key_to_optim_keys(
        optim_state_dict,
        group,
        param_key_to_param,
        param_to_fqns,
        fqn_to_fsdp_param_info,
        *args,
        **kwargs,
    ):
        # With merge_keys=True, PyTorch merges the keys of all ranks. With False, it would wait for
        # the keys of the first rank.
        keys, own = mapped(
            optim_state_dict, group, param_key_to_param, param_to_fqns, fqn_to_fsdp_param_info, True
        )
        if optim_state_dict["state"]:
            names = [
                tuple(param_to_fqns[parameter])
                for parameter in param_key_to_param.values()
                if parameter.requires_grad
            ]
            keys = sorted(
                {
                    *keys,
                    *(
                        module._OptimStateKey(name, True)
                        for name in names
                        if name[0] in fqn_to_fsdp_param_info
                    ),
                }
            )
        return keys, own

    @functools.wraps(gathered)
    def _allgather_state_info(fsdp_state, input_states):
        states = gathered(fsdp_state, input_states)
        like = next((state for state in states[fsdp_state.rank].values() if state.tensors), None)
        for rank, of_rank in enumerate(states):
            for name, state in of_rank.items():
                if like is not None and rank != fsdp_state.rank and not state.tensors:
                    of_rank[name] = like
        return states

    module._map_param_key_to_optim_keys, module._allgather_state_info = (
        _map_param_key_to_optim_keys,
        _allgather_state_info,
    )
