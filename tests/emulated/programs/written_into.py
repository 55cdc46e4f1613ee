"""Functions that write known values into a tensor of the program: `out=`, and methods that change their tensor. The results must be those of the
CPU; if a result is unknown, the tensor's earlier contents must not be taken for it."""
import torch


def into(device):
    a, b = torch.tensor([3, 1, 2], device=device), torch.tensor([1, 1, 5], device=device)
    f = torch.tensor([0.5, 4.0, -2.0], device=device)
    n, x, m = torch.empty_like(a), torch.empty_like(f), torch.empty(3, dtype=torch.bool, device=device)
    values, places = torch.zeros(3, dtype=torch.int64, device=device), torch.zeros(3, dtype=torch.int64, device=device)
    said = []

    def say(*tensors):
        said.extend(tensor.tolist() for tensor in tensors)

    for function in (torch.add, torch.sub, torch.mul, torch.floor_divide, torch.remainder, torch.maximum, torch.minimum, torch.fmod, torch.bitwise_and,
                     torch.bitwise_xor, torch.pow):
        result = function(a, b, out=n)
        assert result is n
        say(n)
    torch.add(a, b, alpha=3, out=n)
    say(n)
    torch.add(n, n, out=n)
    say(n, n.sum())
    for function in (torch.eq, torch.lt, torch.ge, torch.logical_and, torch.logical_xor):
        function(a, b, out=m)
        say(m, m.nonzero().flatten(), a[m])
    for function in (torch.neg, torch.abs, torch.sign, torch.square, torch.floor, torch.exp):
        say(function(f, out=x))
    torch.add(a, b, out=x)
    say(x)
    torch.max(a.view(1, 3), 1, out=(values[:1], places[:1]))
    say(values, places)
    torch.sort(a, out=(values, places))
    say(values, places)
    torch.topk(a, 3, out=(values, places))
    say(values, places)
    say(torch.cumsum(a, 0, out=n), torch.sum(a.view(1, 3), 1, out=n[:1]), n, torch.cat((a[:1], b[1:]), out=n), torch.stack([a, b], out=torch.empty_like(a).resize_(0)))
    say(torch.arange(3, out=n), torch.ones(3, out=x), torch.full((3,), 7, out=n), torch.where(a > 1, a, b, out=n), torch.argmax(a, out=values[0]))
    say(torch.any(a > 2, out=m[0]), torch.all(a > 2, out=m[1]), torch.gather(a, 0, b - b, out=n), torch.index_select(a, 0, b - b, out=n))
    return said


def changed(device):
    said = []
    for change in (lambda t: t.pow_(2), lambda t: t.neg_(), lambda t: t.abs_(), lambda t: t.bitwise_and_(3), lambda t: t.bitwise_xor_(5), lambda t: t.sign_(),
                   lambda t: t.bitwise_not_(), lambda t: t.eq_(3), lambda t: t.gt_(1), lambda t: t.fmod_(2), lambda t: t.cumsum_(0), lambda t: t.add_(1, alpha=4),
                   lambda t: t.add_(t.clone(), alpha=2), lambda t: t[0].add_(t[1], alpha=2), lambda t: t.square_(), lambda t: t.__imod__(2),
                   lambda t: t.__ilshift__(1), lambda t: t.masked_scatter_(t > 1, t + 5)):
        tensor = torch.tensor([3, -1, 2], device=device)
        change(tensor)
        said += [tensor.tolist(), int(tensor.sum())]
    for change in (lambda t: t.sqrt_(), lambda t: t.floor_(), lambda t: t.ceil_(), lambda t: t.round_(), lambda t: t.trunc_(), lambda t: t.div_(2)):
        tensor = torch.tensor([0.25, 2.5], device=device)
        change(tensor)
        said.append(tensor.tolist())
    corner = torch.ones(3, 3, dtype=torch.int64, device=device).tril_()
    return said + [corner.tolist(), corner.triu_().tolist()]


def unknown():
    """If unknown numbers are written into a tensor with known contents, the contents become unknown."""
    computed = (torch.randn(40, 3, device="cuda") @ torch.randn(3, 3, device="cuda")).long()[0]
    for known in (torch.tensor([7, 7, 7], device="cuda"), torch.full((3,), 7, device="cuda")):
        torch.arange(known[0], device="cuda")
        torch.add(computed, 1, out=known)
        assert known.tolist() == [0, 0, 0], known.tolist()
    one = torch.tensor(7, device="cuda")
    torch.sum(computed, 0, out=one)
    assert one.item() == 0


for check in (into, changed):
    for number, (got, expected) in enumerate(zip(check("cuda"), check("cpu"))):
        assert got == expected, (check.__name__, number, got, expected)
unknown()
print("as on the CPU")
