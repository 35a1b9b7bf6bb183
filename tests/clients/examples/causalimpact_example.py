"""tfcausalimpact: the effect of an intervention on a time series, by variational inference."""

import numpy as np
import pandas as pd
import tensorflow as tf
from causalimpact import CausalImpact

tf.random.set_seed(1)
random = np.random.RandomState(1)
x = 100 + np.cumsum(0.5 * random.randn(60))
y = 1.2 * x + random.randn(60)
y[45:] += 10
impact = CausalImpact(pd.DataFrame({"y": y, "x": x}), [0, 44], [45, 59])
effect = float(impact.summary_data.loc["abs_effect", "average"])
print("near 10", abs(effect - 10) < 3, "significant", float(impact.p_value) < 0.1)
