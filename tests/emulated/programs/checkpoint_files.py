"""Checkpoints that are written through files and streams, as frameworks do it, and read again."""
import io
import os
import tempfile

import torch
import torch.distributed.checkpoint as distributed_checkpoint

FOLDER = os.environ["CHECKPOINTS"]


def path(name):
    return os.path.join(FOLDER, name)


def same(a, b):
    assert a.keys() == b.keys() and all(a[name].shape == b[name].shape for name in a), (a.keys(), b.keys())


def main():
    for rows in (4, 80_000):  # written whole, as shapes alone
        model = torch.nn.Linear(1024, rows, device="cuda")
        state = model.state_dict()
        with open(path("opened.pt"), "wb") as file:
            torch.save(state, file)
        with open(path("opened.pt"), "rb") as file:
            same(torch.load(file, map_location="cpu"), state)
        same(torch.load(path("opened.pt")), state)

        buffer = io.BytesIO()  # Lightning's way: bytes first, then a file that gets its name when it is whole
        torch.save(state, buffer)
        handle, part = tempfile.mkstemp()
        os.close(handle)
        with open(part, "wb") as file:
            file.write(buffer.getvalue())
        os.replace(part, path("moved.ckpt"))
        os.chmod(path("moved.ckpt"), 0o600)
        assert not os.path.exists(part) and os.path.getsize(path("moved.ckpt")) == len(buffer.getvalue())
        os.close(os.open(path("moved.ckpt"), os.O_RDONLY))
        same(torch.load(path("moved.ckpt"), map_location="cuda"), state)

        distributed_checkpoint.save(state, checkpoint_id=path("distributed"))
        again = {name: torch.empty_like(tensor) for name, tensor in state.items()}
        distributed_checkpoint.load(again, checkpoint_id=path("distributed"))
        same(again, state)
    with open(path("notes.txt"), "w") as file:
        file.write("no checkpoint: it is the program's own\n")
    print("all read again")


if __name__ == "__main__":
    main()
