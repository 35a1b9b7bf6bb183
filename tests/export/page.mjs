// Runs the scripts of a page built by examples/web_digits/build.py without a browser: reads images of 64
// numbers as JSON, writes the probabilities for each, and for each drawn sixteen times as large.
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { runInThisContext } from "node:vm";

const [page, images, answers] = argv.slice(2);
const html = readFileSync(page, "utf8");
const script = html.slice(html.indexOf('"use strict";'), html.indexOf("const WASM"));
const { createDigits, toPixels } = runInThisContext(`(() => {${script}; return { createDigits, toPixels }})()`);
const wasm = Buffer.from(/const WASM = "([^"]+)"/.exec(html)[1], "base64");
const network = await createDigits(wasm);
const side = 128;
const drawn = (pixels) => {
  const at = (i) => pixels[8 * Math.floor(i / side / 16) + Math.floor((i % side) / 16)];
  return toPixels(Float32Array.from({ length: side * side }, (_, i) => at(i)), side);
};
const results = JSON.parse(readFileSync(images, "utf8")).map((pixels) => [
  network.predict(pixels),
  network.predict(drawn(pixels)),
]);
const empty = toPixels(new Float32Array(side * side), side);
writeFileSync(answers, JSON.stringify({ results, empty: [...empty], description: network.description }));
