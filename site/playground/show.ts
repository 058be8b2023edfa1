/** Writes values in words, as a console shows them. */

const MAX_DEPTH = 4;
const MAX_MEMBERS = 20;
const MAX_LENGTH = 4000;

function members(parts: readonly string[], more: number, [open, close]: readonly [string, string]) {
  const all = more > 0 ? [...parts, `… ${more} more`] : parts;
  if (all.length === 0) return `${open}${close}`;
  const line = `${open} ${all.join(', ')} ${close}`;
  if (line.length <= 100 && !line.includes('\n')) return line;
  return `${open}\n${all.map((part) => `  ${part.replaceAll('\n', '\n  ')}`).join(',\n')}\n${close}`;
}

function list(values: readonly unknown[], depth: number, seen: readonly unknown[]): string {
  const shown = values.slice(0, MAX_MEMBERS).map((value) => word(value, depth + 1, seen));
  return members(shown, values.length - shown.length, ['[', ']']);
}

function object(value: object, depth: number, seen: readonly unknown[]): string {
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_MEMBERS).map(([key, member]) => {
    const name = /^[\w$]+$/.test(key) ? key : JSON.stringify(key);
    return `${name}: ${word(member, depth + 1, seen)}`;
  });
  const kind = value.constructor?.name ?? 'Object';
  const text = members(shown, entries.length - shown.length, ['{', '}']);
  return kind === 'Object' ? text : `${kind} ${text}`;
}

function word(value: unknown, depth: number, seen: readonly unknown[]): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Error) return String(value);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.byteLength})`;
  if (seen.includes(value)) return '[itself]';
  if (depth >= MAX_DEPTH) return Array.isArray(value) ? `[${value.length}]` : '{…}';
  const within = [...seen, value];
  if (Array.isArray(value)) return list(value, depth, within);
  if (value instanceof Map) return `Map ${list([...value], depth, within)}`;
  if (value instanceof Set) return `Set ${list([...value], depth, within)}`;
  return object(value, depth, within);
}

/** Writes a value within words: a text is itself. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? value : word(value, 0, []);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)} …` : text;
}
