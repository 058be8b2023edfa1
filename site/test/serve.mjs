// Serves the built site while its tests run.

import { fileURLToPath } from 'node:url';
import { serve } from 'vitepress';

export default async function start() {
  const app = await serve({ root: fileURLToPath(new URL('..', import.meta.url)), port: 0 });
  process.env.SITE_URL = `http://127.0.0.1:${app.server.address().port}`;
  return () => app.server.close();
}
