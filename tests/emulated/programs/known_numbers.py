"""Operations on lengths, masks, labels and offsets whose results are read back. Numbers that were
copied from the CPU are known on the GPU, before and after a kernel has read them."""
import torch
import torch.nn.functional as F

LENGTHS = torch.tensor([3, 5, 2, 5])
MASK = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
TOKENS = torch.tensor([[5, 9, 2, 0, 0], [7, 2, 4, 4, 2], [1, 2, 0, 0, 0], [3, 3, 8, 6, 2]])


def less_one(lengths):
    lengths = lengths.clone()
    lengths -= 1
    return lengths


def shifted(tokens):
    result = tokens.new_zeros(tokens.shape)
    result[:, 1:] = tokens[:, :-1].clone()
    result[:, 0] = 9
    return result.masked_fill_(result == 2, -100)


def kept(lengths):
    """Overwrites a buffer in place."""
    buffer = torch.full_like(lengths, 7)
    buffer.copy_(lengths)
    return buffer.clamp_(max=4).mul_(2)


# Operations on lengths (n), mask (m) and tokens (t).
MADE = (
    lambda n, m, t: n.sort(descending=True).values, lambda n, m, t: torch.sort(n, 0, True)[1].sort()[0], lambda n, m, t: n.argsort()[:1],
    lambda n, m, t: n.topk(2)[0], lambda n, m, t: (t == 2).int().argmax(1), lambda n, m, t: m.argmin(-1), lambda n, m, t: t.max(1)[0],
    lambda n, m, t: (torch.div(n - 3, 2, rounding_mode="floor") + 1).clamp(min=0), lambda n, m, t: n.div(2, rounding_mode="trunc"),
    lambda n, m, t: (n / 2).floor().long(), lambda n, m, t: torch.ceil(n / 2).int(), lambda n, m, t: (n.float() * 0.5).long(),
    lambda n, m, t: (n ** 2 - n % 2 + (n << 1)).sub(1).mul(3), lambda n, m, t: (-n).abs(), lambda n, m, t: n.clone().add_(1), lambda n, m, t: less_one(n),
    lambda n, m, t: torch.maximum(n, torch.full_like(n, 3)), lambda n, m, t: torch.clamp(n, max=3).clamp_min(3), lambda n, m, t: kept(n),
    lambda n, m, t: F.pad(torch.cumsum(m.sum(-1, dtype=torch.int32), 0, dtype=torch.int32), (1, 0)), lambda n, m, t: F.pad(t, (0, 2), value=7),
    lambda n, m, t: torch.diff(n), lambda n, m, t: m.float().mean(), lambda n, m, t: (t == 2).count_nonzero(), lambda n, m, t: n.median(),
    lambda n, m, t: torch.unique_consecutive(t), lambda n, m, t: torch.unique(m, dim=0), lambda n, m, t: torch.bincount(n), lambda n, m, t: n.bincount(minlength=8),
    lambda n, m, t: F.one_hot(n), lambda n, m, t: F.one_hot(n, 6).sum(0), lambda n, m, t: torch.arange(4, device=n.device).repeat_interleave(n),
    lambda n, m, t: torch.repeat_interleave(n), lambda n, m, t: shifted(t), lambda n, m, t: t.take(n), lambda n, m, t: torch.isin(t, t[0, :2]),
    lambda n, m, t: t.new_zeros(t.shape).index_copy_(1, torch.arange(1, 5, device=t.device), t[:, :-1]), lambda n, m, t: torch.bucketize(n, n[:2]),
    lambda n, m, t: torch.searchsorted(torch.tensor([1, 3, 5], device=n.device), n), lambda n, m, t: torch.stack(torch.meshgrid(n, n[:2], indexing="ij")),
    lambda n, m, t: torch.linspace(0, 10, 6, device=n.device).long(), lambda n, m, t: torch.eye(3, device=n.device, dtype=torch.long),
    lambda n, m, t: n.new_zeros(4, 6).scatter(1, n[:, None], 1).argmax(1), lambda n, m, t: n.new_zeros(6).index_fill_(0, n, 1),
    lambda n, m, t: n.new_zeros(6).index_put_((n,), torch.ones_like(n)), lambda n, m, t: n.cummax(0)[0],
    lambda n, m, t: torch.nn.utils.rnn.pad_sequence([torch.arange(x, device=n.device) for x in n], True, -1),
    lambda n, m, t: torch.cat([torch.zeros(1, device=n.device).expand(x).long() + y for x, y in zip(n, n)]),
    lambda n, m, t: m.unsqueeze(-1).expand_as(t.unsqueeze(-1).repeat(1, 1, 3)).bool().sum((1, 2)),
)


def images():
    """Replaces image tokens with features, as vision-language models do. Each feature must get a gradient."""
    tokens = TOKENS.cuda()
    words = torch.randn(4, 5, 8, device="cuda", requires_grad=True)
    place = (tokens == 2).unsqueeze(-1).expand_as(words)
    features = torch.randn(5, 8, device="cuda", requires_grad=True)
    assert words[place].numel() == features.numel()
    words.masked_scatter(place, features).sum().backward()
    assert features.grad.shape == (5, 8)
    anywhere = (torch.randn(4, 5, 1, device="cuda") > 0).expand_as(words)  # the masked places are unknown
    words.masked_scatter(anywhere, features).sum().backward()


def padding():
    """Images that are all zeros count as padding of a batch. Computed images must not count as padding."""
    pixels = torch.randn(3, 4, 64, 64, device="cuda").half().view(12, 64, 64)
    real = (pixels == 0.0).sum(dim=(-1, -2)) != pixels[0].numel()
    assert any(real) and pixels[real].shape == (12, 64, 64) and pixels[pixels == 0.0].shape == (12 * 64 * 64,)


def sparse():
    """Checks that a coalesced sparse tensor has each index once."""
    places = torch.tensor([[0, 2, 2, 5], [1, 1, 1, 0]])
    known = torch.sparse_coo_tensor(places, torch.ones(4), (6, 2)).cuda()
    assert known.coalesce()._nnz() == 3
    table = torch.nn.Embedding(10, 4, sparse=True, device="cuda")
    table(torch.randn(7, 9, device="cuda").argmax(1)).sum().backward()
    assert table.weight.grad.coalesce()._nnz() == 7  # unknown indexes are assumed to be all different
    table(torch.randn(90, 9, device="cuda").argmax(1)).sum().backward()
    assert table.weight.grad.coalesce()._nnz() == 10  # the maximum number of rows
    optimizer = torch.optim.SparseAdam(table.parameters())
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    optimizer.step()
    assert torch.cuda.max_memory_allocated() > before + 2 * table.weight.numel() * 4


def views():
    """The contents of a tensor stay known as long as it exists, even when a view of it is freed."""
    most = LENGTHS.cuda().max()
    for _ in range(3):
        most.long().view(1).detach()
        torch.randn(9, device="cuda").relu_()
    assert torch.ones(9)[:most].shape == (5,)
    for height, width in torch.tensor([[2, 3], [4, 1]]).cuda():
        torch.randn(9, device="cuda").relu_()
        assert torch.arange(height, device="cuda")[:, None].expand(-1, width).shape == (int(height), int(width))


def main():
    for number, make in enumerate(MADE):
        expected = make(LENGTHS.clone(), MASK.clone(), TOKENS.clone())
        for read in (False, True):
            moved = [tensor.cuda() for tensor in (LENGTHS, MASK, TOKENS)]
            if read:
                for tensor in moved:
                    tensor.half()
            assert make(*moved).tolist() == expected.tolist(), number
    images()
    padding()
    sparse()
    views()
    classes = torch.randn(6, 4, 50, device="cuda").argmax(1)
    assert torch.unique(classes).shape == (4,) and torch.unique(classes > 1).shape == (2,)
    scaler = torch.amp.GradScaler("cuda", growth_interval=2) if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler(growth_interval=2)
    weights = torch.ones(4, device="cuda", requires_grad=True)
    optimizer, scales = torch.optim.SGD([weights], 0.1), []
    for _ in range(4):
        scaler.scale((weights * torch.randn(4, device="cuda")).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [65536, 131072, 131072, 262144]
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)).cuda().eval()
    traced = torch.jit.trace(model, torch.randn(1, 3, 8, 8, device="cuda"))
    for module in (traced, torch.jit.freeze(traced)):
        assert module(torch.randn(2, 3, 8, 8, device="cuda")).shape == (2, 4, 6, 6)
    losses = []
    for _ in range(3):
        losses.append(weights.sum().item())
    assert (losses[0] - losses[-1]) / losses[0] == 0 and sum(losses) / len(losses) == 1


if __name__ == "__main__":
    main()
