// Builds the pages and serves them until interrupted.
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';
// Writes the file of the cities, unless it is there.
import '../../demo/prepare.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));

export async function start({ port = 4175 } = {}) {
  const page = { root, logLevel: 'warn' };
  await build(page);
  const served = await preview({ ...page, preview: { port, host: '127.0.0.1' } });
  const url = `http://127.0.0.1:${served.httpServer.address().port}/`;
  return { url, close: () => served.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log(`\nfive apps   ${(await start()).url}`);
