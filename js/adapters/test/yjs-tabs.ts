/** Documents of Yjs in several tabs of one store in memory. */
import { onTestFinished } from 'vitest';
import * as Y from 'yjs';
import { memory, open, type Storage, type Store } from '../../hedgerow/src/index.js';
import { HedgerowProvider, type YjsOptions } from '../src/yjs.js';

/** A tab: a handle, a document, and its provider. */
export interface YjsTab {
  readonly db: Store;
  readonly doc: Y.Doc;
  readonly provider: HedgerowProvider;
  readonly errors: unknown[];
}

/** Tabs of one store see each other's commits. */
export const sharedMemory = (): Storage => ({ ...memory(), isShared: true }) as Storage;

/** Opens a tab. Documents get small numbers as ids, so that a run can be repeated. */
export async function openTab(
  storage: Storage,
  name = 'doc',
  options: YjsOptions = {},
  doc = new Y.Doc(),
): Promise<YjsTab> {
  const db = await open('yjs', { storage });
  const provider = new HedgerowProvider(db, name, doc, options);
  const errors: unknown[] = [];
  provider.on('error', (cause) => errors.push(cause));
  await provider.whenSynced;
  onTestFinished(async () => {
    await provider.destroy().catch(() => {});
    await db.close();
  });
  return { db, doc, provider, errors };
}

/** Closes a tab as a crash does: unstored changes are lost. */
export async function crash({ db }: YjsTab): Promise<void> {
  await db.close();
}

/** Returns the sizes of a document's rows by their keys. */
export async function rowsOf(db: Store, name = 'doc'): Promise<Map<string, Uint8Array>> {
  const prefix = `yjs/${encodeURIComponent(name)}/u/`;
  return new Map(await db.scan<Uint8Array>({ prefix }).toArray());
}

/** Builds a document from its rows, without a provider. */
export async function storedDoc(db: Store, name = 'doc'): Promise<Y.Doc> {
  const doc = new Y.Doc();
  for (const update of (await rowsOf(db, name)).values()) Y.applyUpdate(doc, update);
  return doc;
}

/** Returns the state of a document, for comparisons. */
export function stateOf(doc: Y.Doc): unknown {
  return {
    text: doc.getText('text').toString(),
    list: doc.getArray('list').toArray(),
    map: Object.entries(doc.getMap('map').toJSON()).sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}
