// Measures the latency of a model in ONNX Runtime and prints one JSON object: in runs one after the
// other, or of the first result of the process, with its peak of resident memory, where seconds is 0.
// Called as: node - '{"module", "model", "threads", "seconds", "data"}', where
// module is a folder that holds node_modules, and data one with input_N.npy, or
// "" for random inputs.
const fs = require("fs");
const path = require("path");

const spec = JSON.parse(process.argv[2]);
const ort = require(require.resolve("onnxruntime-node", { paths: [spec.module] }));

const arrays = {
  "<f4": ["float32", Float32Array], "<f8": ["float64", Float64Array],
  "<i8": ["int64", BigInt64Array], "<i4": ["int32", Int32Array], "|u1": ["uint8", Uint8Array],
};

// readNPY reads a file in format version 1.0, in row-major order.
function readNPY(file) {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, 10 + length);
  const [type, Kind] = arrays[/'descr': '([^']*)'/.exec(header)[1]];
  const dims = /'shape': \(([^)]*)\)/.exec(header)[1].split(",").filter((s) => s.trim()).map(Number);
  const data = bytes.buffer.slice(bytes.byteOffset + 10 + length, bytes.byteOffset + bytes.length);
  return new ort.Tensor(type, new Kind(data), dims);
}

function random(meta) {
  const dims = meta.shape.map((d) => (typeof d === "number" ? d : 1));
  const n = dims.reduce((a, b) => a * b, 1);
  if (meta.type !== "float32") throw new Error(`no random input of ${meta.type}`);
  return new ort.Tensor("float32", Float32Array.from({ length: n }, Math.random), dims);
}

// memory returns a figure of this process in KiB.
function memory(name) {
  const status = fs.readFileSync("/proc/self/status", "latin1");
  return Number(new RegExp(name + ":\\s*(\\d+)").exec(status)[1]);
}

async function main() {
  const base = memory("VmRSS");
  const begin = performance.now();
  const session = await ort.InferenceSession.create(spec.model, {
    intraOpNumThreads: spec.threads, interOpNumThreads: 1, executionMode: "sequential",
    graphOptimizationLevel: "all", logSeverityLevel: 3,
  });
  const created = performance.now();
  const feeds = {};
  session.inputNames.forEach((name, i) => {
    feeds[name] = spec.data ? readNPY(path.join(spec.data, `input_${i}.npy`)) : random(session.inputMetadata[i]);
  });
  if (spec.seconds === 0) {
    const start = performance.now();
    await session.run(feeds);
    console.log(JSON.stringify({
      create_ms: created - begin, first_ms: performance.now() - start, base_kib: base, peak_kib: memory("VmHWM"),
    }));
    return;
  }
  for (let i = 0; i < 3; i++) await session.run(feeds);
  const times = [];
  const end = performance.now() + spec.seconds * 1e3;
  while (times.length < 10 || performance.now() < end) {
    const start = performance.now();
    await session.run(feeds);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  console.log(JSON.stringify({
    version: ort.env.versions.node,
    latency_ms: { min: times[0], median: times[times.length >> 1] },
  }));
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
