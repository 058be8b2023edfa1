/** The stored bytes of a store, for tests that read or change them. */
import type {
  Ref,
  SegmentRecord,
  SegmentStore,
  Storage,
} from '../../../src/storage/segment-store.js';
import { cutSegment, segmentOf } from '../../../src/storage/segment-store.js';

export interface Dump {
  readonly segments: readonly SegmentRecord[];
  /** The moves of each ref, newest first. */
  readonly refs: readonly (readonly Ref[])[];
}

/** Returns the stored bytes of an existing store. */
export async function dumpOf(storage: Storage, name = 'test'): Promise<Dump> {
  const store = await storage.open(name, { mustExist: true });
  try {
    const { refs, tables } = await store.load();
    const found = await store.read(tables.map(({ id }) => id));
    // The dump includes a ref even if its generation differs from its history.
    const moves = await Promise.all(
      refs.map(async (ref) => {
        const [, ...before] = await store.history(ref.name);
        return [ref, ...before];
      }),
    );
    return {
      segments: tables.map(({ id, tableBytes }, at) => {
        return { id, tableBytes, segmentBytes: found[at] as Uint8Array };
      }),
      refs: moves.sort(([a], [b]) => ((a as Ref).name < (b as Ref).name ? -1 : 1)),
    };
  } finally {
    await store.close();
  }
}

/** A storage with this one store, which refuses all changes. */
export function storageOf({ segments, refs }: Dump): Storage {
  const byId = new Map(segments.map((segment) => [segment.id, segment]));
  const copy = (bytes: Uint8Array) => new Uint8Array(bytes);
  const copyOfRef = (ref: Ref): Ref => ({ ...ref, commitBytes: copy(ref.commitBytes) });
  const refused = async (): Promise<never> => {
    throw new Error('a dump is not written to');
  };
  const store: SegmentStore = {
    async load(known) {
      const tables = segments.filter(({ id }) => !known?.has(id));
      return {
        refs: refs.map(([newest]) => copyOfRef(newest as Ref)),
        tables: tables.map(({ id, tableBytes }) => ({ id, tableBytes: copy(tableBytes) })),
        ids: segments.map(({ id }) => id),
      };
    },
    async read(wanted) {
      return wanted.map((one) => {
        const segment = byId.get(segmentOf(one));
        return segment && copy(cutSegment(one, segment.segmentBytes));
      });
    },
    async history(name) {
      return (refs.find(([newest]) => newest?.name === name) ?? []).map(copyOfRef);
    },
    reserve: refused,
    write: refused,
    delete: refused,
    async close() {},
  };
  return { open: async () => store, destroy: refused };
}

/** All bytes and names of a dump: everything that a reader of the disk sees. */
export function bytesOf({ segments, refs }: Dump): Uint8Array {
  return Buffer.concat([
    ...segments.flatMap(({ segmentBytes, tableBytes }) => [segmentBytes, tableBytes]),
    ...refs.flat().flatMap(({ name, commitBytes }) => [Buffer.from(name), commitBytes]),
  ]);
}
