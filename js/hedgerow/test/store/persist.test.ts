/** Requests for persistence: their result, and the reports to listeners. */
import { describe, expect, it, vi } from 'vitest';
import { SOON } from '../support/models/store-model.js';
import { cleansUp, of, open, platform, settled, told } from '../support/worlds/health-world.js';

cleansUp();

describe('persist()', () => {
  it('asks in the turn of its call, resolves to the answer, and reports the change', async () => {
    const { told: answers, storage: manager } = platform();
    const db = await open('a', { storage: of('origin') });
    const listener = vi.fn();
    db.health.subscribe(listener);
    await settled();
    const refused = db.health.persist();
    expect(manager.persist).toHaveBeenCalledOnce();
    expect(await refused).toBe(false);
    answers.persisted = true;
    const granted = db.health.persist();
    expect(manager.persist).toHaveBeenCalledTimes(2);
    expect(await granted).toBe(true);
    await vi.waitFor(() => expect(told(listener)).toEqual(['persistent']), SOON);
  });

  it('does not wait for a user who never answers', async () => {
    const { storage: manager } = platform();
    manager.persist.mockReturnValue(new Promise(() => {}));
    const db = await open('a', { storage: of('origin') });
    let isSettled = false;
    db.health.persist().finally(() => {
      isSettled = true;
    });
    db.health.subscribe(() => {});
    await db.put('a', 1);
    expect((await db.health.get()).state).toBe('best-effort');
    await db.close();
    expect(isSettled).toBe(false);
  });

  it('resolves without a question where no browser clears the storage, and for storage of a session', async () => {
    const { storage: manager } = platform();
    for (const [lifetime, answer] of [
      ['session', false],
      ['permanent', true],
    ] as const) {
      const db = await open('a', { storage: of(lifetime) });
      expect(await db.health.persist()).toBe(answer);
    }
    expect(manager.persist).not.toHaveBeenCalled();
  });

  it('resolves to the known state where it cannot ask, or fails', async () => {
    const persisted = async () => true;
    for (const [storage, answer] of [
      [undefined, undefined],
      [{}, undefined],
      [{ persist: () => Promise.reject(new TypeError('no')) }, undefined],
      [{ persisted }, true],
      [{ persisted, persist: () => Promise.reject(new TypeError('no')) }, true],
    ] as const) {
      vi.stubGlobal('navigator', { storage });
      expect(await (await open('a', { storage: of('origin') })).health.persist()).toBe(answer);
    }
  });
});
