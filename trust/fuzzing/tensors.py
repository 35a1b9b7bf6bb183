"""Inputs of single ops: tensors, records, texts, images, sound, compressed data."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image

from intaglio import tf
from intaglio.base.crc32c import crc32c, masked
from intaglio.graphdef import messages as protos
from intaglio.graphdef import tensors
from intaglio.graphdef.example_messages import Example, SequenceExample
from trust.fuzzing import mutation
from trust.fuzzing.messages import Mutator
from trust.fuzzing.runner import Format

_DTYPES = ("float32", "float64", "int32", "int64", "uint8", "bool", "complex64", "float16", "int16")


class Tensors(Format):
    """TensorProtos, as `tf.io.parse_tensor` reads them."""

    name, share = "tensor", 150_000

    def seeds(self) -> Any:
        arrays = [np.arange(6).reshape(2, 3).astype(dtype) for dtype in _DTYPES]
        arrays += [np.array(True), np.zeros((0, 3), "f4"), np.array([b"a", b""], object)]
        made = [tensors.tensor_proto(array) for array in arrays]
        made.append(protos.TensorProto(dtype=1, float_val=[1, 2]))
        made[-1].tensor_shape.dim.add(size=5)
        return [proto.SerializeToString() for proto in made]

    def prepare(self, seeds: Any) -> None:
        self.known = seeds
        self.mutator = Mutator([protos.TensorProto.FromString(s) for s in seeds])

    def make(self, rng: random.Random) -> Any:
        data = rng.choice(self.known)
        if rng.random() < 0.2:
            return mutation.octets(rng, data), rng.choice(_DTYPES)
        proto = protos.TensorProto.FromString(data)
        self.mutator.changed(rng, proto)
        names = {t.as_datatype_enum: n for n in _DTYPES for t in [tf.dtypes.as_dtype(n)]}
        dtype = names.get(proto.dtype, "float32") if rng.random() < 0.9 else rng.choice(_DTYPES)
        return proto.SerializeToString(), dtype

    def valid(self) -> Any:
        return self.known[0], _DTYPES[0]

    def run(self, value: Any) -> None:
        data, dtype = value
        tf.reduce_any(tf.equal(tf.io.parse_tensor(data, dtype), tf.constant(0, dtype)))


class Examples(Format):
    """Examples and SequenceExamples, as the parsing ops read them."""

    name, share = "example", 150_000

    def seeds(self) -> Any:
        feature = tf.train.Feature
        values = {
            "i": feature(int64_list=tf.train.Int64List(value=[1, 2])),
            "f": feature(float_list=tf.train.FloatList(value=[0.5, 1.0])),
            "v": feature(float_list=tf.train.FloatList(value=[2.5, 3.0])),
            "s": feature(bytes_list=tf.train.BytesList(value=[b"ab", b""])),
        }
        example = tf.train.Example(features=tf.train.Features(feature=values))
        lists = {key: tf.train.FeatureList(feature=[value, value]) for key, value in values.items()}
        sequence = tf.train.SequenceExample(
            context=example.features, feature_lists=tf.train.FeatureLists(feature_list=lists)
        )
        return [example.SerializeToString(), sequence.SerializeToString()]

    def prepare(self, seeds: Any) -> None:
        self.known = seeds
        self.classes = (Example, SequenceExample)
        self.mutators = [
            Mutator([c.FromString(s)]) for c, s in zip(self.classes, seeds, strict=True)
        ]
        io_ = tf.io
        self.features = {
            "i": io_.VarLenFeature(tf.int64),
            "f": io_.FixedLenFeature([2], tf.float32, default_value=[0.0, 0.0]),
            "s": io_.RaggedFeature(tf.string),
            "m": io_.SparseFeature("i", "v", tf.float32, 10),
        }
        self.lists = {
            "i": io_.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
            "f": io_.VarLenFeature(tf.float32),
            "s": io_.RaggedFeature(tf.string),
        }

    def make(self, rng: random.Random) -> Any:
        kind, several = rng.randrange(2), []
        for _ in range(rng.choice((1, 1, 2, 8))):
            if rng.random() < 0.3:
                several.append(mutation.octets(rng, self.known[kind]))
                continue
            message = self.classes[kind].FromString(self.known[kind])
            self.mutators[kind].changed(rng, message)
            several.append(message.SerializeToString())
        return kind, several

    def valid(self) -> Any:
        return 0, [self.known[0]] * 2

    def run(self, value: Any) -> None:
        kind, several = value
        if kind:
            tf.io.parse_sequence_example(several, self.features, self.lists)
            tf.io.parse_single_sequence_example(several[0], None, self.lists)
        else:
            tf.io.parse_example(several, self.features)
            tf.io.parse_single_example(several[0], self.features)


class Records(Format):
    """TFRecord files, their checksums right most of the time."""

    name, share = "tfrecord", 60_000

    def seeds(self) -> Any:
        return [b"", b"record", b"x" * 300, bytes(5000)]

    def make(self, rng: random.Random) -> Any:
        out = b""
        for _ in range(rng.randrange(1, 5)):
            data = mutation.octets(rng, rng.choice(self.known))
            length = len(data)
            if rng.random() < 0.3:
                length = mutation.integer(rng, length) % (1 << 64)
            head = struct.pack("<Q", length)
            parts = [head, struct.pack("<I", masked(crc32c(head))), data]
            parts.append(struct.pack("<I", masked(crc32c(data))))
            out += b"".join(parts)
        if rng.random() < 0.2:
            out = mutation.octets(rng, out)
        compression = rng.choice(("", "", "GZIP", "ZLIB", "SNAPPY"))
        if compression == "GZIP":
            out = gzip.compress(out, mtime=0)
        elif compression == "ZLIB":
            out = zlib.compress(out)
        if compression and rng.random() < 0.4:
            out = mutation.octets(rng, out)
        return out, compression

    def valid(self) -> Any:
        data = b"record"
        head = struct.pack("<Q", len(data))
        checks = [struct.pack("<I", masked(crc32c(part))) for part in (head, data)]
        return head + checks[0] + data + checks[1], ""

    def run(self, value: Any) -> None:
        data, compression = value
        path = self.folder / "records"
        path.write_bytes(data)
        files = tf.data.TFRecordDataset(str(path), compression)
        for record in files:
            len(record.numpy())


class Compressed(Format):
    """What `tf.io.decode_compressed` reads, bombs among it."""

    name, share = "compressed", 60_000

    def seeds(self) -> Any:
        plain = [b"", b"text" * 50, bytes(1 << 16)]
        bomb = zlib.compress(bytes(1 << 27), 9)
        made = [(zlib.compress(p), "ZLIB") for p in plain]
        made += [(gzip.compress(p, mtime=0), "GZIP") for p in plain]
        return [*made, (bomb, "ZLIB"), (gzip.compress(bytes(1 << 27), mtime=0), "GZIP")]

    def make(self, rng: random.Random) -> Any:
        data, kind = rng.choice(self.known[:-2] if rng.random() < 0.98 else self.known)
        if rng.random() < 0.2:
            data = data * rng.randrange(2, 5)
        return mutation.octets(rng, data), kind if rng.random() < 0.9 else rng.choice(("", "ZIP"))

    def valid(self) -> Any:
        return self.known[1]

    def run(self, value: Any) -> None:
        data, kind = value
        tf.io.decode_compressed([data, data[:50]], kind)


class Texts(Format):
    """CSV records with their defaults."""

    name, share = "csv", 60_000

    def seeds(self) -> Any:
        return ["1,2.5,x", '4,,"a, ""b"""', "-1,1e5,", "9999999999,nan,\n", ",,", "0x1,inf,é"]

    def make(self, rng: random.Random) -> Any:
        lines = [rng.choice(self.known) for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.3:
            lines = [mutation.text(rng, line) for line in lines]
        data = [
            mutation.octets(rng, line.encode()) if rng.random() < 0.5 else line.encode()
            for line in lines
        ]
        return data, rng.choice((",", ",", ";", "\t", "", ",,", "é")), rng.random() < 0.5

    def valid(self) -> Any:
        return [b"1,2.5,x"], ",", True

    def run(self, value: Any) -> None:
        data, delimiter, quoted = value
        defaults = [tf.constant([0], tf.int64), tf.constant([0.5]), tf.constant([""])]
        tf.io.decode_csv(data, defaults, delimiter, quoted)
        path = self.folder / "t.csv"
        path.write_bytes(b"\n".join(data))
        types = [tf.int32, tf.float64, tf.string]
        for row in tf.data.experimental.CsvDataset(str(path), types, field_delim=delimiter):
            len(row)


# -- images and sound ------------------------------------------------------------------------


def _picture(mode: str, kind: str, size: tuple[int, int] = (7, 5), **options: Any) -> bytes:
    noise = np.random.default_rng(1).integers(0, 256, (size[1], size[0], 4)).astype(np.uint8)
    if mode == "I;16":  # no version converts to it
        image = Image.fromarray(noise[..., 0].astype(np.uint16) * 257)
    else:
        image = Image.fromarray(noise, "RGBA").convert(mode)
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


class Images(Format):
    """PNG, JPEG, GIF and BMP files, changed chunk by chunk."""

    name, share = "image", 100_000

    def seeds(self) -> Any:
        made = [_picture(mode, "PNG") for mode in ("RGB", "RGBA", "L", "P", "1", "I;16", "LA")]
        made += [_picture(mode, "JPEG") for mode in ("RGB", "L", "CMYK")]
        made.append(_picture("RGB", "JPEG", progressive=True))
        frames = [Image.new("RGB", (6, 4), color) for color in ("red", "blue")]
        out = io.BytesIO()
        frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
        made += [out.getvalue(), _picture("P", "GIF")]
        return made + [_picture(mode, "BMP") for mode in ("RGB", "L", "P", "1")]

    def make(self, rng: random.Random) -> Any:
        data = rng.choice(self.known)
        if data.startswith(b"\x89PNG") and rng.random() < 0.8:
            return _changed_png(rng, data)
        if rng.random() < 0.5:
            at = rng.randrange(min(64, len(data)))  # sizes stand in heads
            width = rng.choice((2, 4))
            value = rng.choice((*mutation.INTEGERS, 1000, 20000)) % (1 << 8 * width)
            order = "big" if data.startswith(b"\xff\xd8") else "little"
            data = data[:at] + value.to_bytes(width, order) + data[at + width :]
        return mutation.octets(rng, data) if rng.random() < 0.7 else data

    def valid(self) -> Any:
        return self.known[0]

    def run(self, value: Any) -> None:
        tf.io.decode_image(value)
        tf.io.decode_image(value, channels=3, dtype=tf.float32, expand_animations=False)
        if value.startswith(b"\xff\xd8"):
            tf.io.extract_jpeg_shape(value)
            tf.io.decode_and_crop_jpeg(value, [0, 0, 2, 2])
            tf.io.decode_jpeg(value, ratio=2)
        if value.startswith(b"\x89PNG"):
            tf.io.decode_png(value, dtype=tf.uint16)
        if value.startswith(b"GIF"):
            tf.io.decode_gif(value)


def _changed_png(rng: random.Random, data: bytes) -> bytes:
    chunks, at = [], 8
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += length + 12
    which = rng.randrange(len(chunks))
    name, body = chunks[which]
    kind = rng.randrange(6)
    if kind == 0:
        del chunks[which]
    elif kind == 1:
        chunks.insert(which, rng.choice(chunks))
    elif kind == 2 and name == b"IDAT":
        pixels = mutation.octets(rng, zlib.decompress(body)) * rng.choice((1, 1, 50))
        chunks[which] = name, zlib.compress(pixels)
    elif kind == 3:
        chunks[which] = rng.choice((b"tRNS", b"PLTE", b"iCCP", b"zTXt", b"eXIf")), body
    else:
        chunks[which] = name, mutation.octets(rng, body)
    if rng.random() < 0.4:
        size = [rng.choice((*mutation.INTEGERS, 7, 5, 3000)) % (1 << 32) for _ in "xy"]
        found = [i for i, (n, b) in enumerate(chunks) if n == b"IHDR" and len(b) == 13]
        for i in found:
            tail = chunks[i][1][8:]
            chunks[i] = b"IHDR", struct.pack(">II", *size) + tail
    out = data[:8]
    for name, body in chunks:
        check = zlib.crc32(name + body)
        out += struct.pack(">I", len(body)) + name + body + struct.pack(">I", check)
    return out


class Sounds(Format):
    """WAV files."""

    name, share = "wav", 60_000

    def seeds(self) -> Any:
        sound = tf.reshape(tf.sin(tf.range(64.0)), [32, 2])
        return [tf.audio.encode_wav(sound, 8000).numpy()]

    def make(self, rng: random.Random) -> Any:
        data = self.known[0]
        if rng.random() < 0.7:
            at = rng.choice((4, 16, 20, 22, 24, 28, 32, 34, 40))
            width = 2 if at in (20, 22, 32, 34) else 4
            value = rng.choice(mutation.INTEGERS) % (1 << 8 * width)
            data = data[:at] + value.to_bytes(width, "little") + data[at + width :]
        if rng.random() < 0.5:
            data = mutation.octets(rng, data)
        return data, rng.choice((-1, 0, 1, 2, 100, 1 << 30)), rng.choice((-1, 0, 3, 1 << 30))

    def valid(self) -> Any:
        return self.known[0], -1, -1

    def run(self, value: Any) -> None:
        data, channels, samples = value
        tf.audio.decode_wav(data)
        tf.audio.decode_wav(data, channels, samples)


# -- formats of text -------------------------------------------------------------------------


class Patterns(Format):
    """Regular expressions made by their grammar, against texts that they nearly match."""

    name, share = "regex", 60_000

    def seeds(self) -> Any:
        return ["a", "ab", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "x" * 200, "a1 b2\n", "éa", ""]

    def make(self, rng: random.Random) -> Any:
        rewrite = "".join(rng.choice(("\\0", "\\1", "\\9", "\\\\", "x", "\\")) for _ in range(2))
        return _pattern(rng, 0), rng.choice(self.known), rewrite, rng.random() < 0.5

    def valid(self) -> Any:
        return "(a+)b*", "aab", "x", True

    def run(self, value: Any) -> None:
        pattern, text, rewrite, everywhere = value
        tf.strings.regex_full_match([text], pattern)
        tf.strings.regex_replace([text], pattern, rewrite, everywhere)


def _pattern(rng: random.Random, depth: int) -> str:
    kind = rng.randrange(10 if depth < 4 else 5)
    if kind < 3:
        return rng.choice(("a", "b", "x", ".", "\\d", "\\w", "\\s", "\\pL", "\\x{61}", "^", "$"))
    if kind == 3:
        return rng.choice(("[a-z]", "[^a]", "[[:alpha:]]", "[b-a]", "[", "]", "[]a]", "\\Q.\\E"))
    if kind == 4:
        return rng.choice(("(?=a)", "\\1", "(?P<n>a)", "(?i)", "(?i:A)", "\\C", "\\z", "(?<n>a)"))
    inner = _pattern(rng, depth + 1)
    if kind == 5:
        return inner + _pattern(rng, depth + 1)
    if kind == 6:
        return f"{inner}|{_pattern(rng, depth + 1)}"
    if kind == 7:
        return rng.choice((f"({inner})", f"(?:{inner})", f"({inner}", f"{inner})"))
    count = rng.choice(("{2}", "{0,3}", "{1001}", "{3,1}", "{,2}", "{99999999999}", "{2,}"))
    return f"(?:{inner})" + rng.choice(("*", "+", "?", "*?", "+?", "**", "{", count, count))


class Formats(Format):
    """Printf formats: `tf.strings.as_string`, `tf.strings.format`."""

    name, share = "printf", 60_000

    def seeds(self) -> Any:
        return ["{}", "{} {}", "%d", "{:5}", "a{}b", "{{}}", "{0}", "{", "}"]

    def make(self, rng: random.Random) -> Any:
        options = {
            "precision": rng.choice((-1, -1, 0, 3, 50, 1 << 20, 1 << 30, -2)),
            "width": rng.choice((-1, -1, 0, 8, 300, 1 << 20, 1 << 30, -9)),
            "fill": rng.choice(("", "", "0", " ", "-", "+", "x", "00", "é")),
            "scientific": rng.random() < 0.3,
            "shortest": rng.random() < 0.3,
        }
        dtype = rng.choice((*_DTYPES, "string"))
        template = mutation.text(rng, rng.choice(self.known))
        return options, dtype, template, rng.choice((0, 1, 3, 1 << 30, -1, -5))

    def valid(self) -> Any:
        options = {"precision": -1, "width": 3, "fill": "", "scientific": False, "shortest": False}
        return options, "int32", "{}", 3

    def run(self, value: Any) -> None:
        options, dtype, template, summarize = value
        values = tf.constant(["a", "b"] if dtype == "string" else [1, 0], dtype)
        count = max(1, template.count("{}"))
        problems: list[Exception] = []
        for call in (
            lambda: tf.strings.as_string(values, **options),
            lambda: tf.strings.format(template, [values] * count, summarize=summarize),
            lambda: tf.strings.format(template, [values] * count, placeholder=template[:2]),
        ):
            try:
                call()
            except (tf.errors.OpError, ValueError, TypeError) as e:
                problems.append(e)
        if problems:
            raise problems[0]
