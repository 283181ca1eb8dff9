// Runs models in ONNX Runtime: reads one JSON object a line, writes one a line.
// Called as: node - FOLDER, where FOLDER holds node_modules.
//
//   {"model": base64, "inputs": {name: tensor}, "optimize": level}  ->  {"outputs": {name: tensor}} or {"error": text}
//
// A tensor is {"type", "dims", "data"}; data is base64, or a list of strings.
const readline = require("readline");
const ort = require(require.resolve("onnxruntime-node", { paths: [process.argv[2]] }));

const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, bool: Uint8Array,
};

function decode(t) {
  if (t.type === "string") return new ort.Tensor("string", t.data, t.dims);
  const bytes = new Uint8Array(Buffer.from(t.data, "base64")); // a copy, whose start is aligned
  return new ort.Tensor(t.type, new arrays[t.type](bytes.buffer), t.dims);
}

function encode(t) {
  if (t.type === "string") return { type: t.type, dims: t.dims, data: t.data };
  const data = Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength).toString("base64");
  return { type: t.type, dims: t.dims, data };
}

async function run(request) {
  const session = await ort.InferenceSession.create(new Uint8Array(Buffer.from(request.model, "base64")), {
    graphOptimizationLevel: request.optimize, intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4,
  });
  try {
    const feeds = {};
    for (const [name, t] of Object.entries(request.inputs)) feeds[name] = decode(t);
    const outputs = {};
    for (const [name, t] of Object.entries(await session.run(feeds))) outputs[name] = encode(t);
    return { outputs };
  } finally {
    await session.release();
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const answer = await run(JSON.parse(line)).catch((err) => ({ error: String(err.message || err) }));
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}

main();
