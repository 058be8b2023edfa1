/** What tests use of Node's `fs/promises`: files of the repository, which Vite serves. */
import { Buffer } from '../buffer.js';

export async function readFile(url: URL): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Buffer(await response.arrayBuffer());
}
