/** What an open store is sealed with, and how its data key is found, made, or moved to another key of the app. */
import { HedgerowError } from '../../../base/errors.js';
import { untilWon } from '../../../base/timeout.js';
import type { SegmentStore, StoreContents } from '../../../storage/segment-store.js';
import { importKey } from '../hkdf.js';
import type { AppKey } from './app-key.js';
import { newDataKey, openRecord, recordChange, recordIn, sealRecord } from './key-record.js';
import { SealedRefs } from './refs.js';
import { SealedSegments } from './sealed-segments.js';
import { Siv } from './siv.js';

/** All that is made of the data key of a store. */
export interface StoreKeys {
  readonly refs: SealedRefs;
  readonly segments: SealedSegments;
  readonly siv: Siv;
}

async function keysOf(dataKeyBytes: Uint8Array): Promise<StoreKeys> {
  const root = await importKey(dataKeyBytes);
  // From here on only WebCrypto has it.
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
 * The keys of a store, and what it holds, as it is stored. A store that holds nothing gets a data key. Throws `wrong-key`
 * when the key of the app is not the one, and when the store is not encrypted; nothing is changed then.
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
    // Whoever is first makes the key, and the others find it.
    await inner.write(recordChange(await sealRecord(appKey, newDataKey())));
    return undefined;
  });
}

/** Seals the data key by another key of the app. */
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
      // An earlier call may have done it, and its answer was lost.
      if ((await openRecord(to, record)) === undefined) throw buildWrongKeyError(name, from);
      return true;
    }
    const change = recordChange(await sealRecord(to, dataKeyBytes), record);
    dataKeyBytes.fill(0);
    return (await inner.write(change)) || undefined;
  };
  return untilWon(isMoved).then(() => {});
}
