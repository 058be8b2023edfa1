/** The used part of PouchDB; the package brings no types. */
declare module 'pouchdb-browser' {
  interface AllDocsOptions {
    keys?: string[];
    include_docs?: boolean;
    startkey?: string;
    endkey?: string;
    limit?: number;
  }

  export default class PouchDB<Document extends { _id: string; _rev?: string }> {
    constructor(name: string, options: { auto_compaction: boolean; revs_limit: number });
    info(): Promise<{ doc_count: number }>;
    get(id: string): Promise<Document>;
    put(document: Document): Promise<unknown>;
    bulkDocs(documents: readonly Document[]): Promise<{ error?: boolean; message?: string }[]>;
    allDocs(
      options: AllDocsOptions,
    ): Promise<{ rows: { id: string; value?: { rev: string }; doc?: Document }[] }>;
    readonly replicate: {
      from(
        url: string,
        options: { batch_size: number },
      ): Promise<{ ok: boolean; errors: readonly unknown[] }>;
    };
    close(): Promise<void>;
  }
}
