// Serves a production build of a page to a browser on this machine.

// Imported late: it exists only once `setup` has run.
const vite = () => import('vite');

/** Builds the page of a Vite configuration. */
export async function buildPage(page) {
  const { build } = await vite();
  await build(page);
}

/** Serves the built page of a Vite configuration; by default at a port for this process. */
export async function serveBuiltPage({ port = portOfProcess(), ...page }) {
  const { preview } = await vite();
  const server = await preview({ ...page, preview: { port, host: '127.0.0.1' } });
  return { port: server.httpServer.address().port, close: () => server.close() };
}

/** Builds the page, and serves it. */
export async function servePage({ port, ...page }) {
  await buildPage(page);
  return serveBuiltPage({ port, ...page });
}

/** Returns a port that two runs on one machine are unlikely to share. */
const portOfProcess = () => 20_000 + (process.pid % 10_000);
