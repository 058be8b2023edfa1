/** Both suites of the objects of a remote, with the same keys in each run. */
import { remoteKeys } from '../../src/sync/encryption/remote-keys.js';
import { PLAIN_SCOPE, type Scope } from '../../src/sync/remote/format/cipher-suite.js';
import { random } from './random.js';

/** The key of an epoch: 32 bytes. */
export const keyOf = (epoch: number): Uint8Array => random(1000 + epoch).bytes(32);

/** The scope of an encrypted remote. */
export const sealedScope = (epoch = 1, context = 'main', keys = keyOf): Scope => ({
  ...remoteKeys({ place: 'room', keys, epoch }),
  contextBytes: new TextEncoder().encode(context),
});

export const SEALED_SCOPE: Scope = sealedScope(3);

export const SUITES: readonly (readonly [name: string, scope: Scope])[] = [
  ['that is not encrypted', PLAIN_SCOPE],
  ['that is encrypted', SEALED_SCOPE],
];
