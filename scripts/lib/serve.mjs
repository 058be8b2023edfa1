// Serves a production build of a page to a browser on this machine.

/** Builds the page of a Vite configuration and serves it, at a port of its own unless `port` names one. */
export async function servePage({ port = portOfProcess(), ...page }) {
  // Imported late: it is only there once `setup` has run.
  const { build, preview } = await import('vite');
  await build(page);
  const server = await preview({ ...page, preview: { port, host: '127.0.0.1' } });
  return { port: server.httpServer.address().port, close: () => server.close() };
}

/** A port that two runs on one machine do not share. */
const portOfProcess = () => 20_000 + (process.pid % 10_000);
