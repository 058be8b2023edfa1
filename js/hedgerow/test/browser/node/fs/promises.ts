/** The part of Node's `fs/promises` that tests use: Vite serves the files of the repository. */
import { Buffer } from '../buffer.js';

export async function readFile(url: URL): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Buffer(await response.arrayBuffer());
}
