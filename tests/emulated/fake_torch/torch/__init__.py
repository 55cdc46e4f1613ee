"""Stands in for torch in tests of `vramscope plan --` on computers without PyTorch. Contains the part
of torch that the recorder uses, and a minimal allocator. Programs only call `torch.allocate(bytes)`."""
import os
import time
import types

if os.environ.get("FAKE_TORCH_IMPORT"):
    raise ImportError(os.environ["FAKE_TORCH_IMPORT"])
__version__ = os.environ.get("FAKE_TORCH_VERSION", "2.9.0+cu130")
version = types.SimpleNamespace(cuda=os.environ.get("FAKE_TORCH_CUDA", "13.0") or None, hip=None)

_entries, _skipped, _blocks, _counts, _waiting = [], [], [], {"allocated": 0, "freed": 0}, []


class _Methods(type):
    """Provides any tensor method that a hook replaces, except the method that FAKE_TORCH_LACKS names."""

    def __getattr__(cls, name):
        if name.startswith("_vramscope") or name == os.environ.get("FAKE_TORCH_LACKS"):
            raise AttributeError("type object 'Tensor' has no attribute '%s'" % name)
        return cls._itself


class Tensor(metaclass=_Methods):
    def _itself(self, *args, **kwargs):
        return self

    __bool__ = __getitem__ = __setitem__ = __contains__ = __eq__ = __ne__ = _itself
    __hash__ = object.__hash__


isnan = isinf = any = all = nonzero = argwhere = masked_select = multinomial = where = bincount = histc = eq = ne = lt = le = gt = ge = lambda *args: args[0]
_unique2 = _amp_update_scale_ = masked_scatter = sum = prod = max = min = amax = amin = cumsum = isnan
combinations = isin = matrix_exp = topk = argmax = argmin = sort = allclose = equal = repeat_interleave = normal = rand = randint = randperm = isnan
bool = uint8 = object()
nn = types.SimpleNamespace(init=types.SimpleNamespace(), functional=types.SimpleNamespace(one_hot=lambda *args: args[0]),
                           utils=types.SimpleNamespace(rnn=types.SimpleNamespace(invert_permutation=lambda *args: args[0])),
                           Parameter=Tensor, Module=types.SimpleNamespace(load_state_dict=lambda *args: None))
_VF = types.SimpleNamespace(unique_consecutive=isnan, unique_dim=isnan)
multiprocessing = types.SimpleNamespace(reductions=types.SimpleNamespace(reduce_tensor=lambda tensor: None, init_reductions=lambda: None))
_utils = types.SimpleNamespace(_get_obj_state=lambda value: None)
hub = types.SimpleNamespace(load_state_dict_from_url=lambda *args: None)
optim = types.SimpleNamespace(LBFGS=types.SimpleNamespace(step=lambda *args: None))
jit = types.SimpleNamespace(_builtins=types.SimpleNamespace(_find_builtin=lambda function: None))


def save(obj, f):
    with open(f, "wb") as file:
        file.write(b"saved")


def load(f):
    with open(f, "rb") as file:
        return file.read()


serialization = types.SimpleNamespace(_open_zipfile_writer=lambda target: None)


class _C:
    _nn = types.SimpleNamespace()
    PyTorchFileReader = object

    @staticmethod
    def _has_torch_function_variadic(*args):
        return False

    @staticmethod
    def _cuda_getDevice():
        return 0

    @staticmethod
    def _cuda_getDeviceCount():
        return 1

    @staticmethod
    def _cuda_memoryStats(device):
        return {"allocation": {"all": dict(_counts)}}


def _entry(action, address, size):
    if action in _skipped:
        return
    _entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": time.time_ns() // 1000,
                     "frames": [{"name": "main", "filename": "/train.py", "line": 1}]})


def allocate(size):
    from torch import cuda

    cuda.init()
    address = 1 << 40 | _counts["allocated"] << 24
    _entry("segment_alloc", address, size)
    _entry("alloc", address, size)
    _blocks.append((address, size))
    _counts["allocated"] += 1
    return address


from torch import cuda  # noqa: E402

globals().pop(os.environ.get("FAKE_TORCH_LACKS"), None)
