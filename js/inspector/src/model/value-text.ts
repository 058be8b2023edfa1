/** Formats values as text, and parses text as values. */

import { HedgerowError, unhex } from 'hedgerow/kit';

/** The form of a value, by which its text is parsed. */
export type ValueKind = 'json' | 'bytes';

/** Most bytes of a value that are shown. */
export const SHOWN_BYTES = 64 << 10;
const IN_LINE = 16;

export const valueKindOf = (value: unknown): ValueKind =>
  value instanceof Uint8Array ? 'bytes' : 'json';

const hexOf = (byte: number) => byte.toString(16).padStart(2, '0');

/** Formats bytes as a dump: position, bytes, and their letters. */
export function dumpOf(bytes: Uint8Array, most = SHOWN_BYTES): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += IN_LINE) {
    const part = [...bytes.subarray(at, Math.min(at + IN_LINE, most))];
    const letters = part.map((byte) =>
      byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.',
    );
    const hex = part
      .map(hexOf)
      .join(' ')
      .padEnd(IN_LINE * 3 - 1);
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex}  ${letters.join('')}`);
  }
  if (bytes.length > most) lines.push(`… ${(bytes.length - most).toLocaleString('en')} bytes more`);
  return lines.join('\n');
}

/** Formats a value for people. */
export function formatValue(value: unknown): string {
  return value instanceof Uint8Array ? dumpOf(value) : JSON.stringify(value, undefined, 2);
}

/** Formats a whole value as text that `valueFrom` reads. */
export function editableOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) return JSON.stringify(value, undefined, 2);
  const bytes = [...value].map(hexOf);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += IN_LINE) {
    lines.push(bytes.slice(at, at + IN_LINE).join(' '));
  }
  return lines.join('\n');
}

/** Formats the beginning of a value on one line. */
export function previewOf(value: unknown, most = 160): string {
  if (value instanceof Uint8Array) {
    const some = [...value.subarray(0, 24)].map(hexOf).join(' ');
    return `${sizeText(value.length)}: ${some}${value.length > 24 ? ' …' : ''}`;
  }
  const text = JSON.stringify(value) ?? '';
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Parses a value. Throws `invalid-argument/value` with the fault of the text. */
export function valueFrom(text: string, kind: ValueKind): unknown {
  if (kind === 'bytes') {
    const digits = text.replace(/\s+/g, '');
    if (!/^([0-9a-fA-F]{2})*$/.test(digits)) {
      throw new HedgerowError('invalid-argument/value', 'bytes are pairs of hexadecimal digits');
    }
    return unhex(digits);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HedgerowError('invalid-argument/value', `not JSON: ${why}`, { cause });
  }
}

/** Counts the bytes of a value as JSON or as bytes. */
export function measureValue(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** Formats a number of bytes. */
export function sizeText(bytes: number): string {
  let [size, at] = [bytes, 0];
  while (size >= 1024 && at < UNITS.length - 1) [size, at] = [size / 1024, at + 1];
  return `${at === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${UNITS[at]}`;
}

/** Formats a number with its thousands apart. */
export const countText = (count: number): string => count.toLocaleString('en');

/** Returns the beginning of a root, enough to distinguish it from others. */
export const shortRoot = (root: string): string => `${root.slice(0, 12)}…`;
