"""Samples of Fourier transforms."""

from tests.ops.samples import c64, c128, each, f32, f64, i32, sample

NO_KERNEL = "TensorFlow has no CPU kernel for this"
COMPLEX = ("complex64", "complex128")
TOLERANCE = {"complex64": 4e-6, "complex128": 1e-12}

for axes, (forth, back) in enumerate(
    (("FFT", "IFFT"), ("FFT2D", "IFFT2D"), ("FFT3D", "IFFT3D")), 1
):
    for op in (forth, back):
        for dtype in COMPLEX:
            each((dtype,), op, input=(2, 3, 4, 5), tol=TOLERANCE[dtype])
            each((dtype,), op, input=(1, 7, 3)[3 - axes :], tol=TOLERANCE[dtype])
        sample(op, input=c64(0, 2, 3, 4))
        sample(
            op,
            input=c64(*(2,) * (axes - 1)),
            error=("InvalidArgumentError", f"rank of at least {axes}"),
        )

for n in (8, 7, 5, 1):
    sample("RFFT", input=f64(2, 8), fft_length=i32([n]), Tcomplex="complex128", tol=1e-12)
    sample("RFFT", input=f32(2, 8), fft_length=i32([n]), tol=4e-6)
    sample("IRFFT", input=c128(2, 5), fft_length=i32([n]), Treal="float64", tol=1e-12)
    sample("IRFFT", input=c64(2, 5), fft_length=i32([n]), tol=4e-6)
for sizes in ([4, 6], [3, 5], [4, 1]):
    sample("RFFT2D", input=f64(2, 4, 6), fft_length=i32(sizes), Tcomplex="complex128", tol=1e-12)
    sample("RFFT2D", input=f32(2, 4, 6), fft_length=i32(sizes), tol=4e-6)
    sample("IRFFT2D", input=c128(2, 4, 4), fft_length=i32(sizes), Treal="float64", tol=1e-12)
    sample("IRFFT2D", input=c64(2, 4, 4), fft_length=i32(sizes), tol=4e-6)
for sizes in ([2, 3, 4], [2, 2, 3]):
    sample("RFFT3D", input=f64(2, 3, 4), fft_length=i32(sizes), Tcomplex="complex128", tol=1e-12)
    sample("RFFT3D", input=f32(2, 3, 4), fft_length=i32(sizes), tol=4e-6)
    sample("IRFFT3D", input=c128(2, 3, 3), fft_length=i32(sizes), Treal="float64", tol=1e-12)
    sample("IRFFT3D", input=c64(2, 3, 3), fft_length=i32(sizes), tol=4e-6)
sample("RFFT", input=f32(0, 8), fft_length=i32([8]))
sample(
    "RFFT",
    input=f32(2, 3),
    fft_length=i32([5]),
    error=("InvalidArgumentError", "Input dimension 1 must have length of at least 5 but got: 3"),
)
sample(
    "RFFT",
    input=f32(2, 3),
    fft_length=i32([2, 2]),
    error=("InvalidArgumentError", "fft_length must have shape [1]"),
)
sample(
    "RFFT",
    input=f32(2, 3),
    fft_length=i32([-1]),
    error=("InvalidArgumentError", "fft_length[0] must >= 0, but got: -1"),
)
sample(
    "RFFT",
    input=f64(2, 3),
    fft_length=i32([3]),
    error=("InvalidArgumentError", "Wrong types for forward real FFT"),
)
sample(
    "IRFFT",
    input=c64(2, 3),
    fft_length=i32([7]),
    error=("InvalidArgumentError", "Input dimension 1 must have length of at least 4 but got: 3"),
)

for axes, sizes in (([0, 1], [3, 4]), ([2], [5]), ([1, -3], [4, 2]), ([2, 0, 1], [4, 3, 4])):
    where = {"fft_length": i32(sizes), "axes": i32(axes), "parity": NO_KERNEL}
    sample("FFTND", input=c128(3, 4, 5), **where)
    sample("FFTND", input=c64(3, 4, 5), **where)
    sample("IFFTND", input=c128(3, 4, 5), **where)
    sample("RFFTND", input=f64(3, 4, 5), Tcomplex="complex128", **where)
    sample("IRFFTND", input=c128(3, 4, 5), Treal="float64", **where)
