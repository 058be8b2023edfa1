/** Compiles a module from a file next to the script. */

import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';

/** Compiles during the load if the server names the type of the file: only then may browsers keep the compiled code. */
async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  const { compileStreaming } = WebAssembly as Partial<typeof WebAssembly>;
  if (response.headers.get('content-type') !== 'application/wasm' || !compileStreaming) {
    return WebAssembly.compile(await part(() => response.arrayBuffer()));
  }
  try {
    return await compileStreaming(response);
  } catch (cause) {
    // The connection broke. Code that the browser refuses is a `CompileError`.
    if (cause instanceof TypeError) return part(() => Promise.reject(cause));
    throw cause;
  }
}

/** Compiles the module at `url`. Rejects with `unavailable/not-loaded` when it does not arrive. */
export async function compileFile(url: URL): Promise<WebAssembly.Module> {
  const response = await part(() => fetch(url));
  const { ok, status } = response;
  if (ok) return compileResponse(response);
  const advice = 'serve the file beside its script';
  throw new HedgerowError('unavailable/not-loaded', `${url} answers ${status}: ${advice}`, {
    status,
  });
}
