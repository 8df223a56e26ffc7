// The lanes of `cargo xtask bench` that run in JavaScript: the engine in wasm, here and in Chromium, and its peers, each
// with the same scripts and the same calls, one at a time. Prints `name<TAB>pairs per second` a line, the median round.
//
// node lanes.mjs PEERS WASM LUA VALKEY_SERVER CHROMIUM ROUNDS

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [peers, wasm, lua, valkeyServer, chromium, rounds] = process.argv.slice(2);
const PAIRS = { fast: 5000, slow: 500 };

const script = (name) => {
  const source = readFileSync(join(lua, `${name}.lua`), 'utf8');
  return { source, sha: createHash('sha1').update(source).digest('hex') };
};
const scripts = { enqueue: script('enqueue'), claim: script('claim'), complete: script('complete') };

const key = (name) => `emq:{bench}:${name}`;
const jobId = (number) => `JOB${String(number).padStart(11, '0')}`;

/** The seconds of one round: the jobs are put in before the clock starts. `run(script, keys, args)` answers the reply. */
async function round(run, pairs) {
  for (let number = 0; number < pairs; number++) {
    const id = jobId(number);
    const added = await run(scripts.enqueue, [key('pending'), key(`job:${id}`)], [id, 'payload']);
    if (Number(added) !== 1) throw new Error(`enqueue answers ${added}`);
  }
  const start = performance.now();
  for (let number = 0; number < pairs; number++) {
    const [id, , token] = await run(scripts.claim, [key('pending'), key('active'), key('job:')], ['600000']);
    const sets = ['pending', 'schedule', 'dead', 'metrics:completed'].map(key);
    const done = await run(scripts.complete, [key('active'), key(`job:${id}`), ...sets], [String(id), String(token)]);
    if (Number(done) !== 1) throw new Error(`complete answers ${done}`);
  }
  return (performance.now() - start) / 1000;
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const tell = (name, pairs, seconds) => console.log(`${name}\t${Math.round(pairs / median(seconds))}`);

async function measure(name, pairs, one) {
  const seconds = [];
  for (let count = 0; count < Number(rounds); count++) seconds.push(await one());
  tell(name, pairs, seconds);
}

const require = createRequire(join(peers, 'lanes.js'));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const version = (name) => JSON.parse(readFileSync(join(peers, 'node_modules', name, 'package.json'), 'utf8')).version;

async function engineInNode() {
  const module = await import(pathToFileURL(join(wasm, 'echomq_bench.js')));
  await module.default({ module_or_path: readFileSync(join(wasm, 'echomq_bench_bg.wasm')) });
  const bench = new module.Bench();
  await measure(`engine in wasm, Node ${process.versions.node}`, PAIRS.fast, () => {
    bench.enqueue(PAIRS.fast);
    const start = performance.now();
    bench.drain(PAIRS.fast);
    return (performance.now() - start) / 1000;
  });
}

const PAGE = `<!doctype html><script type="module">
import init, { Bench } from './echomq_bench.js';
await init();
const bench = new Bench();
const seconds = [];
for (let count = 0; count < ${rounds}; count++) {
  bench.enqueue(${PAIRS.fast});
  const start = performance.now();
  bench.drain(${PAIRS.fast});
  seconds.push((performance.now() - start) / 1000);
}
await fetch('told', { method: 'POST', body: JSON.stringify({ seconds, agent: navigator.userAgent }) });
</script>`;

async function engineInChromium() {
  const files = { '/': ['text/html', () => PAGE] };
  for (const [name, type] of [['echomq_bench.js', 'text/javascript'], ['echomq_bench_bg.wasm', 'application/wasm']]) {
    files[`/${name}`] = [type, () => readFileSync(join(wasm, name))];
  }
  let tellUs;
  const answer = new Promise((resolve) => (tellUs = resolve));
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let body = '';
      for await (const part of request) body += part;
      tellUs(JSON.parse(body));
      return void response.end();
    }
    const [type, text] = files[request.url] ?? [];
    if (!type) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': type }).end(text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const profile = mkdtempSync(join(tmpdir(), 'bench-'));
  const told = readFileSync(new URL('../browser/chromium.txt', import.meta.url), 'utf8');
  const quiet = told.split('\n').filter((line) => line.startsWith('--'));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const browser = spawn(chromium, [...quiet, `--user-data-dir=${profile}`, address], { stdio: 'ignore' });
  const ended = once(browser, 'exit').then(() => Promise.reject(new Error('Chromium ended without an answer')));
  try {
    const { seconds, agent } = await Promise.race([answer, ended]);
    tell(`engine in wasm, Chromium ${/Chrome\/(\d+)/.exec(agent)?.[1]}`, PAIRS.fast, seconds);
  } finally {
    ended.catch(() => {});
    browser.kill();
    server.closeAllConnections();
    server.close();
    await ended.catch(() => {});
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** It has no SCRIPT LOAD: scripts are made known as commands. */
async function ioredisMock() {
  const { default: Mock } = await load('ioredis-mock');
  const redis = new Mock();
  const run = ({ sha, source }, keys, args) => {
    const name = `run${sha}`;
    if (!redis[name]) redis.defineCommand(name, { numberOfKeys: keys.length, lua: source });
    return redis[name](...keys, ...args);
  };
  await measure(`ioredis-mock ${version('ioredis-mock')}`, PAIRS.slow, () => round(run, PAIRS.slow));
  redis.disconnect();
}

/** Makes the scripts known to a server, and answers how its client runs one. */
async function byIoredis(redis) {
  for (const { source } of Object.values(scripts)) await redis.script('LOAD', source);
  return ({ sha }, keys, args) => redis.evalsha(sha, keys.length, ...keys, ...args);
}

async function jsRedisServer() {
  const { createInMemoryClient, createRedisMock } = await load('js-redis-server');
  const { Redis } = await load('ioredis');
  const mock = await createRedisMock();
  const redis = new Redis(mock.addresses()[0]);
  const send = await byIoredis(redis);
  const name = `js-redis-server ${version('js-redis-server')}`;
  await measure(`${name}, by ioredis over loopback`, PAIRS.slow, () => round(send, PAIRS.slow));
  redis.disconnect();
  await mock.close();
  const memory = await createInMemoryClient();
  for (const { source } of Object.values(scripts)) await memory.command('SCRIPT', 'LOAD', source);
  const run = ({ sha }, keys, args) => memory.command('EVALSHA', sha, String(keys.length), ...keys, ...args);
  await measure(`${name}, in process`, PAIRS.slow, () => round(run, PAIRS.slow));
}

async function valkey() {
  const { Redis } = await load('ioredis');
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const socket = join(folder, 'valkey.sock');
  const server = spawn(valkeyServer, ['--port', '0', '--unixsocket', socket, '--save', ''], { stdio: 'ignore' });
  const redis = new Redis(socket, { retryStrategy: () => 100 });
  // Until the server listens there are refused connections, which the client tries again.
  redis.on('error', () => {});
  try {
    const run = await byIoredis(redis);
    const name = `Valkey by ioredis ${version('ioredis')}, unix socket`;
    await measure(name, PAIRS.fast, () => round(run, PAIRS.fast));
  } finally {
    redis.disconnect();
    server.kill();
    await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const lane of [engineInNode, engineInChromium, valkey, jsRedisServer, ioredisMock]) await lane();
process.exit(0);
