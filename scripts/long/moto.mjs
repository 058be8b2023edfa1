// `node scripts/long/moto.mjs`: runs the contract of remotes with a second server of S3, moto of PyPI, which Python runs. It
// installs it into `.cache` first (140 MB, half a minute), so `npm test` does not run it. Passes its arguments on to
// Vitest.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../lib/free-port.mjs';
import { CommandFailed, ROOT, run, runMain } from '../lib/run.mjs';

/** With only the parts that its S3 needs. */
const PACKAGES = ['moto[s3]==5.1.16', 'flask==3.1.2', 'flask-cors==6.0.1'];
const VENV = join(ROOT, '.cache', 'moto', '5.1.16');
const BIN = join(VENV, process.platform === 'win32' ? 'Scripts' : 'bin');
const SERVER = join(BIN, process.platform === 'win32' ? 'moto_server.exe' : 'moto_server');

async function install() {
  if (existsSync(SERVER)) return;
  await run('python3', ['-m', 'venv', VENV], { quiet: true });
  await run(join(BIN, 'pip'), ['install', '--quiet', ...PACKAGES], { quiet: true });
}

/** Starts the server with an empty bucket, in memory. */
async function start() {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const running = spawn(SERVER, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const ended = once(running, 'exit');
  const stop = async () => {
    running.kill();
    await ended;
  };
  for (let tries = 0; tries < 200 && running.exitCode === null; tries++) {
    const made = await fetch(`${endpoint}/hedgerow`, { method: 'PUT' }).catch(() => undefined);
    if (made?.ok) return { endpoint, stop };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await stop();
  throw new CommandFailed('moto does not start');
}

await runMain(async () => {
  await install();
  const { endpoint, stop } = await start();
  try {
    const args = ['run', '--config', 'vitest.moto.config.ts', ...process.argv.slice(2)];
    await run('npx', ['vitest', ...args], {
      cwd: join(ROOT, 'js'),
      env: { ...process.env, MOTO_ENDPOINT: endpoint },
    });
  } finally {
    await stop();
  }
});
