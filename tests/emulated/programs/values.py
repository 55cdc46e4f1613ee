"""A program that branches on values that it reads back from the GPU."""
import math
import sys

import known_numbers
import torch


@torch.jit.script
def masked(x, mask, value):
    return torch.where(mask, x, value)


def by_keywords(a, b):
    """Passes arguments by name and passes output tensors."""
    mask, number = torch.empty(3, dtype=torch.bool, device="cuda"), torch.empty_like(a)
    assert torch.lt(a, b, out=mask) is mask and torch.eq(input=a, other=b).tolist() == [True, False, True] == a.eq(other=b).tolist()
    for name in ("isnan", "isinf", "isfinite", "any", "all", "nonzero", "argwhere", "sum", "max", "argmax", "unbind", "logical_not", "bitwise_not",
                 "bincount", "sort", "unique"):
        getattr(torch, name)(input=a)
    for name, more in (("chunk", {"chunks": 2}), ("topk", {"k": 1}), ("cumsum", {"dim": 0}), ("masked_select", {"mask": a > 1}), ("flip", {"dims": (0,)}),
                       ("repeat_interleave", {"repeats": 2}), ("gather", {"dim": 0, "index": torch.zeros_like(b)}), ("logical_and", {"other": b}), ("equal", {"other": b}),
                       ("bitwise_xor", {"other": b, "out": number}), ("any", {"dim": 0, "out": mask[0]})):
        getattr(torch, name)(input=a, **more)
    torch.split(tensor=a, split_size_or_sections=2)
    torch.cat(tensors=(a, b))
    assert torch.where(condition=a > 1, input=a, other=b).tolist() == [1, 2, 3] and torch.where(condition=a > 1)[0].tolist() == [1, 2]


def pairs(labels):
    """Selects the anchors, positives and negatives of a batch by label, as metric learning does."""
    same = (labels.unsqueeze(1) == labels.unsqueeze(0)).byte()
    other = same ^ 1
    same.fill_diagonal_(0)
    anchors, positives, negatives = torch.where(same.unsqueeze(2) * other.unsqueeze(1))
    assert anchors.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3] and positives.shape == negatives.shape == (12,)
    assert torch.where(same)[1].tolist() == [1, 0, 3, 2]


def trained_by():
    """Reads numbers that a program divides by, takes the logarithm of, or tests to decide whether it trains. Also reads a number that a memset wrote, and numbers of a GradScaler."""
    weights = torch.ones(4, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([weights], 0.1)
    trained = 0
    for _ in range(2):
        loss = (weights * torch.randn(4, device="cuda")).sum()
        error = loss.item()
        assert 10 * math.log10(1 / error) == 0 and 3 / float(loss) == 3
        if loss.item() == 0:
            continue
        if not torch.isfinite(loss):
            continue
        if loss > 0:
            loss.backward()
            optimizer.step()
            trained += 1
    assert trained == 2 and int(torch.full((), 5, device="cuda")) == 5 and float(loss.detach()) == 0
    scaler = torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler()
    scaler.scale((weights * torch.randn(4, device="cuda")).sum()).backward()
    scaler.unscale_(optimizer)
    before = weights._version
    scaler.step(optimizer)
    assert weights._version > before  # nothing overflows


def main():
    x = torch.ones(4, device="cuda")
    assert masked(x, x > 0, x).shape == (4,)
    mask = torch.ones(2, 8, dtype=torch.long).cuda()
    assert (mask == 1).all() and not (mask == 0).any() and 0.0 not in mask
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]]).cuda()
    assert 0 in mask and not mask.eq(1).all() and (mask == 0).any().item()
    assert mask.tolist() == [[1, 1, 0], [1, 1, 1]]
    loss = (torch.randn(4, 4, device="cuda") @ torch.randn(4, 4, device="cuda")).sum()
    assert loss.item() == 0.0 and torch.isfinite(loss).all()
    assert not torch.isnan(loss).any() and not torch.isinf(loss)
    if sys.version_info >= (3, 11):  # earlier versions do not tell which condition of a line it is
        other = (torch.randn(4, 4, device="cuda") @ torch.randn(4, 4, device="cuda")).sum()
        assert torch.isfinite(other).all(); assert not other.isinf()  # noqa: E702
    assert not (~torch.isfinite(loss) | (loss < 0)).any() and loss < 1 and not loss > 1
    assert not torch.isfinite(loss.amax()).logical_and(torch.isfinite(loss.amin())).logical_not()
    flags = torch.tensor([True, False], device="cpu").cuda()
    assert (flags & ~flags).tolist() == [False, False] and (flags | ~flags).all()
    computed = (torch.randn(100, device="cuda") > 0.5)
    assert computed.all() and 0 not in computed
    assert torch.nonzero(computed).shape == (100, 1)
    assert torch.randn(100, device="cuda")[computed].shape == (100,)
    assert torch.masked_select(torch.randn(100, device="cuda"), computed).shape == (100,)
    assert torch.where(computed)[0].shape == (100,)
    places = torch.where(computed)[0]
    assert places.tolist() == list(range(100))
    address = places.data_ptr()
    del places
    others = [torch.empty(100, dtype=torch.long, device="cuda").random_(100) for _ in range(64)]  # these tensors reuse memory whose old contents were known
    assert any(other.data_ptr() <= address < other.data_ptr() + 1024 for other in others)  # one of them is enough, because the order in which PyTorch reuses free blocks depends on its version
    assert not any(any(other.tolist()) for other in others)
    del others
    for count in (1000, 3_000_000):  # the true elements are counted by one block of threads or by many
        weights = torch.ones(count, 4, device="cuda", requires_grad=True)
        every, some = torch.randn(count, device="cuda") > 0, torch.arange(count) % 4 == 0
        for mask, rows in ((every, count), (some.cuda(), count // 4), (torch.arange(count).cuda() % 4 == 0, count // 4 if count == 1000 else count)):
            assert weights[mask].shape == (rows, 4) and weights[mask, 0].shape == (rows,)
            weights[mask].sum().backward()  # the backward pass counts them again
            assert torch.masked_select(weights[:, 0], mask).shape == (rows,)
    assert torch.multinomial(torch.rand(4, 100, device="cuda").softmax(-1), 1).shape == (4, 1)
    if (computed & computed).any():
        raise ValueError("the way to an error is not taken")
    while computed.any():  # the loop ends
        computed = torch.randn(100, device="cuda") > 0.5
    class Kind(torch.Tensor):
        pass

    for make in (torch.tensor, lambda x: torch.nn.Parameter(torch.tensor(x)), lambda x: torch.tensor(x).as_subclass(Kind)):
        assert torch.tensor([make(1.0), make(2.0)]).tolist() == [1.0, 2.0]  # torch.tensor() must not treat a tensor as a sequence
    assert torch.tensor([torch.tensor(3, device="cuda"), torch.tensor(4, device="cuda")]).tolist() == [3, 4]
    assert torch.randn(100, 4, device="cuda").argmax(1).bincount(minlength=4).tolist() == [25, 25, 25, 25]
    assert (torch.randn(8, device="cuda") > 0).cpu().all() and not torch.isnan(torch.randn(8, device="cuda")).to("cpu").any()
    seen = torch.randn(4, 10, device="cuda") > 0  # the number of true elements of a mask agrees with the number selected
    assert seen.sum(-1).tolist() == [10] * 4 and torch.randn(4, 10, device="cuda")[seen].shape == (40,)
    while seen.sum() > 0:  # the loop ends
        seen = torch.randn(4, 10, device="cuda") > 0
    while seen.sum().item() > 0:
        seen = torch.randn(4, 10, device="cuda") > 0
    assert torch.ones(30)[:7 + torch.randn(5, device="cuda").argmax()].shape == (7,)  # a computed number is 0
    box = (torch.randn(4, device="cuda") * 9).long()  # as in pasting a mask into an image: both slices of a box have the same size
    first, last = max(box[1], 0), min(box[3] + 1, 50)
    assert torch.ones(50)[first:last].shape == torch.ones(9)[first - box[1]:last - box[1]].shape == (1,)
    targets = torch.tensor([[0.0, 5], [0, 6], [2, 7]]).cuda()  # targets of a batch; the first column is the image
    images, counts = targets[:, 0].unique(return_counts=True)
    assert images.tolist() == [0, 2] and counts.max() == 2 and torch.unique(torch.randn(6, device="cuda")).shape == (6,)
    labels = torch.tensor([[5, 6, -100, -100], [5, -100, -100, -100]]).cuda()  # labels of a padded batch
    moved = labels[..., 1:].contiguous()
    assert torch.randn(2, 3, 8, device="cuda")[moved != -100].shape == (1, 8) and (labels.view(-1)[:2] != -100).all()
    lengths = torch.tensor([3, 5, 2]).cuda()  # values computed from known integers are known
    assert torch.sum(lengths).item() == 10 and int(lengths.max()) == 5 and lengths.cumsum(0).tolist() == [3, 8, 10]
    assert lengths.max(0).indices.item() == 1 and torch.min(lengths, dim=0)[0].item() == 2
    assert [int(length) for length in lengths] == [3, 5, 2] and torch.ones(10)[:lengths[1]].shape == (5,)
    assert torch.ones(10)[0 + lengths[2]:2 * lengths[1] - 1].shape == (7,) and (lengths // 2).tolist() == [1, 2, 1]
    assert torch.ones(2, 4, dtype=torch.long).cuda().sum(-1).max().item() == 4
    padding = torch.tensor([[1, 1, 0], [1, 1, 1]]).cuda()  # prompt tuning and caches lengthen the mask
    longer = torch.cat((torch.ones(2, 4, dtype=torch.long, device="cuda"), padding), dim=1)
    assert not (longer == 1).all() and torch.cat((torch.ones(2, 4).cuda(), padding), 1).bool().sum(-1).tolist() == [6, 7] and longer.sum(-1).tolist() == [6, 7] and padding.new_ones(2, 5, dtype=torch.bool).all()
    padded = torch.tensor([[5, 6, 9], [7, 9, 9]]).cuda()
    labels = padded.masked_fill(padded == 9, -100)
    labels[0, 1:] = -100
    assert (labels != -100).sum().item() == 2 and torch.randn(2, 3, device="cuda")[labels != -100].shape == (2,)
    assert torch.where(labels < 0, 0, labels).tolist() == [[5, 0, 0], [7, 0, 0]]
    labels[0, 0] = torch.randn(8, device="cuda").argmax()  # an unknown value
    assert (labels != -100).sum().item() == 6
    several = torch.arange(100).cuda()
    torch.relu(several)  # a kernel reads the tensor
    assert [label.item() for label in several][7] == 7 and [part.sum().item() for part in several.view(2, 50).split(1)] == [1225, 3725]
    assert several.view(2, 50).cpu().sum().item() == 4950 and not torch.randn(4, 9, device="cuda").argmax(-1).cpu().any()
    places = torch.arange(4, device="cuda")  # transformers builds its masks like this
    assert torch.vmap(lambda place: place.new_ones((), dtype=torch.bool) & (place <= places))(places).shape == (4, 4)
    with torch.device("cuda"):
        loss = torch.randn(4, 4).sum()
        assert torch.ones(3).is_cuda and torch.arange(3, dtype=torch.float32).is_cuda and torch.zeros_like(torch.empty(3, device="cpu")).is_cpu
        assert not loss > 1 and torch.randn(9)[torch.randn(9) > 0].shape == (9,) and torch.arange(3)[1].item() == 1
    with torch.inference_mode():
        mask = torch.tensor([[1, 1, 0], [1, 1, 1]]).cuda()
        assert (mask == 0).any() and not (mask == 2).any() and mask[mask == 1].shape == (5,)
        assert (torch.randn(100, device="cuda") > 0.5).all()
        count = torch.tensor(1).cuda()
        count += 1
        assert count.item() == 2
    drawn = torch.rand(10000, device="cuda") > 0.25  # random numbers have a realistic distribution
    assert 7000 < drawn.sum().item() < 8000 and torch.randn(2, 10000, device="cuda")[:, drawn].shape == (2, drawn.sum().item())
    order, seed = torch.randperm(100, device="cuda"), torch.initial_seed()
    assert sorted(order.tolist()) == list(range(100)) and torch.initial_seed() == seed
    assert 0 <= torch.randint(3, 9, (100,), device="cuda").min().item() < 4 and torch.arange(100).cuda()[order[:5]].tolist() == order[:5].tolist()
    final = torch.tensor([True, False, True, True], device="cuda")  # a replay memory: the last state has no next one
    for size in (1, 100, 10000):
        torch.randn(size, device="cuda").relu_()  # may overwrite memory that contained a mask
    values = torch.zeros(4, device="cuda")
    values[final] = torch.randn(3, device="cuda")
    values[final] = 0.0
    assert values[final].shape == (3,) and torch.randn(2, 4, device="cuda")[:, final].shape == (2, 3)
    half = (torch.arange(40000) < 30000).cuda()
    assert half.sum().item() == 30000 and (~half).sum().item() == 10000 and half.view(2, 20000)[:, :5][:1].sum().item() == 5
    assert torch.randn(2, 5, device="cuda")[half.view(2, 20000)[:, 9998:10003]].shape == (7,)
    chosen = torch.randn(64, 8, device="cuda").topk(2, dim=-1).indices  # topk chooses experts, which run one after the other
    for expert in range(8):
        tokens, place = torch.where(chosen == expert)
        assert tokens.shape == place.shape == (16,) and (chosen == expert).sum().item() == 16
    assert torch.nonzero(torch.randn(64, 8, device="cuda").argmax(-1) == 3).shape == (8, 1)
    for hit in torch.nn.functional.one_hot(chosen, num_classes=9).permute(2, 1, 0)[:8]:  # the ninth class is not an expert
        assert torch.where(hit)[1].shape == (16,)
    assert torch.sort(chosen.reshape(-1))[0].int().histc(bins=9, min=0, max=8).tolist() == [16] * 8 + [0]
    flat, repeats_of = chosen.reshape(-1), torch.tensor([0, 2, 2]).cuda()
    assert torch.zeros(9, dtype=torch.long, device="cuda").scatter_add_(0, flat, torch.ones_like(flat)).tolist() == [16] * 8 + [0]
    assert torch.zeros(3, device="cuda").index_add_(0, repeats_of, torch.ones(3, device="cuda")).tolist() == [1, 0, 2]
    assert (torch.randn(100, device="cuda") * 4).long().bincount(minlength=4).tolist() == [25] * 4
    repeats = torch.tensor([2, 0, 3]).cuda()
    assert torch.randn(3, 4, device="cuda").repeat_interleave(repeats, dim=0).shape == (5, 4) and torch.repeat_interleave(repeats).shape == (5,)
    assert torch.randn(3, 4, device="cuda").repeat_interleave(2, 1).shape == (3, 8)
    assert torch.allclose(values, torch.randn(4, device="cuda")) and torch.equal(values, torch.randn(4, device="cuda") + 1)
    tied = [torch.nn.Parameter(torch.randn(512, 64).cuda()) for _ in range(2)]  # tied weights that a checkpoint contains twice
    assert torch.equal(*tied) and not torch.equal(*(torch.nn.Parameter(torch.tensor([value]).cuda(), requires_grad=False) for value in (1, 2)))
    assert not torch.equal(repeats, repeats + 1) and repeats.equal(repeats.clone()) and not torch.equal(repeats, order)
    steps, step = torch.tensor(0, device="cuda"), torch.tensor(2, device="cuda")
    while steps < 6:  # a loop over a counter on the GPU
        steps += step
    assert steps.item() == 6
    while steps < 9:  # a loop with an unknown number of steps
        steps += torch.randn(4, device="cuda").argmax()
    while not torch.allclose(values, torch.randn(4, device="cuda")):  # the loop ends
        values = torch.randn(4, device="cuda")
    assert torch.normal(torch.zeros(3, device="cuda"), torch.randn(3, device="cuda").exp()).shape == (3,)
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.randn(3, 5, 2, device="cuda"), torch.tensor([2, 5, 3]), batch_first=True, enforce_sorted=False)
    assert torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)[1].tolist() == [2, 5, 3]
    by_keywords(torch.tensor([1, 2, 3]).cuda(), torch.tensor([1, 0, 3]).cuda())
    pairs(torch.tensor([0, 0, 1, 1, 2]).cuda())
    trained_by()
    assert not torch.any(torch.linalg.cholesky_ex(torch.randn(4, 4, device="cuda")).info)  # a computed number is 0
    with torch.device("cuda"):
        assert int(torch.prod(torch.tensor(()))) == 1 and torch.tensor(()).sum() == 0 and torch.tensor([2.0, 3.0]).prod().item() == 6
    known_numbers.main()
    if computed.any():
        print("as expected")


if __name__ == "__main__":
    main()
