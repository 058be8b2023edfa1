/** The page of `tests/remote.spec.ts`, `sync.spec.ts` and `rest.spec.ts`: asks remotes and servers of other origins. */
import { open, type Store } from 'hedgerow';
import {
  importKey,
  passphraseKey,
  remoteKeys,
  signedRemote,
  signingKeys,
} from 'hedgerow/encryption';
import {
  bucket,
  httpRemote,
  probeRemote,
  type Remote,
  type RestConnection,
  rest,
  s3Remote,
  serverPokes,
} from 'hedgerow/sync';
import { httpRemote as httpRemoteOfSource } from '../../js/hedgerow/src/sync/remote/adapters/http-remote.js';
import { s3Remote as s3RemoteOfSource } from '../../js/hedgerow/src/sync/remote/adapters/s3.js';
import { remoteContract } from '../../js/hedgerow/test/support/contracts/remote-contract.js';

/** The place of a remote. */
export type RemotePlace =
  | { readonly http: string }
  | {
      readonly s3: {
        readonly endpoint: string;
        readonly bucket: string;
        readonly pathStyle: boolean;
        readonly prefix?: string;
        readonly credentials: { accessKeyId: string; secretAccessKey: string };
      };
    };

declare global {
  interface Window {
    runRemoteContract(name: string, place: RemotePlace): Promise<void>;
    remoteAt(place: RemotePlace): Remote;
    openStore(name: string): Promise<Store>;
    encryption: {
      importKey: typeof importKey;
      passphraseKey: typeof passphraseKey;
      remoteKeys: typeof remoteKeys;
      signedRemote: typeof signedRemote;
      signingKeys: typeof signingKeys;
    };
    /** Connects a store to a server of plain rows. */
    restAt(db: Store, url: string): Promise<RestConnection>;
    bucket: typeof bucket;
    serverPokes: typeof serverPokes;
    /** Returns the code and the message that the probe rejects with; `undefined` if it finds no fault. */
    probeAt(place: RemotePlace): Promise<readonly [code: string, message: string] | undefined>;
  }
}

window.runRemoteContract = async (name, place) => {
  const found = remoteContract.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no such case: ${name}`);
  // The suite identifies errors by the class in the sources.
  const make = () =>
    'http' in place ? httpRemoteOfSource({ url: place.http }) : s3RemoteOfSource(place.s3);
  await found.run(make, (condition, message) => {
    if (!condition) throw new Error(message);
  });
};

window.remoteAt = (place) =>
  'http' in place ? httpRemote({ url: place.http }) : s3Remote(place.s3);

window.probeAt = (place) =>
  probeRemote(window.remoteAt(place)).then(
    () => undefined,
    ({ code, detail = code, message }: { code: string; detail?: string; message: string }) =>
      [detail, message] as const,
  );

window.openStore = (name) => open(name);
window.encryption = { importKey, passphraseKey, remoteKeys, signedRemote, signingKeys };
window.restAt = (db, url) =>
  db.connect(rest({ pull: { url: `${url}/pull` }, push: { url: `${url}/push` } }));
window.bucket = bucket;
window.serverPokes = serverPokes;
