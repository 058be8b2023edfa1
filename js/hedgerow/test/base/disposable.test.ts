/** `using` and `await using`, with symbols of the platform, with symbols of a polyfill, and without symbols. */
import { describe, expect, it } from 'vitest';
import { disposable } from '../../src/base/disposable.js';
import { memory, open } from '../../src/index.js';
import { failure } from '../support/models/store-model.js';

function made() {
  class Thing {
    released = 0;
    release(): void {
      this.released += 1;
    }
  }
  return Thing;
}

const released = (thing: { released: number }, symbol: symbol) => {
  (thing as unknown as Record<symbol, () => void>)[symbol]?.();
  return thing.released;
};

describe('a disposable class', () => {
  it('uses the symbol that the platform has', () => {
    const Thing = made();
    const dispose = Symbol('Symbol.dispose');
    disposable(Thing.prototype, 'dispose', Thing.prototype.release, { dispose });
    disposable(Thing.prototype, 'dispose', Thing.prototype.release, { dispose });
    expect(released(new Thing(), dispose)).toBe(1);
    expect(Object.getOwnPropertyNames(Thing.prototype)).toEqual(['constructor', 'release']);
  });

  it('uses the symbol that compilers look for, where the platform has no symbol', () => {
    const Thing = made();
    disposable(Thing.prototype, 'asyncDispose', Thing.prototype.release, {});
    expect(released(new Thing(), Symbol.for('Symbol.asyncDispose'))).toBe(1);
    expect(Object.getOwnPropertyNames(Thing.prototype)).not.toContain('undefined');
  });

  it('uses the symbol of a polyfill that loads after the first instance', () => {
    const Thing = made();
    disposable(Thing.prototype, 'dispose', Thing.prototype.release, {});
    const dispose = Symbol('polyfill');
    disposable(Thing.prototype, 'dispose', Thing.prototype.release, { dispose });
    expect(released(new Thing(), dispose)).toBe(1);
  });
});

it('using releases stores, snapshots, writers and exports', async () => {
  const storage = memory();
  let kept: Awaited<ReturnType<typeof open>>;
  {
    await using db = await open('test', { storage });
    kept = db;
    await db.put('a', 1);
    using snapshot = db.snapshot();
    expect(await snapshot.get('a')).toBe(1);
    using copy = await db.backup.export();
    expect(copy.root).toBe(db.root);
    {
      await using writer = db.writer();
      writer.tryPut('dropped', 1);
    }
    {
      await using writer = db.writer();
      writer.tryPut('kept', 1);
      await writer.close();
    }
    expect(await db.scan().keys().toArray()).toEqual(['a', 'kept']);
  }
  await expect(kept.get('a')).rejects.toEqual(failure('closed'));
});
