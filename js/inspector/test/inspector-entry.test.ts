// @vitest-environment jsdom
/** Opening the inspector, and the list of the stores of an origin. */
import 'fake-indexeddb/auto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { open } from '../../hedgerow/src/index.js';
import { failure } from '../../hedgerow/test/support/models/store-model.js';
import { type InspectorOptions, openInspector } from '../src/index.js';
import { storeNames } from '../src/model/store-summary.js';

afterEach(() => vi.restoreAllMocks());

describe('openInspector', () => {
  const page = '/inspector.html';

  it('mounts a frame in a corner, which its page can close, too', () => {
    const inspector = openInspector({ page, as: 'corner', store: 'my app' });
    const frame = document.querySelector('iframe');
    expect(frame?.src).toBe(`${location.origin}/inspector.html#store=my%20app`);
    expect(frame?.title).toBe('Hedgerow inspector');
    frame?.dispatchEvent(new Event('hedgerow-close'));
    expect(document.querySelector('iframe')).toBeNull();
    inspector.close();
    const other = openInspector({ page: new URL(page, location.href), as: 'corner' });
    other.close();
    expect(document.querySelector('iframe')).toBeNull();
  });

  it('opens a window, or says why it cannot', () => {
    const close = vi.fn();
    const opening = vi.spyOn(window, 'open').mockReturnValueOnce({ close } as never);
    openInspector({ page }).close();
    expect(opening.mock.calls[0]?.[0]).toBe(`${location.origin}${page}`);
    expect(close).toHaveBeenCalledOnce();
    opening.mockReturnValueOnce(null);
    expect(() => openInspector({ page })).toThrow(failure('blocked'));
  });

  it('refuses arguments that cannot work', () => {
    const bad = [
      undefined,
      {},
      { page: 'https://elsewhere.example/inspector.html' },
      { page: 'http://[' },
      { page, as: 'tab' },
      { page, store: 7 },
    ];
    for (const options of bad) {
      expect(() => openInspector(options as InspectorOptions), JSON.stringify(options)).toThrow(
        failure('invalid-argument'),
      );
    }
  });
});

describe('the list of stores', () => {
  it('has the stores of the origin, and no other database', async () => {
    for (const name of ['b', 'a/ü', '']) await (await open(name)).close();
    await new Promise((resolve) => {
      indexedDB.open('of the app').onsuccess = resolve;
    });
    expect(await storeNames()).toEqual(['', 'a/ü', 'b']);
  });

  it('is unknown where databases are not listed', async () => {
    expect(await storeNames({} as IDBFactory)).toBeUndefined();
  });
});
