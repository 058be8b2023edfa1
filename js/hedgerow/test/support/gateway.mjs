// Starts the S3 server for tests, in a folder of its own: for Vitest and Playwright.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../../scripts/lib/free-port.mjs';
import { findGateway } from '../../../../scripts/lib/gateway.mjs';
import { ROOT } from '../../../../scripts/lib/run.mjs';

export const BUCKET = 'hedgerow';
export const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'a secret of the tests' };

/** Starts the server with an empty bucket; `stop` ends it and deletes its data. */
export async function startGateway() {
  const program = findGateway();
  if (program === undefined) {
    throw new Error('versitygw is missing: run `npm run setup -- --gateway`');
  }
  // The folder is in the repository: the server uses extended attributes, which memory disks may lack.
  const parent = join(ROOT, '.cache', 'versitygw');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'bucket-'));
  mkdirSync(join(folder, BUCKET));
  const port = await freePort();
  const env = {
    ...process.env,
    ROOT_ACCESS_KEY: CREDENTIALS.accessKeyId,
    ROOT_SECRET_KEY: CREDENTIALS.secretAccessKey,
  };
  const args = ['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', 'posix', folder];
  const running = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  running.stderr.on('data', (text) => {
    said += text;
  });
  const ended = once(running, 'exit');
  const stop = async () => {
    running.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(endpoint).catch(() => undefined);
    if (answer !== undefined) return { endpoint, stop };
    if (running.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error(`versitygw does not start: ${said}`);
}
