// Reads and writes the published figures, `docs/figures.json`, and fills in the pages that show them. In a page the key
// of a figure stands in a comment right before its text, `<!-- =load.hedgerow -->212 ms`, and a table stands between
// two comments:
//
//   <!-- figures as=ratios rows=load,open columns=hedgerow,dexie -->
//   <!-- end of figures -->
//
// `as=values` shows each figure, `as=ratios` multiples of the time or size of Hedgerow.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shown } from './figures-shown.mjs';
import { figureOf, figureTable } from './figures-table.mjs';
import { ROOT } from './run.mjs';

const FILE = join(ROOT, 'docs', 'figures.json');

export const readFigures = () => JSON.parse(readFileSync(FILE, 'utf8'));

/** One figure to a line, so that a change of one is a line of a diff. */
export function writeFigures(data) {
  const parts = Object.entries(data).map(([part, entries]) => {
    const lines = Object.entries(entries).map(([key, value]) => `    ${entryText(key, value)}`);
    return `  ${JSON.stringify(part)}: {\n${lines.join(',\n')}\n  }`;
  });
  writeFileSync(FILE, `{\n${parts.join(',\n')}\n}\n`);
}

function entryText(key, value) {
  if (typeof value === 'string') return `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`,
  );
  const line = `${JSON.stringify(key)}: { ${members.join(', ')} }`;
  if (line.length <= 95) return line;
  return `${JSON.stringify(key)}: {\n      ${members.join(',\n      ')}\n    }`;
}

/** Lists the faults of the file itself. */
export function faultsOf({ runs, figures }) {
  const ofRuns = Object.entries(runs).flatMap(([id, run]) => {
    const missing = ['date', 'command', 'what'].filter((name) => run[name] === undefined);
    const isBare = run.browser !== undefined && run.indexedDb === undefined;
    return [...missing, ...(isBare ? ['indexedDb'] : [])].map((name) => `run ${id} has no ${name}`);
  });
  const ofFigures = Object.entries(figures).flatMap(([key, { value, unit, run }]) => {
    if (runs[run] === undefined) return [`${key} is of the run ${run}, which is not there`];
    return Number.isFinite(value) && unit !== undefined ? [] : [`${key} has no value or no unit`];
  });
  return [...ofRuns, ...ofFigures];
}

const BLOCK = /(<!-- figures ([^>]*?) -->\n)([\s\S]*?)(<!-- end of figures -->)/g;
const NUMBER = String.raw`-?\d[\d.,]*(?<=\d)(?: (?:a second|ms|s|KB|MB|MiB|x)(?![\w]))?`;
const KEYED = new RegExp(String.raw`(<!-- =([\w.-]+) -->)(${NUMBER})?`, 'g');

/**
 * Fills in the figures of a page; `unknown` has keys without a figure, `differing` the texts that it replaced, `keys`
 * the number of figures and tables.
 */
export function fill(page, data) {
  const unknown = [];
  const differing = [];
  let keys = 0;
  const filled = (found, make, what) => {
    keys += 1;
    try {
      const wanted = make();
      if (wanted !== found)
        differing.push(`${what} is not "${found.trim()}" but "${wanted.trim()}"`);
      return wanted;
    } catch (error) {
      unknown.push(error.message);
      return found;
    }
  };
  const text = page
    .replace(BLOCK, (_, begin, spec, body, end) => {
      const table = () => `\n${figureTable(spec, data)}\n\n`;
      return `${begin}${filled(body, table, `the table of ${spec}`)}${end}`;
    })
    .replace(KEYED, (_, comment, key, found = '') => {
      return comment + filled(found, () => shown(figureOf(data, key)), key);
    });
  for (const [line] of page.matchAll(/^ {0,3}<!-- =.*$/gm)) {
    unknown.push(`a line of a paragraph must not begin with a comment: ${line}`);
  }
  return { text, unknown, differing, keys };
}

/** A number with a unit of a measurement. */
const MEASURED = /\b\d[\d.,]*\s?(?:ms|s|[kK]B|MB|MiB|GB|x|(?:rows )?a second)(?!\w)/g;

/** Lists the figures of a page that have no key. */
export function unkeyed(page) {
  const text = page
    .replace(BLOCK, '')
    .replace(KEYED, '')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/\]\([^)]*\)/g, ']');
  return [...text.matchAll(MEASURED)].map(([found]) => found);
}
