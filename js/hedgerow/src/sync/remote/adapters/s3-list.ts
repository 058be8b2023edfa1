/** Reads the pages of S3 lists. Keys and tokens are XML text without attributes, so no XML parser is needed. */
import { parseName } from '../object-names.js';
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

/** Reads the objects of a page of a list; leaves out keys that are no names. */
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

/** Reads the token of the next page; returns `undefined` on the last one. */
export function nextToken(page: string): string | undefined {
  const token = /<NextContinuationToken>([^<]*)</.exec(page)?.[1];
  return token && decodeEntities(token);
}
