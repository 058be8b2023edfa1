/** A source in memory that changes, waits and fails on request. */
import type { RecordBatch, RecordSource } from '../src/index.js';

export interface Note {
  readonly id: string;
  readonly text: string;
  readonly kind?: string;
}

export class NoteSource implements RecordSource<Note, string> {
  readonly notes = new Map<string, Note>();
  readonly name: string;
  /** Is called before each read. */
  onRead: (after: string) => unknown = () => {};
  reads = 0;
  opened = 0;

  constructor(name = 'notes') {
    this.name = name;
  }

  add(count: number, length = 20): void {
    for (let at = 0; at < count; at++) {
      const id = `n${String(at).padStart(6, '0')}`;
      this.notes.set(id, { id, text: `${at}`.padEnd(length, '.'), kind: `k${at % 3}` });
    }
  }

  /** In the order of the keys, as the rows of a table are. */
  get rows(): Note[] {
    return [...this.notes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async open() {
    this.opened += 1;
    return {
      count: async () => this.notes.size,
      read: async (after: string, limit: number): Promise<RecordBatch<Note, string>> => {
        this.reads += 1;
        await this.onRead(after);
        const left = this.rows.filter(({ id }) => id > after);
        const records = left.slice(0, limit).map((row) => [row.id, row] as const);
        return {
          records,
          next: records.at(-1)?.[0] ?? after,
          isLast: left.length <= limit,
        };
      },
      close: () => {
        this.opened -= 1;
      },
    };
  }
}
