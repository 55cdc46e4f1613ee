"""Replaces decompositions of weights that have no initial values. Adapters that are initialised
from the weights (PiSSA, OLoRA, FRoD, ...) decompose the weights on the CPU, which takes minutes per
layer. Weights without initial values are zeros, and the factors of a zero matrix are known:
identity and zeros. What adapters compute from such factors is often a large diagonal matrix, whose
inverse and eigenvectors need no search.

scikit-learn's KMeans would put the equal rows of such factors into one cluster. Clusters are
assumed to be equally large instead."""

import functools

from vramscope import imports, overrides
from vramscope.known import place

LARGE = 1 << 18  # number of elements; smaller matrices are really decomposed

# function of torch.linalg: which of its results are orthogonal
_FACTORS = {
    "svd": (0, 2),
    "qr": (0,),
    "eigh": (1,),
    "inv": (),
    "pinv": (),
    "solve": (),
    "svdvals": (),
    "eigvalsh": (),
}


def _zeros(torch, value):
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == "cpu"
        and value.layout is torch.strided
        and value.numel() >= LARGE
        and value.is_floating_point()
        and not value.requires_grad
        and not value.any()
    )


def _diagonal(torch, value):
    """The diagonal of a large diagonal matrix whose inverse exists, else None."""
    if (
        not isinstance(value, torch.Tensor)
        or value.device.type != "cpu"
        or value.layout is not torch.strided
        or value.dim() != 2
        or value.shape[0] != value.shape[1]
        or value.numel() < LARGE
        or not value.is_floating_point()
        or value.requires_grad
    ):
        return None
    diagonal = value.diagonal()
    entries = diagonal.count_nonzero()
    if entries < len(diagonal) or value.count_nonzero() != entries:
        return None
    return diagonal


def _inverse_of_diagonal(torch, diagonal):
    return torch.diag(diagonal.reciprocal())


def _eigenvectors_of_diagonal(torch, diagonal):
    values, order = diagonal.sort(stable=True)
    vectors = torch.zeros(len(order), len(order), dtype=diagonal.dtype)
    vectors[order, torch.arange(len(order))] = 1
    return torch.return_types.linalg_eigh((values, vectors))


# These results are exact: nothing is assumed.
_OF_DIAGONAL = {"inv": _inverse_of_diagonal, "eigh": _eigenvectors_of_diagonal}


def _shapes(torch, value):
    return value.to("meta") if isinstance(value, torch.Tensor) else value


def _known(process, function, orthogonal, of_diagonal):
    torch = process.torch

    def made(shape, identity):
        result = torch.zeros(shape.shape, dtype=shape.dtype, device="cpu")
        if identity:
            result.diagonal(dim1=-2, dim2=-1).fill_(1)
        return result

    @functools.wraps(function)
    def wrapper(matrix, *args, **kwargs):
        if of_diagonal is not None and not args and not kwargs:
            diagonal = _diagonal(torch, matrix)
            if diagonal is not None:
                return of_diagonal(torch, diagonal)
        if not _zeros(torch, matrix) or kwargs.get("out") is not None:
            return function(matrix, *args, **kwargs)
        shapes = function(_shapes(torch, matrix), *(_shapes(torch, arg) for arg in args), **kwargs)
        process.assume(
            "the plan does not initialize weights: they are zeros, and their decompositions "
            "(SVD, QR and others) are not computed",
            place(),
        )
        if isinstance(shapes, torch.Tensor):
            return made(shapes, False)
        return type(shapes)(
            [
                made(part, number in orthogonal and part.dim() > 1)
                for number, part in enumerate(shapes)
            ]
        )

    return wrapper


def _clusters(process, module):
    fit = module.KMeans.fit_predict

    @functools.wraps(fit)
    def fit_predict(self, X, *args, **kwargs):
        labels = fit(self, X, *args, **kwargs)
        import numpy

        if (
            len(X) >= self.n_clusters > 1
            and len(numpy.unique(labels)) < self.n_clusters
            and not (numpy.asarray(X) != numpy.asarray(X)[:1]).any()
        ):
            process.assume(
                "the plan does not initialize weights: their rows are equal, and KMeans puts "
                "equal rows into one cluster. Clusters of equal size are assumed instead",
                place(),
            )
            labels = self.labels_ = (numpy.arange(len(X)) % self.n_clusters).astype(labels.dtype)
        return labels

    module.KMeans.fit_predict = fit_predict


def install(process):
    linalg = getattr(process.torch, "linalg", None)
    for name, orthogonal in _FACTORS.items():
        if hasattr(linalg, name):
            known = _known(process, getattr(linalg, name), orthogonal, _OF_DIAGONAL.get(name))
            overrides.replace(process.torch, linalg, name, known)
    imports.after(process, "sklearn.cluster._kmeans", functools.partial(_clusters, process))
