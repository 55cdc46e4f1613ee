"""Comparisons, filters and indexes that depend on values that a GPU would have computed."""
import math
import os
import sys
import tempfile

import torch


def packed_lengths(position_ids):
    """Computes the lengths of packed sequences as transformers' prepare_fa_kwargs_from_position_ids does."""
    flat = position_ids.view(-1)
    starts = (flat == 0).nonzero().view(-1)
    ends = torch.cat((starts.to(dtype=torch.int32, device=flat.device), torch.tensor(flat.size(), dtype=torch.int32, device=flat.device)))
    assert ends.tolist() == [0, 5, 12, 16], ends.tolist()
    assert ends.diff().tolist() == [5, 7, 4] and int(ends.diff().max()) == int((ends[1:] - ends[:-1]).max()) == 7
    return ends


def lengths():
    ids = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3]])
    packed_lengths(ids.cuda())
    packed_lengths(ids.pin_memory().to("cuda", non_blocking=True))
    x = torch.randn(4, device="cuda", requires_grad=True)
    torch.utils.checkpoint.checkpoint(lambda x, ids: packed_lengths(ids) is not None and x * 2, x, ids.cuda(), use_reentrant=False).sum().backward()


def masks_without_dimensions(x):
    for number in (torch.min(x), x.mean(), torch.exp(x.sum()).clamp(max=2.0), torch.min(x[x > 0])):
        mask = ~torch.isnan(number)
        assert number[mask].shape == number.reshape(1)[mask.reshape(1)].shape == (1,)
        assert number[torch.isnan(number)].shape == (0,)
        number[mask].min()
    assert x[torch.tensor(False, device="cuda")].shape == (0, len(x)) and x[torch.tensor(True, device="cuda")].shape == (1, len(x))


def norm(model):
    return sum(parameter.detach().abs().sum().item() for parameter in model.parameters())


def accuracy(output):
    hits = (output.argmax(1) == 3).float().mean().item()
    return hits


class Watched:
    def compare(self, model):
        self.before = model.weight.sum().item()
        self.after = model.weight.mean().item()
        if abs(self.after - self.before) < 1e-6:
            raise RuntimeError("the sum and the mean are equal")


def trains(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    before, norm_before = model.weight.sum().item(), norm(model)
    output = model(torch.randn(8, 64, device="cuda"))
    output.sum().backward()
    optimizer.step()
    after, norm_after = model.weight.sum().item(), norm(model)
    if after == before:
        raise RuntimeError("nothing was learned")
    assert not math.isclose(norm_after, norm_before)
    assert accuracy(output) > 0.5
    if model.bias.sum().item() == 0 or accuracy(output) < 0.25:
        raise SystemExit("the bias is 0")
    loss = output.sum().item()
    if loss > 1e4 or math.isnan(loss):
        raise RuntimeError("diverged")
    Watched().compare(model)
    assert output.max().item() == 0  # an unknown value is read as 0, because no comparison above excludes 0
    return output


def filtered(numbers):
    operations = [number for number, weight in zip(range(3), numbers) if weight > 0.1]
    assert len(operations) == 3
    assert len([weight for weight in numbers if weight.item() > 0.1]) == 3
    assert [weight for weight in numbers if weight.isnan()] == [] and len([weight for weight in numbers if not torch.isnan(weight)]) == 3


ASSIGNMENT = """
import torch


def batch_linear_assignment(cost):
    return torch.full(cost.shape[:2], -1, dtype=torch.int64, device="cuda")  # its Triton kernel overwrites this


def assignment_to_indices(assignment):
    mask = assignment >= 0
    count = mask.sum(1)[0].item()
    return mask.nonzero()[:, 1].reshape(len(mask), count), assignment.masked_select(mask).reshape(len(mask), count)
"""


def matched():
    """Assigns predictions to targets as RF-DETR does, with a module that has the function names of torch_linear_assignment 0.1."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "torch_linear_assignment"))
        for name, text in (("__init__", ""), ("assignment", ASSIGNMENT)):
            with open(os.path.join(folder, "torch_linear_assignment", name + ".py"), "w") as file:
                file.write(text)
        sys.path.insert(0, folder)
        from torch_linear_assignment.assignment import assignment_to_indices, batch_linear_assignment

        sys.path.remove(folder)
    sizes = [2, 3]  # targets of two images, padded to 3; there are 5 queries
    rows, columns = assignment_to_indices(batch_linear_assignment(torch.randn(2, 5, 3, device="cuda")))
    columns = columns.cpu()
    kept = columns < torch.tensor(sizes).unsqueeze(1)
    assert [len(part) for part in torch.split(columns[kept], sizes)] == sizes, columns
    assert rows.shape == (2, 3)


model = torch.nn.Linear(64, 64, device="cuda")
lengths()
masks_without_dimensions(torch.randn(100, device="cuda"))
filtered(torch.rand(3, device="cuda") * trains(model).sum())
matched()
print("all comparisons hold")
