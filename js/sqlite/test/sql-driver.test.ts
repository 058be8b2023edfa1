/** The choice of a driver when the native half of one is missing. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { open } from '../../hedgerow/src/index.js';
import { sqlite } from '../src/index.js';
import { folder, hasNodeSqlite } from './support/sql-storages.js';
import { Better } from './support/sqlite.mjs';

const native = vi.hoisted(() => ({ isMissing: false }));
vi.mock('better-sqlite3', async (original) => {
  const { default: Sqlite } = await original<{ default: new (...args: unknown[]) => object }>();
  return {
    default: class {
      constructor(...args: unknown[]) {
        if (native.isMissing) throw new Error('built for another version of Node');
        // biome-ignore lint/correctness/noConstructorReturn: stands for the class itself
        return new Sqlite(...args);
      }
    },
  };
});

afterEach(() => {
  native.isMissing = false;
});

describe.skipIf(Better === undefined)('where better-sqlite3 cannot load its native half', () => {
  it('it is refused by name, and accepted once it can', async () => {
    const storage = sqlite({ location: folder(), driver: 'better-sqlite3' });
    native.isMissing = true;
    await expect(open('app', { storage })).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'storage',
      message: expect.stringContaining('better-sqlite3 cannot be loaded'),
      cause: { message: 'built for another version of Node' },
    });
    native.isMissing = false;
    const db = await open('app', { storage });
    await db.put('k', 1);
    expect(await db.get('k')).toBe(1);
    await db.close();
  });

  it('node:sqlite is used where it exists, and elsewhere the error names the missing package', async () => {
    native.isMissing = true;
    const opening = open('app', { storage: sqlite({ location: folder() }) });
    if (!hasNodeSqlite) {
      await expect(opening).rejects.toMatchObject({
        code: 'unavailable',
        detail: 'storage',
        message: expect.stringContaining('install better-sqlite3'),
        cause: { message: 'built for another version of Node' },
      });
      return;
    }
    const db = await opening;
    await db.put('k', 1);
    expect(await db.get('k')).toBe(1);
    await db.close();
  });
});
