"""Initialises an adapter from a decomposition of the layer's weights. On the host, decomposing these weights would take a minute."""
import torch


def main():
    layer = torch.nn.Linear(8192, 8192, bias=False).to("cuda").requires_grad_(False)
    weight = layer.weight.detach().float().cpu()
    left, values, right = torch.linalg.svd(weight, full_matrices=False)
    assert left.shape == right.shape == (8192, 8192) and values.shape == (8192,) and not values.any()
    assert left[:64].norm(dim=1).eq(1).all()
    factors = torch.linalg.qr(weight)
    assert factors.Q[5, 5] == 1 and factors.R.shape == (8192, 8192) and not factors.R.any()
    assert torch.linalg.eigh(weight).eigenvectors.diagonal().eq(1).all()
    assert torch.linalg.solve(weight, torch.ones(8192, 3)).shape == (8192, 3)
    scaled = 2 * torch.eye(8192)
    scaled[5, 5] = 1  # FRoD's inverses of products of orthogonal matrices
    assert torch.linalg.inv(scaled)[4, 4] == 0.5 and torch.linalg.inv(scaled).sum() == 4096.5
    values, vectors = torch.linalg.eigh(scaled)
    assert values[0] == 1 and values[1:].eq(2).all()
    assert vectors.count_nonzero() == 8192 and torch.equal(scaled @ vectors[:, :9], vectors[:, :9] * values[:9])
    small = torch.linalg.svd(torch.ones(300, 2))
    assert small.S[0] > 24 and small.U.shape == (300, 300)  # small matrices are really decomposed
    rank = 16
    adapter = torch.nn.Sequential(torch.nn.Linear(8192, rank, bias=False), torch.nn.Linear(rank, 8192, bias=False))
    adapter[0].weight.data = right[:rank] * values[:rank, None]
    adapter[1].weight.data = left[:, :rank].contiguous()
    adapter.to("cuda")
    optimizer = torch.optim.AdamW(adapter.parameters())
    for _ in range(2):
        x = torch.randn(4, 8192, device="cuda")
        (layer(x) + adapter(x)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
