"""Keras, unmodified, trains on Intaglio. TensorFlow 2.21 was asked for the numbers."""

from __future__ import annotations

import importlib.util

import pytest

from tests.tensorflow_name.process import printed_by

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None,
    reason="keras is not installed: pip install 'intaglio[keras]'",
)

# What Keras 3.15 says on TensorFlow 2.21: losses of three epochs, and after them.
LOSSES = (1.2789993286132812, 1.2325462102890015, 1.1976675987243652)
EVALUATED = 1.1813933849334717


def test_a_dense_network_trains_as_on_tensorflow(tmp_path: object) -> None:
    lines = printed_by(
        f"""
        from intaglio import tf
        import numpy as np
        keras = tf.keras
        keras.utils.set_random_seed(0)
        x = np.random.rand(300, 8).astype("float32")
        y = np.random.randint(0, 3, 300)
        model = keras.Sequential([
            keras.Input((8,)),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dense(3, activation="softmax"),
        ])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        history = model.fit(x, y, epochs=3, verbose=0, shuffle=False).history
        print(*history["loss"])
        print(model.evaluate(x, y, verbose=0)[0])
        predicted = model.predict(x[:5], verbose=0)
        model.save_weights({str(tmp_path)!r} + "/w.weights.h5")
        model.save({str(tmp_path)!r} + "/m.keras")
        again = keras.models.load_model({str(tmp_path)!r} + "/m.keras")
        print(np.allclose(again.predict(x[:5], verbose=0), predicted))
        print(tf.optimizers.Adam is keras.optimizers.Adam, tf.losses is keras.losses)
        """
    )
    assert [float(v) for v in lines[0].split()] == pytest.approx(LOSSES, abs=1e-5)
    assert float(lines[1]) == pytest.approx(EVALUATED, abs=1e-5)
    assert lines[2:] == ["True", "True True"]


def test_tf_keras_names_what_to_install() -> None:
    lines = printed_by(
        """
        import sys
        from importlib.abc import MetaPathFinder

        class NoKeras(MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "keras":
                    raise ModuleNotFoundError("No module named 'keras'", name="keras")

        sys.meta_path.insert(0, NoKeras())
        from intaglio import tf
        try:
            tf.keras
        except ImportError as error:
            print(error)
        """
    )
    assert "pip install 'intaglio[keras]'" in lines[0]


def test_the_same_optimizer_serves_a_variable_that_is_an_argument() -> None:
    lines = printed_by(
        """
        from intaglio import tf
        optimizer = tf.keras.optimizers.Adam(learning_rate=1e-2)

        @tf.function
        def step(w, x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(w * x - 2.0))
            optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

        w = tf.Variable(2.0)
        step(w, tf.constant([-1.0]))
        step(w, tf.constant([-1.0]))
        print(round(float(w), 4), len(optimizer.variables))
        """
    )
    assert lines == ["1.98 4"]


def test_models_are_exported_and_kept_in_checkpoints(tmp_path: object) -> None:
    lines = printed_by(
        f"""
        from intaglio import tf
        import numpy as np
        keras = tf.keras
        folder = {str(tmp_path)!r}
        x = np.ones((2, 4), "float32")
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
        model.export(folder + "/exported", verbose=False)
        again = tf.saved_model.load(folder + "/exported")
        print(np.allclose(again.serve(x), model(x)))
        tf.saved_model.save(model, folder + "/saved")
        signature = tf.saved_model.load(folder + "/saved").signatures["serving_default"]
        (answer,) = signature(tf.constant(x)).values()
        print(np.allclose(answer, model(x)))
        path = tf.train.Checkpoint(model=model).save(folder + "/c")
        other = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
        print(np.allclose(other(x), model(x)))
        tf.train.Checkpoint(model=other).restore(path)
        print(np.allclose(other(x), model(x)))
        """
    )
    assert lines[-4:] == ["True", "True", "False", "True"]


def test_a_folder_stays_as_it_was_where_a_model_cannot_be_saved(tmp_path: object) -> None:
    lines = printed_by(
        f"""
        import errno, os
        from intaglio import tf
        folder = {str(tmp_path)!r}
        path = os.path.join(folder, "model")
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4)])
        def save(number):
            model.layers[0].bias.assign([float(number)] * 4)
            model.save(path, zipped=False)
        def loaded():
            return float(tf.keras.models.load_model(path).layers[0].bias[0])
        save(1)
        open(os.path.join(path, "mine"), "w").close()
        save(2)
        print(loaded(), sorted(os.listdir(path)))
        fsync = os.fsync
        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")
        os.fsync = full
        try:
            save(3)
        except tf.errors.ResourceExhaustedError:
            print("error")
        os.fsync = fsync
        print(loaded(), os.listdir(folder))
        save(4)
        print(loaded())
        """
    )
    assert lines[0].startswith("2.0 ['assets'") or lines[0].startswith("2.0 ['config.json'")
    assert "'mine', 'model.weights.h5'" in lines[0]
    assert lines[1:] == ["error", "2.0 ['model']", "4.0"]


def test_a_file_stays_as_it_was_where_a_model_cannot_be_saved(tmp_path: object) -> None:
    lines = printed_by(
        f"""
        import errno, os
        from intaglio import tf
        folder = {str(tmp_path)!r}
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2000)])
        savers = [("a.keras", model.save), ("a.weights.h5", model.save_weights), ("b.h5", model.save)]
        for name, save in savers:
            save(os.path.join(folder, name))
        before = [open(os.path.join(folder, name), "rb").read() for name, _ in savers]
        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")
        os.fsync = full
        for name, save in savers:
            try:
                save(os.path.join(folder, name))
            except tf.errors.ResourceExhaustedError:
                print("error")
        after = [open(os.path.join(folder, name), "rb").read() for name, _ in savers]
        print(before == after, sorted(os.listdir(folder)))
        """
    )
    assert lines == ["error"] * 3 + ["True ['a.keras', 'a.weights.h5', 'b.h5']"]
