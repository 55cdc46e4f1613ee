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


def computed(device):
    a, f = torch.tensor([1, 2, 3], device=device), torch.tensor([float("nan"), 1, float("inf")], device=device)
    counter = torch.zeros(1, device=device)
    counter += 3
    said = [counter.item(), f.isnan().tolist(), torch.isinf(f).tolist(), f.isfinite().tolist(), bool(f.isnan().any()), torch.nan_to_num(f).tolist()[:2]]
    b = a + 1  # a kernel computes it, so its bytes are unknown
    for result in (torch.outer(a, b), torch.kron(a, b), torch.max(a, b), a.max(other=b * -1), torch.gcd(a, b), torch.true_divide(a, b), a.clip(2, 3), b.type(torch.int8),
                   b.type_as(f), b.half(), torch.column_stack([a, b]), torch.rot90(b.view(1, 3)), torch.tile(b, (2,)), torch.unsqueeze(b, 0), torch.flatten(input=b),
                   torch.squeeze(b.view(1, 3)), torch.transpose(b.view(1, 3), 0, 1), torch.clone(b), torch.cartesian_prod(a, b), torch.block_diag(a, b),
                   torch.scatter_reduce(a, 0, a - 1, b, "sum"), torch.addcmul(a, a, b), torch.logspace(0, 2, 3, device=device), torch.var_mean(b.double())[1],
                   torch.fft.fftfreq(4, device=device), torch.fft.fftshift(b)):
        said.append(result.tolist())
    return said + [repr(b.double()).replace(", device='cuda:0'", ""), b.type()[-10:]]


def fetched(device):
    """Copies to tensors that exist on the host."""
    lengths = torch.arange(1, 5, device=device)
    whole, part, some, flags = torch.zeros(4, dtype=torch.long), torch.zeros(6), torch.zeros(5, dtype=torch.long), torch.zeros(4, dtype=torch.bool)
    whole.copy_(lengths, non_blocking=True)
    part[1:5].copy_(lengths)
    some[1:] = lengths
    some[0] = lengths[2]
    flags.copy_(other=lengths > 2)
    if device == "cuda":
        torch.cuda.synchronize()
    return [whole.tolist(), part.tolist(), some.tolist(), flags.tolist()]


for check in (computed, through_others, copied, saved, ordered, fetched):
    for number, (got, expected) in enumerate(zip(check("cuda"), check("cpu"), strict=True)):
        assert got == expected, (check.__name__, number, got, expected)
print("as on the CPU")
