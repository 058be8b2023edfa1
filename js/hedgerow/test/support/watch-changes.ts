/** Changes that watches report, rows to watch, and callbacks that record their calls. */
import type { Change } from '../../src/index.js';
import type { Entry } from './models/store-model.js';

export const add = (key: string, newValue: unknown) => ({ op: 'insert', key, newValue });
export const del = (key: string, oldValue: unknown) => ({ op: 'delete', key, oldValue });
export const change = (key: string, oldValue: unknown, newValue: unknown) => ({
  op: 'update',
  key,
  oldValue,
  newValue,
});
export const rows = (count: number, value: unknown = 0): Entry[] =>
  Array.from({ length: count }, (_, at) => [`k${String(at).padStart(6, '0')}`, { at, value }]);

/** A callback, and the changes of each of its calls. */
export function calls() {
  const told: (readonly Change[])[] = [];
  return { told, take: (changes: readonly Change[]) => void told.push(changes) };
}
