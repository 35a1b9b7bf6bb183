"""Samples of recurrent cells and layers."""

from typing import Any

from tests.ops.samples import each, f32, i64, sample

TYPES = ("float16", "float32")
DIFFERENCES = "there is no float64: tests/ops/test_recurrent_blocks.py composes the layer"
UNSET = "TensorFlow leaves the gates of later steps unset"
X, STATES = f32(3, 2, 4), {"cs_prev": f32(2, 3), "h_prev": f32(2, 3)}
WEIGHTS: dict[str, Any] = {
    "w": f32(7, 12),
    "wci": f32(3),
    "wcf": f32(3),
    "wco": f32(3),
    "b": f32(12),
}
CELL = {**STATES, **WEIGHTS}
GATES = {name: f32(2, 3, lo=0.1, hi=0.9) for name in ("i", "cs", "f", "o", "ci", "co")}
SHAPES = {
    "cs_prev": (2, 3),
    "h_prev": (2, 3),
    "w": (7, 12),
    "wci": (3,),
    "wcf": (3,),
    "wco": (3,),
    "b": (12,),
}

each(TYPES, "LSTMBlockCell", x=(2, 4), **SHAPES, tol=2e-3, grad=False)
for peep in (False, True):
    sample("LSTMBlockCell", x=f32(2, 4), **CELL, use_peephole=peep, forget_bias=0.5, tol=1e-6)
    sample("LSTMBlockCell", x=f32(2, 4), **CELL, use_peephole=peep, cell_clip=0.2, tol=1e-6)
    sample("LSTMBlockCell", x=f32(2, 4), **CELL, use_peephole=peep, cell_clip=-1.0, tol=1e-6)
    sample(
        "LSTMBlockCellGrad",
        x=f32(2, 4),
        **CELL,
        **GATES,
        cs_grad=f32(2, 3),
        h_grad=f32(2, 3),
        use_peephole=peep,
        tol=1e-6,
    )
    for steps in (3, 2, 0):
        most = i64.of(steps)
        recorded = True if steps == 3 else UNSET
        sample(
            "BlockLSTM",
            seq_len_max=most,
            x=X,
            **CELL,
            use_peephole=peep,
            tol=1e-6,
            grad=DIFFERENCES,
            parity=recorded,
        )
        sample(
            "BlockLSTMV2",
            seq_len_max=most,
            x=X,
            **CELL,
            use_peephole=peep,
            tol=1e-6,
            grad=DIFFERENCES,
            parity=recorded,
        )
        for kind in ("BlockLSTMGrad", "BlockLSTMGradV2"):
            layer = {name: f32(3, 2, 3, lo=0.1, hi=0.9) for name in (*GATES, "h")}
            sample(
                kind,
                seq_len_max=most,
                x=X,
                **CELL,
                **layer,
                cs_grad=f32(3, 2, 3),
                h_grad=f32(3, 2, 3),
                use_peephole=peep,
                tol=1e-5,
            )
sample("BlockLSTM", seq_len_max=i64.of(3), x=X, **CELL, forget_bias=0.0, cell_clip=0.3, tol=1e-6)
sample("BlockLSTMV2", seq_len_max=i64.of(3), x=X, **CELL, cell_clip=0.3, tol=1e-6)
sample(
    "BlockLSTM",
    seq_len_max=i64.of(3),
    x=X,
    **{**CELL, "b": f32(11)},
    error=("InvalidArgumentError", "b"),
)

GRU = {"h_prev": f32(2, 3), "w_ru": f32(7, 6), "w_c": f32(7, 3), "b_ru": f32(6), "b_c": f32(3)}
sample("GRUBlockCell", x=f32(2, 4), **GRU, tol=1e-6)
sample(
    "GRUBlockCell",
    x=f32(2, 4),
    **{**GRU, "w_ru": f32(7, 5)},
    error=("InvalidArgumentError", "w_ru"),
)
sample(
    "GRUBlockCellGrad",
    x=f32(2, 4),
    **GRU,
    r=f32(2, 3, lo=0.1, hi=0.9),
    u=f32(2, 3, lo=0.1, hi=0.9),
    c=f32(2, 3, lo=0.1, hi=0.9),
    d_h=f32(2, 3),
    tol=1e-6,
)
