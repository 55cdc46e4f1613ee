"""Writes checkpoints through files and streams, as frameworks do, and reads them again; also reads hostile files."""
import base64
import collections
import io
import json
import os
import pickle
import sys
import tempfile
import zipfile

import torch
import torch.distributed.checkpoint as distributed_checkpoint

FOLDER = os.environ["CHECKPOINTS"]
ISOLATED = os.environ.get("VRAMSCOPE_ISOLATION", "none") != "none"


def path(name):
    return os.path.join(FOLDER, name)


def same(a, b):
    assert a.keys() == b.keys() and all(a[name].shape == b[name].shape for name in a), (a.keys(), b.keys())


def files_and_streams():
    for rows in (4, 80_000):  # the first is written completely, the second as shapes only in a sparse file
        model = torch.nn.Linear(1024, rows, device="cuda")
        state = model.state_dict()
        with open(path("opened.pt"), "wb") as file:
            torch.save(state, file)
        with open(path("opened.pt"), "rb") as file:
            same(torch.load(file, map_location="cpu"), state)
        same(torch.load(path("opened.pt")), state)

        buffer = io.BytesIO()  # Lightning saves to memory, writes a temporary file, and renames that
        torch.save(state, buffer)
        assert not (ISOLATED and rows > 4) or len(buffer.getvalue()) < 4096
        handle, part = tempfile.mkstemp()
        os.close(handle)
        with open(part, "wb") as file:
            file.write(buffer.getvalue())
        os.replace(part, path("moved.ckpt"))
        same(torch.load(path("moved.ckpt"), map_location="cuda"), state)

        distributed_checkpoint.save(state, checkpoint_id=path("distributed"))
        again = {name: torch.empty_like(tensor) for name, tensor in state.items()}
        distributed_checkpoint.load(again, checkpoint_id=path("distributed"))
        same(again, state)


def takes(name):
    status = os.stat(path(name))
    return status.st_size, status.st_blocks * 512


def large_files():
    """Checks that all readers of PyTorch's format can read large files, although these are written as sparse files."""
    model = torch.nn.Linear(1024, 80_000, device="cuda")
    saved = {"model": model, "tied": model.weight, "steps": torch.arange(5), "small": torch.ones(3, device="cuda"), "other": (1, None, "text")}
    torch.save(saved, path("large.pt"))
    size, taken = takes("large.pt")
    assert size > 4 * 1024 * 80_000 and (taken < 1 << 20) is ISOLATED, (size, taken)
    with zipfile.ZipFile(path("large.pt")) as archive:
        assert archive.testzip() is None  # the checksums of the holes in the sparse file are right
    for more in ({}, {"map_location": "cpu"}, {"mmap": True, "map_location": "cpu"}):
        back = torch.load(path("large.pt"), weights_only=False, **more)
        assert type(back["model"]) is torch.nn.Linear and back["tied"] is back["model"].weight
        assert back["tied"].device.type == ("cpu" if more else "cuda") and back["steps"].tolist() == [0, 1, 2, 3, 4] and back["other"] == (1, None, "text")
    try:
        torch.save(saved, path("nowhere/large.pt"))
        raise AssertionError("it was saved nowhere")
    except RuntimeError as error:
        assert "Parent directory" in str(error)
    try:
        import safetensors.torch
    except ImportError:
        return
    tensors = {"weight": model.weight.detach(), "half": torch.ones(3, dtype=torch.float16), "steps": saved["steps"]}
    safetensors.torch.save_file(tensors, path("large.safetensors"), metadata={"format": "pt"})
    size, taken = takes("large.safetensors")
    assert size > 4 * 1024 * 80_000 and (taken < 1 << 20) is ISOLATED, (size, taken)
    back = safetensors.torch.load_file(path("large.safetensors"))
    same(back, tensors)
    assert back["steps"].tolist() == [0, 1, 2, 3, 4] and back["half"].tolist() == [1, 1, 1] and back["half"].dtype is torch.float16
    with safetensors.safe_open(path("large.safetensors"), "pt") as file:
        assert file.metadata() == {"format": "pt"} and file.get_slice("weight").get_shape() == [80_000, 1024]


def shapes_in_a_stream():
    weight = torch.nn.Parameter(torch.zeros(1024, 1024, device="cuda"))
    value = collections.OrderedDict(a=weight, b=weight, part=weight.detach()[:, 7], steps=torch.arange(5), counts={3: (1.5, float("inf"))}, empty=[set(), b"\0"],
                                    kind=torch.float16, size=weight.shape)
    stream = io.BytesIO()
    torch.save(value, stream)
    assert (len(stream.getvalue()) < 4096) is ISOLATED
    stream.seek(0)
    back = torch.load(stream, weights_only=ISOLATED)
    assert type(back) is collections.OrderedDict and list(back) == list(value) and back["a"] is back["b"] and type(back["a"]) is torch.nn.Parameter
    assert back["part"].stride() == (1024,) and back["part"].untyped_storage().data_ptr() == back["a"].untyped_storage().data_ptr()
    assert back["steps"].tolist() == [0, 1, 2, 3, 4] and all(back[name] == value[name] for name in ("counts", "empty", "kind", "size"))
    stream = io.BytesIO()
    torch.save(torch.nn.Linear(1024, 1024, device="cuda"), stream)  # a whole module is saved as PyTorch does it
    stream.seek(0)
    assert type(torch.load(stream, weights_only=False)) is torch.nn.Linear


class Runs:
    def __reduce__(self):
        return os.mkdir, (path("it was run"),)


def refused(data):
    with open(path("made_up.pt"), "wb") as file:
        file.write(data)
    try:
        torch.load(path("made_up.pt"), map_location="cpu", weights_only=True)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
    raise AssertionError("%r was loaded" % data[:200])


def made_up_files():
    """Checks that loading a malicious file executes no code in it, and rejects invalid values."""
    refused(b"vramscope: shapes alone\n" + pickle.dumps(Runs()))
    assert not os.path.exists(path("it was run"))
    tensor = {"storage": 0, "dtype": "torch.float32", "shape": [4], "stride": [1], "offset": 0}
    good = {"storages": [{"bytes": 16, "device": "cpu", "data": base64.b64encode(bytes(16)).decode()}], "tensors": [tensor], "value": {"tensor": 0}}

    def document(**changes):
        return b"vramscope: shapes as JSON\n" + json.dumps({**good, **changes}).encode()

    with open(path("made_up.pt"), "wb") as file:
        file.write(document())
    assert torch.load(path("made_up.pt"), weights_only=True).tolist() == [0, 0, 0, 0]
    bad = [document()[:-9], document()[:30], document() + b"}", b"vramscope: shapes as JSON\n" + b"[" * 100_000, b"vramscope: shapes as JSON\n[]",
           document(value={"tensor": 1}), document(value={"tensor": -1}), document(value={"os.system": "true"}), document(value={"a": 1, "b": 2}),
           document(value={"dict": [[{"dict": []}, 1]]}), document(value={"bytes": "?"}), document(value={"dtype": "torch.save"}),
           document(storages=[{"bytes": 1 << 60}]), document(storages=[{"bytes": -1}]), document(storages=[{"bytes": 17, "data": "AAAA"}]),
           document(storages=[{"bytes": 1 << 43}] * 3), document(storages=5), document(tensors=[None])]
    for change in ({"shape": [5]}, {"shape": [1 << 40]}, {"offset": 1}, {"stride": [-1]}, {"stride": [1 << 62]}, {"shape": [2, 2]}, {"dtype": "torch.nn"},
                   {"storage": 9}, {"shape": [True]}, {"dtype": "torch.int32", "requires_grad": True}):
        bad.append(document(tensors=[{**tensor, **change}]))
    for data in bad:
        error = refused(data)
        assert "written by vramscope, but is damaged" in error, (data[:200], error)


def main():
    if sys.argv[1:] == ["large"]:
        large_files()
        return
    files_and_streams()
    large_files()
    shapes_in_a_stream()
    made_up_files()
    with open(path("notes.txt"), "w") as file:
        file.write("no checkpoint: it is the program's own\n")
    print("all read again")


if __name__ == "__main__":
    main()
