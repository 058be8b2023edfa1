// Serves a production build of a page to a browser on this machine.

/** Builds the page of a Vite configuration and serves it; by default at a port for this process. */
export async function servePage({ port = portOfProcess(), ...page }) {
  // Imported late: it exists only once `setup` has run.
  const { build, preview } = await import('vite');
  await build(page);
  const server = await preview({ ...page, preview: { port, host: '127.0.0.1' } });
  return { port: server.httpServer.address().port, close: () => server.close() };
}

/** A port that two runs on one machine are unlikely to share. */
const portOfProcess = () => 20_000 + (process.pid % 10_000);
