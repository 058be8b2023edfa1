/** Writes amounts and names for people. */

import type { DrawnLevel, DrawnTree } from './drawing.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const count = (value: number) => whole.format(value);

/** `1 node`, `106 nodes` */
export const plural = (value: number, one: string, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

export function size(bytes: number): string {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  return bytes >= 1e3 ? `${(bytes / 1e3).toFixed(1)} kB` : `${count(bytes)} B`;
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

/** Returns `Rows`, or names the index by its columns. */
export function treeName({ name }: DrawnTree): string {
  const kind = name[0];
  const rest = name.slice(1);
  if (name === 'r') return 'Rows';
  if (kind === 's') return `Sum tree ${rest}`;
  try {
    const [prefix, ...parts] = JSON.parse(rest) as string[];
    // Between and behind the pointers are marks of how they are listed.
    const columns = parts.filter((part) => part.startsWith('/')).map((pointer) => pointer.slice(1));
    const of = prefix === '' ? '' : ` of ${prefix}`;
    return `Index ${columns.join(', ')}${of}${kind === 'j' ? ', being made' : ''}`;
  } catch {
    return `Index ${rest}`;
  }
}

export function levelName({ level }: DrawnLevel, levels: number): string {
  if (levels === 1) return 'Root, a leaf';
  if (level === 0) return 'Leaves';
  return level === levels - 1 ? 'Root' : `Level ${level}`;
}

/** Describes a level, and its new parts. */
export function levelWords({ level, bytes, entries, isNew }: DrawnLevel): string {
  const fresh = isNew.filter(Boolean).length;
  const below = plural(
    sum(entries),
    level === 0 ? 'entry' : 'child',
    level === 0 ? 'entries' : 'children',
  );
  const parts = [plural(bytes.length, 'node'), `${size(sum(bytes))} unpacked`, below];
  return [...parts, fresh === 0 ? 'nothing new' : `${count(fresh)} new`].join(' · ');
}

/** Returns the first digits of a root. */
export const shortRoot = (root: string) => (/^0+$/.test(root) ? 'empty' : `${root.slice(0, 8)}…`);
