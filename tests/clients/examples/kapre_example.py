"""kapre: spectrograms as layers."""

import kapre
import numpy as np
import tensorflow as tf
from kapre.composed import get_log_frequency_spectrogram_layer, get_melspectrogram_layer

wave = np.sin(np.arange(4096) ** 1.3 / 50).astype("float32")[None, :, None]
model = tf.keras.Sequential(
    [
        kapre.STFT(n_fft=256, hop_length=128, input_shape=(4096, 1)),
        kapre.Magnitude(),
        kapre.MagnitudeToDecibel(),
    ]
)
decibels = model(wave).numpy()
print("stft", decibels.shape, np.round(decibels[0, 3, :4, 0], 3).tolist())
mel = get_melspectrogram_layer(
    input_shape=(4096, 1), n_fft=256, hop_length=128, sample_rate=8000, n_mels=16
)
found = mel(wave).numpy()
print("mel", found.shape, np.round(found[0, 3, :4, 0], 4).tolist())
bands = get_log_frequency_spectrogram_layer(
    input_shape=(4096, 1), n_fft=256, hop_length=128, sample_rate=8000, log_n_bins=12
)
print("bands", np.round(bands(wave).numpy()[0, 5, :4, 0], 4).tolist())
spectrum = kapre.STFT(n_fft=256, hop_length=64)(wave)
again = kapre.InverseSTFT(n_fft=256, hop_length=64)(spectrum).numpy()
print("phase", np.round(kapre.Phase()(spectrum).numpy()[0, 2, :3, 0], 3).tolist())
print("inverse", again.shape, np.round(again[0, 1000:1004, 0], 4).tolist())
delta = kapre.Delta(win_length=3)(kapre.Magnitude()(spectrum))
print("delta", np.round(delta.numpy()[0, 4, :3, 0], 4).tolist())
print("frames", kapre.Frame(400, 200)(wave).shape, kapre.Energy(8000, 0.1, 400, 200)(wave).shape)
