import { describe, expect, it } from 'vitest';
import { memory, open } from '../../src/index.js';
import { watched } from '../support/doubles/watched-storage.js';

describe('close', () => {
  it('called again waits as well', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    storage.hooks.write = () => new Promise((resolve) => setTimeout(resolve, 20));
    let done = false;
    const put = db.put('a', 1).then(() => {
      done = true;
    });
    void db.close();
    await db.close();
    expect(done).toBe(true);
    await put;
  });
});
