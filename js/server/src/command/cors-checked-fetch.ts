/** Fetches as a page does: it asks for leave (CORS) as a browser does, and sees only what a page may see. */
import type { FetchFunction } from 'hedgerow/kit';

/** Headers of adapters that a page may send without asking. */
const SENT_UNASKED = /^(accept|range)$/;
/** Answer headers that each page may see. */
const SEEN =
  /^(cache-control|content-language|content-length|content-type|expires|last-modified|pragma)$/;
/** All headers that pages send with PUT requests. */
const OF_PUT = ['cache-control', 'content-type', 'if-match', 'if-none-match'];
/** Statuses of answers without a body. */
const EMPTY = /^(204|205|304)$/;

const readHeaderList = (headers: Headers, name: string): string[] =>
  (headers.get(`access-control-${name}`) ?? '')
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter(Boolean);

const has = (list: readonly string[], one: string): boolean =>
  list.includes(one) || (list.includes('*') && one !== 'authorization');

/** Makes a `fetch` for pages of this origin, which describes each gap in their CORS in `lacks`. */
export function pageFetch(origin: string, lacks: Set<string>): FetchFunction {
  const isOpen = ({ headers }: Response) =>
    has(readHeaderList(headers, 'allow-origin'), origin.toLowerCase());

  async function isGranted(url: string, method: string, names: readonly string[]) {
    const headers: Record<string, string> = {
      Origin: origin,
      'Access-Control-Request-Method': method,
    };
    if (names.length > 0) headers['Access-Control-Request-Headers'] = names.join(',');
    const answer = await fetch(url, { method: 'OPTIONS', headers, redirect: 'manual' });
    await answer.body?.cancel();
    const mayUse =
      method === 'GET' ||
      has(readHeaderList(answer.headers, 'allow-methods'), method.toLowerCase());
    const allowed = readHeaderList(answer.headers, 'allow-headers');
    return answer.ok && isOpen(answer) && mayUse && names.every((name) => has(allowed, name));
  }

  /** Rules of a bucket grant a request entirely or not at all, so this asks for each part alone. */
  async function explain(url: string, method: string, names: readonly string[]): Promise<void> {
    if (!(await isGranted(url, 'GET', []))) {
      lacks.add(`the origin ${origin} (AllowedOrigins)`);
    } else if (!(await isGranted(url, method, []))) {
      lacks.add(`the method ${method} (AllowedMethods)`);
    } else {
      for (const name of names) {
        if (!(await isGranted(url, method, [name])))
          lacks.add(`the header ${name} (AllowedHeaders)`);
      }
    }
  }

  return async (url, init) => {
    const { method = 'GET' } = init;
    const sent = Object.entries(init.headers ?? {}) as [string, string][];
    const custom = sent
      .map(([name]) => name.toLowerCase())
      .filter((name) => !SENT_UNASKED.test(name))
      .sort();
    const mustAsk = method !== 'GET' || custom.length > 0;
    if (mustAsk && !(await isGranted(url, method, custom))) {
      const all = method === 'PUT' ? [...new Set([...OF_PUT, ...custom])] : custom;
      await explain(url, method, all);
      throw new TypeError('Failed to fetch');
    }
    const headers = { ...Object.fromEntries(sent), Origin: origin };
    const answer = await fetch(url, { ...init, headers });
    if (!isOpen(answer)) {
      await answer.body?.cancel();
      lacks.add(`the origin ${origin} (AllowedOrigins)`);
      throw new TypeError('Failed to fetch');
    }
    const exposed = readHeaderList(answer.headers, 'expose-headers');
    const isSeen = (name: string) => SEEN.test(name) || has(exposed, name);
    if (answer.headers.has('etag') && !isSeen('etag')) lacks.add('the answer ETag (ExposeHeaders)');
    const { status } = answer;
    return new Response(EMPTY.test(String(status)) ? null : answer.body, {
      status,
      headers: [...answer.headers].filter(([name]) => isSeen(name)),
    });
  };
}
