/** Builds and serves the apps, once for all tests. */
import { start } from '../start.mjs';

export default async function serve() {
  const { url, close } = await start({ port: 0 });
  process.env.FRAMEWORKS_URL = url;
  return close;
}
