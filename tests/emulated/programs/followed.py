"""Known values that are written through another tensor of the same memory, copied with their tensor, saved and loaded, or sorted."""
import copy
import io
import pickle

import torch
from torch.nn.utils import rnn
from torch.optim import swa_utils


def through_others(device):
    counter = torch.zeros((), dtype=torch.long, device=device)
    part = counter.detach()
    part.add_(1)
    del part
    torch.ones(5, device=device).relu_()
    said = [counter.item()]
    counter.detach().copy_(torch.tensor(7, device=device))
    part = counter.detach()
    counter += 1
    said += [counter.item(), part.item()]
    mask = torch.zeros(4, 100, dtype=torch.bool, device=device)
    for row, length in zip(mask, (3, 100, 0, 50)):
        row[:length] = True
    mask.view(-1)[399] = True
    mask[:, 1].fill_(False)
    said += [mask.sum(1).tolist(), mask.nonzero().shape]
    counts = torch.zeros(3, 3, dtype=torch.long, device=device)
    for row, column in ((0, 1), (1, 1), (2, 2), (0, 1)):
        counts[row, column] += 1
    counts[1] += 2
    torch.add(counts[0], 5, out=counts[2])
    return said + [counts.tolist(), counts.diag().tolist(), counts.trace().item()]


def copied(device):
    steps = torch.zeros((), dtype=torch.long, device=device)
    steps += 3
    other = copy.deepcopy({"steps": steps, "list": [torch.arange(200, device=device)]})
    said = [other["steps"].item(), other["list"][0].sum().item()]
    other["steps"] += 1
    said += [other["steps"].item(), steps.item()]
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).to(device)
    averaged = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True)
    for _ in range(3):
        model(torch.randn(5, 4, device=device))
        averaged.update_parameters(model)
    return said + [averaged.n_averaged.item(), averaged.module[1].num_batches_tracked.item()]


def saved(device):
    numbers, flags = torch.arange(300, device=device), torch.zeros(9, dtype=torch.bool, device=device)
    flags[2] = True
    stream, state = io.BytesIO(), torch.get_rng_state()
    torch.save({"numbers": numbers, "flags": flags, "state": state}, stream)
    said = [pickle.loads(pickle.dumps(numbers)).sum().item()]
    for location in (device, "cpu"):
        stream.seek(0)
        loaded = torch.load(stream, map_location=location)
        torch.randn(9, device=device).relu_()
        torch.set_rng_state(loaded["state"].cpu())
        said += [loaded["numbers"].sum().item(), loaded["flags"].nonzero().tolist(), torch.equal(loaded["state"].cpu(), state)]
    return said


def ordered(device):
    packed = rnn.pack_sequence([torch.arange(3, device=device), torch.arange(2, device=device)])
    said = [packed.data.tolist(), rnn.pad_packed_sequence(packed)[0].tolist(), [part.tolist() for part in rnn.unpack_sequence(packed)]]
    x = torch.tensor([3, 1, 2, 3, 1], device=device)
    said += [x.kthvalue(2).values.item(), x.mode().values.item(), x.msort().tolist(), torch.histc(x.float(), 3).tolist(), x.float().quantile(0.5).item()]
    unknown = torch.randn(4, 6, device=device)
    for places in (unknown.sort(dim=0)[1], unknown.argsort(dim=0), torch.sort(unknown, 0, True)[1], unknown.argsort(0, True)):
        said.append([sorted(column) for column in places.t().tolist()])
    return said + [sorted(torch.randn(6, device=device).argsort().argsort().tolist())]


for check in (through_others, copied, saved, ordered):
    for number, (got, expected) in enumerate(zip(check("cuda"), check("cpu"), strict=True)):
        assert got == expected, (check.__name__, number, got, expected)
print("as on the CPU")
