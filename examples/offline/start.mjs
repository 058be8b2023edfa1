// Builds the page and serves it until interrupted, with the back end of `examples/server` behind `/api`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export async function start({ port = 4174, database = here('issues.sqlite') } = {}) {
  const app = ['--sqlite', database, '--app', here('issues.mjs'), '--port', '0'];
  const stdio = ['ignore', 'pipe', 'inherit'];
  const server = spawn(process.execPath, [here('../server/server.mjs'), ...app], { stdio });
  process.once('exit', () => server.kill());
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('the server has ended')));
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), ended]);
  const target = line.replace('listening on ', '');
  // One address for both: no other origin, and it works through a tunnel.
  const proxy = { '/api': { target, rewrite: (path) => path.slice('/api'.length) } };
  const page = { root: here('.'), logLevel: 'warn', build: { target: 'es2022' } };
  await build(page);
  const served = await preview({ ...page, preview: { port, host: '127.0.0.1', proxy } });
  const close = () => Promise.all([served.close(), server.kill() && once(server, 'exit')]);
  return { url: `http://127.0.0.1:${served.httpServer.address().port}/`, close };
}

if (process.argv[1] === here('start.mjs')) console.log(`\nissues ${(await start()).url}`);
