/** Runs the TypeScript of pages of `docs/`, by the sources of the package. */
import { readFileSync } from 'node:fs';
import { transformWithOxc } from 'vite';
import * as hedgerow from '../src/index.js';
import * as keys from '../src/keys/index.js';
import * as live from '../src/live/index.js';
import * as tables from '../src/tables/index.js';

const ENTRIES: Record<string, object> = {
  hedgerow,
  'hedgerow/full': { ...hedgerow, ...live, ...tables },
  'hedgerow/keys': keys,
  'hedgerow/live': live,
  'hedgerow/tables': tables,
};

/** The blocks of a page, as `ts` marks them. */
export function blocksOf(page: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}

/** Runs blocks, each in the scope of the one before it; `names` are what the page leaves out. */
export async function runBlocks(
  blocks: readonly string[],
  names: Record<string, unknown> = {},
): Promise<void> {
  const bound = blocks.map((block) =>
    block
      .replace(/^import type .*;$/gm, '')
      .replace(/^import \{([^}]*)\} from ('[^']*');$/gm, (_, imported: string, from: string) => {
        const values = imported.split(',').filter((one) => !one.trim().startsWith('type '));
        return `const {${values}} = entries[${from}];`;
      })
      .replace(/^export (?=async|class|const|function|interface|let|type)/gm, ''),
  );
  const text = `{\n${bound.join('{\n')}${'}'.repeat(bound.length)}\nexport {};`;
  const { code } = await transformWithOxc(text, 'page.ts');
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  const body = code.replace(/^export \{\};?$/m, '');
  await new AsyncFunction('entries', ...Object.keys(names), body)(ENTRIES, ...Object.values(names));
}
