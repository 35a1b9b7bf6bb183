"""`tf.random.Generator`: random numbers from a state that is a variable.

Follows https://www.tensorflow.org/api_docs/python/tf/random/Generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, as_dtype, float32, int32, int64, uint32, uint64
from intaglio.base.options import OPTIONS
from intaglio.composite_ops.random.sampling import shape_tensor, shifted, stretched
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import public_methods
from intaglio.opdef.tensor import Tensor
from intaglio.ops.random.algorithm import Algorithm, algorithm
from intaglio.ops.random.generator import STATE_SIZE
from intaglio.runtime.random_state import fresh_bits
from intaglio.state.hooks import HOOKS
from intaglio.state.tracking import AutoTrackable
from intaglio.state.variable import Variable
from intaglio.trace.scopes import init_scope

_MASK = (1 << 64) - 1


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """A generator's state from a seed: an integer or a vector of at most three.

    Raises ValueError for an algorithm that does not exist.

    >>> print(tf.random.create_rng_state(1, "philox").numpy())
    [1 0 0]
    """
    size = 2 if algorithm(alg) == Algorithm.THREEFRY.value else STATE_SIZE
    if isinstance(seed, int):
        words = [seed >> 64 * i & _MASK for i in range(size)]
        return to_tensor(np.array(words, np.uint64).view(np.int64))
    vector = to_tensor(seed, int64) if not isinstance(seed, Tensor) else seed
    if vector.dims is not None and len(vector.dims) == 1 and vector.dims[0] is not None:
        if vector.dims[0] >= size:
            return raw.StridedSlice(vector, [0], [size], [1])
        return raw.Pad(vector, [[size - vector.dims[0], 0]])
    raise ValueError("seed should be of shape [n]; the number of elements must be known")


@public_methods
class Generator(AutoTrackable):
    """A random number generator with its own state, which uses the Philox algorithm.

    Created by `from_seed`, `from_state`, `from_key_counter` or `from_non_deterministic_state`.
    Methods work eagerly and in traced functions, where the state is a captured variable. If the generator
    was created under a distribution strategy, each replica draws different numbers.

    >>> generator = tf.random.Generator.from_seed(1234)
    >>> print(generator.uniform([2], maxval=10, dtype=tf.int32).numpy())
    [9 6]
    """

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: Any = None
    ) -> None:
        self._strategy = HOOKS.strategy_in_force()
        if copy_from is not None:
            assert alg is None and state is None, (
                "Generator(copy_from=...) takes neither a state nor an algorithm"
            )
            self._state_var = _state_variable(copy_from.state)
            self._alg: Any = copy_from.algorithm
            return
        assert alg is not None and state is not None, (
            "Generator needs both a state and an algorithm: write "
            "tf.random.Generator.from_seed(1) instead"
        )
        self._alg = algorithm(alg)
        if self._alg != Algorithm.THREEFRY.value:
            _check_state(state)
        self._state_var = _state_variable(state)

    # -- creation --------------------------------------------------------------------

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator with this state (a vector of three int64)."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator whose numbers depend on the seed alone."""
        kind = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, kind), alg=kind)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator whose numbers are different in every run of the program.

        Raises RuntimeError where every run must give the same.
        """
        if OPTIONS.deterministic:
            raise RuntimeError(
                '"from_non_deterministic_state" cannot be called when determinism is enabled.'
            )
        words = [fresh_bits(64) for _ in range(STATE_SIZE)]
        state = np.array(words, np.uint64).view(np.int64)
        return cls(state=state, alg=Algorithm.PHILOX if alg is None else alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator with this key (an integer) and counter (two)."""
        return cls(state=_joined(key, counter), alg=alg)

    # -- state ---------------------------------------------------------------------

    @property
    def state(self) -> Variable:
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self) -> Any:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The key: the state's last element."""
        return raw.StridedSlice(self._state_var.read_value(), [2], [3], [1], shrink_axis_mask=1)

    def reset(self, state: Any) -> None:
        """Sets the state."""
        _check_state(state)
        self._state_var.assign(state)

    def reset_from_seed(self, seed: Any) -> None:
        """Sets the state to that of `from_seed`."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Sets the state to that of `from_key_counter`."""
        self._state_var.assign(_joined(key, counter))

    def skip(self, delta: Any) -> Tensor:
        """Advances the counter by `delta` numbers; returns the previous state."""
        if isinstance(delta, int):
            step = to_tensor(np.asarray(delta & _MASK, np.uint64))
        else:
            step = raw.Cast(to_tensor(delta), DstT=uint64)
        return self._skipped(step)[0]

    def _skipped(self, step: Tensor) -> tuple[Any, Tensor]:
        """Advances the counter. Returns the previous state; under a strategy, of every copy and of one."""
        before: list[Tensor] = []

        def skip(variable: Any) -> Tensor:
            before.append(raw.RngReadAndSkip(variable.handle, self._alg, step))
            return before[-1]

        if self._strategy is None:
            found = skip(self._state_var)
        else:
            found = HOOKS.update_in(self._strategy, self._state_var, skip)
        return found, before[0]

    def _key_counter(self, shape: Tensor) -> tuple[Tensor, Tensor, int]:
        """The key, counter and algorithm for the numbers of a shape, which are skipped."""
        count = raw.Cast(raw.Prod(shape, [0]), DstT=uint64)
        _, state = self._skipped(count)
        counter = raw.Bitcast(raw.StridedSlice(state, [0], [2], [1]), type=uint64)
        key = raw.Bitcast(raw.StridedSlice(state, [2], [3], [1]), type=uint64)
        return self._of_replica(key), counter, self._alg

    def _of_replica(self, key: Tensor) -> Tensor:
        """The key of the current replica: the number that the common key gives at the replica's index."""
        replica = None if self._strategy is None else HOOKS.replica_id_in(self._strategy)
        if replica is None:
            return key
        counter = raw.Pack([raw.Cast(replica, DstT=uint64), np.zeros((), np.uint64)])
        return raw.StatelessRandomUniformFullIntV2([1], key, counter, self._alg, dtype=uint64)

    # -- drawing -------------------------------------------------------------------

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Tensor:
        """Numbers in [minval, maxval); integers cover the whole range if both are None.

        Raises ValueError for integers with only one of them.
        """
        kind = as_dtype(dtype)
        if kind.is_integer and (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {kind}, minval and maxval must be both `None` or both "
                f"non-`None`; got minval={minval} and maxval={maxval}"
            )
        with door.level().scoped(name or "stateful_uniform") as scope:
            dims = shape_tensor(shape)
            if kind.is_integer:
                return self._integers(dims, minval, maxval, kind, scope)

            def draw() -> Tensor:
                keyed = self._key_counter(dims)
                return raw.StatelessRandomUniformV2(dims, *keyed, dtype=kind)

            # unlike tf.random.uniform, always scaled
            high = 1.0 if maxval is None else maxval
            low = 0.0 if type(minval) is int and minval == 0 else minval
            return stretched(draw, low, high, kind, scope)

    def _integers(self, dims: Tensor, minval: Any, maxval: Any, kind: DType, scope: str) -> Tensor:
        if minval is None:
            keyed = self._key_counter(dims)
            return raw.StatelessRandomUniformFullIntV2(dims, *keyed, dtype=kind, name=scope)
        low, high = to_tensor(minval, kind, "min"), to_tensor(maxval, kind, "max")
        keyed = self._key_counter(dims)
        return raw.StatelessRandomUniformIntV2(dims, *keyed, low, high, name=scope)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: str | None = None) -> Tensor:
        """Integers over the whole range of int32, int64, uint32 or uint64."""
        kind = as_dtype(dtype)
        with door.level().scoped(name or "stateful_uniform_full_int") as scope:
            return self._integers(shape_tensor(shape), None, None, kind, scope)

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Tensor:
        """Normally distributed numbers with this mean and standard deviation."""
        kind = as_dtype(dtype or float32)

        def draw(dims: Tensor) -> Tensor:
            keyed = self._key_counter(dims)
            return raw.StatelessRandomNormalV2(dims, *keyed, dtype=kind)

        return shifted(name or "stateful_normal", shape, mean, stddev, kind, draw)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Tensor:
        """Normally distributed numbers within two standard deviations of the mean."""
        kind = as_dtype(dtype or float32)

        def draw(dims: Tensor) -> Tensor:
            keyed = self._key_counter(dims)
            return raw.StatelessTruncatedNormalV2(dims, *keyed, dtype=kind)

        return shifted(name or "truncated_normal", shape, mean, stddev, kind, draw)

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = int32, name: str | None = None
    ) -> Tensor:
        """The number of successes among `counts` trials with probability `probs` each.

        `shape` ends with the shape that counts and probs (of one dtype) have together. `dtype` is
        float16, float32, float64, int32 or int64. Raises InvalidArgumentError for other shapes.
        """
        with door.level().scoped(name or "binomial") as scope:
            return raw.StatefulRandomBinomial(
                self._state_var.handle,
                self._alg,
                shape_tensor(shape),
                to_tensor(counts),
                to_tensor(probs),
                dtype=as_dtype(dtype),
                name=scope,
            )

    # -- further seeds -------------------------------------------------------------

    def make_seeds(self, count: int = 1) -> Tensor:
        """`count` seeds for stateless functions, as columns: shape [2, count], int64."""
        seeds = self.uniform_full_int([count], int64)
        return raw.Pack([seeds, raw.ZerosLike(seeds)], axis=0, name="stack")

    def split(self, count: int = 1) -> list[Generator]:
        """`count` generators with independent streams."""
        keys = raw.Unpack(self.uniform_full_int([count], int64), num=count)
        return [Generator.from_key_counter(key, np.zeros(2, np.int64), self._alg) for key in keys]


def _state_variable(state: Any) -> Variable:
    if isinstance(state, Tensor) and state.dtype is not int64:
        state = raw.Cast(state, DstT=int64)
    return Variable(state, dtype=int64, trainable=False, name="StateVar")


def _joined(key: Any, counter: Any) -> Tensor:
    both = raw.Reshape(to_tensor(counter, int64), [2]), raw.Reshape(_word(key), [1])
    return raw.ConcatV2(list(both), 0)


def _word(key: Any) -> Tensor:
    tensor = to_tensor(key) if not isinstance(key, int) else to_tensor(key, int64)
    if tensor.dtype is int64:
        return tensor
    if tensor.dtype in (int32, uint32):
        return raw.Cast(tensor, DstT=int64)
    return raw.Bitcast(tensor, type=int64)


def _check_state(state: Any) -> None:
    dims = getattr(state, "shape", None)
    dims = np.shape(state) if dims is None else tuple(dims)
    if dims != (STATE_SIZE,):
        raise ValueError(f"Shapes {tuple(dims)} and [{STATE_SIZE}] are incompatible")


class _Shared:
    """The holder of the global generator."""

    generator: Generator | None = None


_shared = _Shared()


def get_global_generator() -> Generator:
    """The global generator, which the first call creates.

    Raises RuntimeError at a first call where every run must give the same: `set_global_generator` is needed.

    >>> tf.random.get_global_generator().normal([2]).shape
    TensorShape([2])
    """
    if _shared.generator is None:
        if OPTIONS.deterministic:
            raise RuntimeError(
                '"get_global_generator" cannot be called if determinism is enabled, unless "set_global_generator" '
                'has already been called. Please call "set_global_generator" first.'
            )
        with init_scope():
            _shared.generator = Generator.from_non_deterministic_state()
    return _shared.generator


def set_global_generator(generator: Generator) -> None:
    """Replaces the global generator.

    Functions traced before continue with the one that they captured.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    >>> tf.random.get_global_generator().normal([2]).numpy().round(4)
    array([ 0.4384, -0.5344], dtype=float32)
    """
    _shared.generator = generator
