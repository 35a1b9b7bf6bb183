"""pyhf: a fit and a limit of a counting experiment, gradients by TensorFlow."""

import pyhf

pyhf.set_backend("tensorflow")
model = pyhf.simplemodels.uncorrelated_background(
    signal=[12.0, 11.0], bkg=[50.0, 52.0], bkg_uncertainty=[3.0, 7.0]
)
data = pyhf.tensorlib.astensor([51, 48, *model.config.auxdata])
best = pyhf.tensorlib.tolist(pyhf.infer.mle.fit(data, model))
print("fit", [f"{p:.4f}" for p in best])
observed, expected = pyhf.infer.hypotest(1.0, data, model, test_stat="qtilde", return_expected=True)
print(f"cls {float(observed):.4f} {float(expected):.4f}")
