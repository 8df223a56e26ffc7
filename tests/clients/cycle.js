// Runs the calls of a file by ioredis: module, host, port, file. Prints the answers as JSON, one a line.

const { readFileSync } = require('node:fs');

const [modulePath, host, port, path] = process.argv.slice(2);
const Redis = require(modulePath);
const { scripts, calls } = JSON.parse(readFileSync(path, 'utf8'));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function main() {
  const client = new Redis(Number(port), host);
  for (const source of scripts) await client.script('LOAD', source);
  for (const { argv, pause_ms: pauseMs } of calls) {
    await wait(pauseMs);
    const [, ...words] = argv;
    const answer = await client.evalsha(...words).catch((error) => ({ error: error.message }));
    console.log(JSON.stringify(answer));
  }
  await client.quit();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
