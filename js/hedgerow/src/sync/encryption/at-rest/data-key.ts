/** Finds or makes the data key of a store, and moves it to another key of the app. */
import { HedgerowError } from '../../../base/errors.js';
import { untilWon } from '../../../base/pauses.js';
import type { SegmentStore, StoreContents } from '../../../storage/segment-store.js';
import { importKey } from '../hkdf.js';
import type { AppKey } from './app-key.js';
import { newDataKey, openRecord, recordChange, recordIn, sealRecord } from './key-record.js';
import { SealedRefs } from './sealed-refs.js';
import { SealedSegments } from './sealed-segments.js';
import { Siv } from './siv.js';

/** The parts that are made of the data key of a store. */
export interface StoreKeys {
  readonly refs: SealedRefs;
  readonly segments: SealedSegments;
  readonly siv: Siv;
}

async function keysOf(dataKeyBytes: Uint8Array): Promise<StoreKeys> {
  const root = await importKey(dataKeyBytes);
  // From here on only WebCrypto has the data key.
  dataKeyBytes.fill(0);
  const siv = await Siv.of(root);
  return { refs: new SealedRefs(siv), segments: new SealedSegments(root), siv };
}

const wrongKey = (message: string) => new HedgerowError('wrong-key', message);

function buildWrongKeyError(name: string, { isPassphrase }: AppKey): HedgerowError {
  const what = isPassphrase ? 'passphrase' : 'key';
  return wrongKey(`this ${what} does not open the store ${name}: nothing was read or changed`);
}

/**
 * Resolves to the keys of a store, and to its contents as they are stored. An empty store gets a data key. Throws
 * `wrong-key`, and leaves the store as it is, if the app has another key or the store is not encrypted.
 */
export async function openKeys(
  name: string,
  inner: SegmentStore,
  appKey: AppKey,
): Promise<{ keys: StoreKeys; loaded: StoreContents }> {
  return untilWon(async () => {
    const loaded = await inner.load();
    const record = recordIn(loaded.refs);
    if (record !== undefined) {
      const dataKeyBytes = await openRecord(appKey, record);
      if (dataKeyBytes === undefined) throw buildWrongKeyError(name, appKey);
      return { keys: await keysOf(dataKeyBytes), loaded };
    }
    const isEmpty = loaded.refs.length === 0 && loaded.ids?.length === 0;
    if (!isEmpty) {
      throw wrongKey(
        `the store ${name} is not encrypted: open it without \`encryption\`, or import its export into an encrypted one`,
      );
    }
    // The first writer makes the key, and the others find it.
    await inner.write(recordChange(await sealRecord(appKey, newDataKey())));
    return undefined;
  });
}

/** Seals the data key with another key of the app. */
export function resealDataKey(
  name: string,
  inner: SegmentStore,
  from: AppKey,
  to: AppKey,
): Promise<void> {
  const isMoved = async () => {
    const record = recordIn((await inner.load()).refs);
    if (record === undefined) throw wrongKey(`the store ${name} is not encrypted`);
    const dataKeyBytes = await openRecord(from, record);
    if (dataKeyBytes === undefined) {
      // An earlier call may have done it without an answer.
      if ((await openRecord(to, record)) === undefined) throw buildWrongKeyError(name, from);
      return true;
    }
    const change = recordChange(await sealRecord(to, dataKeyBytes), record);
    dataKeyBytes.fill(0);
    return (await inner.write(change)) || undefined;
  };
  return untilWon(isMoved).then(() => {});
}
