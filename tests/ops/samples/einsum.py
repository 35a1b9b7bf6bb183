"""Samples of Einstein summation."""

from tests.ops.samples import FLOATING, f32, f64, sample, sums

DTYPES = (*FLOATING, "complex64", "complex128", "int32", "int64")

sums(DTYPES, "Einsum", inputs=[(2, 3), (3, 4)], equation="ij,jk->ik")
for equation, *dims in (
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->i", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii->", (3, 3)),
    ("i->ii", (3,)),
    ("iij->j", (3, 3, 2)),
    ("...ij->...ji", (2, 3, 4)),
    ("i...->...i", (2, 3, 4)),
    ("i...->...", (2, 3, 4)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("i,j->ij", (2,), (3,)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
    ("bij,bjk->kib", (2, 2, 3), (2, 3, 4)),
    ("ij,jk->k", (2, 3), (3, 4)),
    ("ij,kl->ik", (2, 3), (2, 4)),
    ("ab,b->a", (2, 3), (3,)),
    ("iij,jk->ik", (2, 2, 3), (3, 2)),
    ("...ij,...jk->...ik", (2, 2, 3), (3, 4)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (4, 3, 2)),
    ("...ij,jk...->ik...", (2, 2, 3), (3, 2, 1)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 2), (2, 4, 2, 2)),
    (",->", (), ()),
    ("ij,->ij", (2, 3), ()),
):
    arrays = [f64(*d) for d in dims]
    sample("Einsum", inputs=arrays, equation=equation, tol=1e-12)
sample("Einsum", inputs=[f32(0, 3), f32(3, 2)], equation="ij,jk->ik")
sample("Einsum", inputs=[f32(2, 0), f32(0, 2)], equation="ij,jk->ik")
sample(
    "Einsum",
    inputs=[f32(2, 3), f32(4, 2)],
    equation="ij,jk->ik",
    error=(
        "InvalidArgumentError",
        "Expected dimension 3 at axis 0 of the input shaped [4,2] but got dimension 4",
    ),
)
sample(
    "Einsum",
    inputs=[f32(2, 3)],
    equation="ij,jk->ik",
    error=("InvalidArgumentError", "Expected 2 inputs but got: 1"),
)
sample(
    "Einsum",
    inputs=[f32(2, 3, 4)],
    equation="ij->ij",
    error=("InvalidArgumentError", "Expected input 0 to have rank 2 but got: 3"),
)
