/** Pages of lists of S3. Keys and tokens are text in XML, without attributes: that needs no parser of XML. */
import { parseName } from '../names.js';
import type { RemoteObject } from '../remote.js';

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function decodeEntities(text: string): string {
  return text.replace(/&(\w+|#\d+|#x[0-9a-f]+);/gi, (all, name: string) => {
    if (!name.startsWith('#')) return ENTITIES[name] ?? all;
    return String.fromCodePoint(Number(name.slice(1).replace(/^x/i, '0x')));
  });
}

/** The objects of a page of a list; keys that are no names are left out. */
export function parseListPage(page: string, prefix: string): RemoteObject[] {
  const found: RemoteObject[] = [];
  for (const [, entry = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const text = (tag: string) =>
      decodeEntities(new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(entry)?.[1] ?? '');
    const name = text('Key').slice(prefix.length);
    const modifiedMs = Date.parse(text('LastModified'));
    const length = Number(text('Size'));
    if (parseName(name) !== undefined && modifiedMs >= 0) found.push({ name, length, modifiedMs });
  }
  return found;
}

/** What the next page is asked for by; `undefined` after the last one. */
export function nextToken(page: string): string | undefined {
  const token = /<NextContinuationToken>([^<]*)</.exec(page)?.[1];
  return token && decodeEntities(token);
}
