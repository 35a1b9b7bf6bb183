"""tensorly: decompositions of a tensor, and a tensor regression."""

import numpy as np
import tensorly as tl
from tensorly.decomposition import (
    non_negative_parafac,
    parafac,
    partial_tucker,
    robust_pca,
    tensor_train,
    tucker,
)
from tensorly.regression.cp_regression import CPRegressor

tl.set_backend("tensorflow")
numbers = np.random.RandomState(0)
x = tl.tensor(numbers.rand(4, 5, 6))


def error(approximation):
    """The relative error, and the norm of the approximation."""
    return round(float(tl.norm(x - approximation) / tl.norm(x)), 3)


print("cp", error(tl.cp_to_tensor(parafac(x, 3, init="svd", n_iter_max=20))))
print("tucker", error(tl.tucker_to_tensor(tucker(x, [2, 3, 2], init="svd"))))
print("non-negative", error(tl.cp_to_tensor(non_negative_parafac(x, 3, init="svd", n_iter_max=9))))
train = tensor_train(x, [1, 2, 3, 1])
print("train", [tuple(core.shape) for core in train], error(tl.tt_to_tensor(train)))
(core, factors), _ = partial_tucker(x, rank=[2, 3], modes=[0, 1], init="svd")
print("partial", tuple(core.shape), [tuple(f.shape) for f in factors])
low, sparse = robust_pca(x, n_iter_max=5, verbose=False)
print("robust", round(float(tl.norm(low)), 2), round(float(tl.norm(sparse)), 2))
samples = tl.tensor(numbers.rand(20, 3, 4))
weights = numbers.rand(3, 4)
targets = tl.tensor(np.einsum("nij,ij->n", np.asarray(samples), weights))
regressor = CPRegressor(weight_rank=2, n_iter_max=10, random_state=0, verbose=0)
regressor.fit(samples, targets)
print("regression", tuple(regressor.predict(samples).shape))
print("khatri-rao", tuple(tl.tenalg.khatri_rao([x[0], x[1]]).shape))
