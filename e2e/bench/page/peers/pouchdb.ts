/** PouchDB on its IndexedDB adapter. Documents carry revisions: an update must name the last one. */
import PouchDB from 'pouchdb-browser';
import type { Row } from '../rows.js';
import type { Database } from './database.js';

type Document = Row & { _id: string; _rev?: string };

const document = (row: Row, rev: string | undefined): Document => ({
  ...row,
  _id: row.id,
  ...(rev === undefined ? {} : { _rev: rev }),
});

export async function openPouchDb(): Promise<Database> {
  // The store replicates no CouchDB: only the last revision is useful.
  const db = new PouchDB<Document>('bench-pouchdb', { auto_compaction: false, revs_limit: 1 });
  let stored = (await db.info()).doc_count;

  async function revisions(ids: readonly string[]): Promise<Map<string, string>> {
    if (stored === 0) return new Map();
    const { rows } = await db.allDocs({ keys: [...ids] });
    return new Map(rows.flatMap(({ id, value }) => (value ? [[id, value.rev]] : [])));
  }

  async function write(documents: readonly Document[]): Promise<void> {
    const answers = await db.bulkDocs(documents);
    const failed = answers.find((answer) => answer.error);
    if (failed !== undefined) throw new Error(`PouchDB: ${failed.message}`);
    stored += documents.length;
  }

  return {
    load: async (rows) => {
      const revs = await revisions(rows.map(({ id }) => id));
      await write(rows.map((row) => document(row, revs.get(row.id))));
      return undefined;
    },
    remove: async (ids) => {
      const revs = await revisions(ids);
      await write(
        ids.map((id) => ({ _id: id, _rev: revs.get(id), _deleted: true }) as unknown as Document),
      );
    },
    put: async (row) => {
      const last = await db.get(row.id).catch(() => undefined);
      await db.put(document(row, last?._rev));
    },
    get: (id) => db.get(id),
    getMany: async (ids) =>
      (await db.allDocs({ keys: ids, include_docs: true })).rows.map(({ doc }) => doc),
    scan: async ({ prefix, from, limit }) => {
      const { rows } = await db.allDocs({
        include_docs: true,
        ...(prefix === undefined ? {} : { startkey: prefix, endkey: `${prefix}\uffff` }),
        ...(from === undefined ? {} : { startkey: from }),
        ...(limit === undefined ? {} : { limit }),
      });
      return rows.map(({ doc }) => doc);
    },
    close: () => db.close(),
  };
}
