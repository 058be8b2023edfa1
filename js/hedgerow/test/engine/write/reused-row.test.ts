import { describe, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { expectSame } from '../../support/models/store-model.js';

describe('a source that yields one buffer again and again, with other contents', () => {
  it('has each value stored as it was when it was yielded', async () => {
    const db = await open('test', { storage: memory() });
    const source = function* (): Generator<[string, unknown]> {
      const bytes = new Uint8Array(1);
      for (let at = 0; at < 3; at++) {
        bytes[0] = at;
        yield [`bytes ${at}`, bytes];
      }
    };
    await db.putMany(source());
    expectSame(await db.scan().values().toArray(), [
      Uint8Array.of(0),
      Uint8Array.of(1),
      Uint8Array.of(2),
    ]);
  });
});
