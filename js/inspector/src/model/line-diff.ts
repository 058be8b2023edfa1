/** Compares two texts line by line. */

/** A line of one of the texts, or of both. */
export interface Line {
  readonly op: 'same' | 'add' | 'del';
  readonly text: string;
}

/** Texts with more lines between their common ends are shown as replaced. */
const MAX_LINES = 1000;

const linesOf = (text: string | undefined): string[] =>
  text === undefined ? [] : text.split('\n');
const as = (op: Line['op'], lines: readonly string[]) => lines.map((text): Line => ({ op, text }));

/** Computes the lengths of the longest common subsequences of all ends of two lists. */
function lengthsOf(a: readonly string[], b: readonly string[]): Uint16Array[] {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, next] = [rows[i] as Uint16Array, rows[i + 1] as Uint16Array];
    for (let j = b.length - 1; j >= 0; j--) {
      const isSame = a[i] === b[j];
      row[j] = isSame
        ? (next[j + 1] as number) + 1
        : Math.max(next[j] as number, row[j + 1] as number);
    }
  }
  return rows;
}

function between(a: readonly string[], b: readonly string[]): Line[] {
  if (a.length > MAX_LINES || b.length > MAX_LINES) return [...as('del', a), ...as('add', b)];
  const lengths = lengthsOf(a, b);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ op: 'same', text: a[i++] as string });
      j++;
    } else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)) {
      lines.push({ op: 'del', text: a[i++] as string });
    } else lines.push({ op: 'add', text: b[j++] as string });
  }
  return [...lines, ...as('del', a.slice(i)), ...as('add', b.slice(j))];
}

/** Merges the lines of two texts: common lines appear once. An absent text is `undefined`. */
export function linesBetween(before: string | undefined, after: string | undefined): Line[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [
    ...as('same', a.slice(0, start)),
    ...between(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...as('same', a.slice(a.length - end)),
  ];
}
