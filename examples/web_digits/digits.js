// The network of examples/cutmix_digits.py as WebAssembly: created from the bytes of digits.wasm.
"use strict";

async function createDigits(bytes) {
  const module = await WebAssembly.compile(bytes);
  // The C library of WASI may import what a page has not; the network calls none of it.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => 52; // ENOSYS
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  exports._initialize?.();

  const text = (pointer) => {
    const memory = new Uint8Array(exports.memory.buffer, pointer);
    return new TextDecoder().decode(memory.subarray(0, memory.indexOf(0)));
  };
  const check = (error) => {
    if (error) throw new Error(text(exports.digits_error_text(error)));
  };
  const description = JSON.parse(text(exports.digits_description()));
  const [run] = description.functions;
  const count = (port) => port.shape.reduce((product, length) => product * length, 1);
  const sizes = { input: count(run.inputs[0]), output: count(run.outputs[0]) };

  const place = exports.malloc(4);
  check(exports.digits_create(place));
  const context = new Uint32Array(exports.memory.buffer, place, 1)[0];
  // Each argument is a pointer and a count, 32 bits each.
  const data = { input: exports.malloc(4 * sizes.input), output: exports.malloc(4 * sizes.output) };
  const structs = { input: exports.malloc(8), output: exports.malloc(8) };
  for (const side of ["input", "output"]) {
    new Uint32Array(exports.memory.buffer, structs[side], 2).set([data[side], sizes[side]]);
  }

  return {
    description,
    // The probabilities of the ten digits, for 64 numbers from 0 to 1.
    predict(pixels) {
      new Float32Array(exports.memory.buffer, data.input, sizes.input).set(pixels);
      check(exports.digits_run(context, structs.input, structs.output));
      return Array.from(new Float32Array(exports.memory.buffer, data.output, sizes.output));
    },
  };
}

// A picture of gray values, side by side, as the 8 x 8 means that the network was trained on: what is
// drawn is centred, and as high as the digits of the data set are.
function toPixels(gray, side) {
  let [left, top, right, bottom] = [side, side, -1, -1];
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      if (gray[y * side + x] > 0.1) {
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y);
      }
    }
  }
  const pixels = new Float32Array(64);
  if (right < 0) return pixels;
  const extent = Math.max(bottom - top + 1, right - left + 1);
  const cell = extent / 8;
  const [x0, y0] = [(left + right + 1 - extent) / 2, (top + bottom + 1 - extent) / 2];
  const samples = 8;
  for (let i = 0; i < 64; i++) {
    let sum = 0;
    for (let s = 0; s < samples * samples; s++) {
      const x = Math.floor(x0 + cell * ((i % 8) + ((s % samples) + 0.5) / samples));
      const y = Math.floor(y0 + cell * (Math.floor(i / 8) + (Math.floor(s / samples) + 0.5) / samples));
      if (x >= 0 && y >= 0 && x < side && y < side) sum += gray[y * side + x];
    }
    pixels[i] = sum / (samples * samples);
  }
  return pixels;
}

if (typeof exports !== "undefined") Object.assign(exports, { createDigits, toPixels });
