/** Where the platform lacks a feature, opening a store names it and the remedy; it works once the feature is there. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';

/** Loads the library as a page does at its start: the core is not compiled yet. */
async function fresh(): Promise<typeof import('../../src/index.js')> {
  vi.resetModules();
  return import('../../src/index.js');
}

// Node's own fetch starts a module of its own at its first use.
beforeAll(async () => {
  const server = createServer((_, response) => response.end('x'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('x');
  server.close();
});

afterEach(async () => {
  // Parts that had loaded before a failure would be the real ones in the next test.
  await vi.dynamicImportSettled();
  vi.unstubAllGlobals();
  vi.doUnmock('../../src/engine/branches/merge.js');
});

class Forbidden {
  constructor() {
    throw new WebAssembly.CompileError('violates the Content Security policy directive');
  }
}

/** Refuses to compile the module with which a start finds SIMD, or any other. */
class NoSimd {
  constructor() {
    throw new WebAssembly.CompileError('invalid value type');
  }
}

const { validate } = WebAssembly;
const forbids = {
  ...Object.fromEntries(
    Object.getOwnPropertyNames(WebAssembly).map((name) => [name, Reflect.get(WebAssembly, name)]),
  ),
  Module: Forbidden,
  compile: async () => new Forbidden(),
};

const lacks: readonly [what: string, name: string, value: unknown, told: string][] = [
  ['WebAssembly', 'WebAssembly', undefined, 'WebAssembly'],
  ['SIMD', 'WebAssembly', { ...forbids, Module: NoSimd, validate: () => false }, 'SIMD'],
  ['leave to compile', 'WebAssembly', { ...forbids, validate }, "'wasm-unsafe-eval'"],
  ['DecompressionStream', 'DecompressionStream', undefined, 'DecompressionStream'],
  [
    'deflate-raw',
    'DecompressionStream',
    class {
      constructor() {
        throw new TypeError('Unsupported compression format');
      }
    },
    'deflate-raw',
  ],
];

for (const [what, name, value, told] of lacks) {
  it(`without ${what} a store is unsupported, and the error names the missing feature`, async () => {
    vi.stubGlobal(name, value);
    const { open, memory, missingFeatures } = await fresh();
    const { verifyProof } = await import('../../src/proofs.js');
    const storage = memory();
    const error = {
      name: 'HedgerowError',
      code: 'unsupported',
      retryable: false,
      message: expect.stringContaining(told),
    };
    await expect(open('a', { storage })).rejects.toMatchObject(error);
    await expect(verifyProof('00', 'a', new Uint8Array())).rejects.toMatchObject({
      name: 'HedgerowError',
    });
    expect(await missingFeatures()).toEqual([expect.stringContaining(told)]);
    vi.unstubAllGlobals();
    expect(await missingFeatures()).toEqual([]);
    const db = await open('a', { storage });
    await db.put('a', 1);
    await db.close();
  });
}

it('without IndexedDB the default storage is unsupported, and the error names others', async () => {
  const { open } = await fresh();
  await expect(open('a')).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('memory()'),
  });
});

it('a missing part rejects with not-loaded and leaves the store unchanged', async () => {
  vi.doMock('../../src/engine/branches/merge.js', () => {
    throw new TypeError('Failed to fetch dynamically imported module');
  });
  const { open, memory, preload } = await fresh();
  const db = await open('a', { storage: memory() });
  await db.put('a', 1);
  const { root } = db;
  const error = {
    name: 'HedgerowError',
    code: 'unavailable',
    detail: 'not-loaded',
    retryable: true,
  };
  await expect(db.branches.open('draft')).rejects.toMatchObject({
    ...error,
    cause: expect.any(Error),
  });
  await expect(preload()).rejects.toMatchObject(error);
  expect(db.root).toBe(root);
  vi.doUnmock('../../src/engine/branches/merge.js');
  await db.close();
});

/** Returns the files that are loaded later, according to the sources, unless the app imports them by a name. */
function laterParts(): string[] {
  const src = new URL('../../src/', import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, src), 'utf8');
      return [...text.matchAll(/part\(\(\) => import\('([^']+)\.js'\)\)/g)].map(
        ([, path]) =>
          new URL(`${path}.ts`, new URL(file, src)).pathname.split('/src/')[1] as string,
      );
    });
  const index = readFileSync(new URL('index.ts', src), 'utf8');
  return [...new Set(found)].filter((file) => !index.includes(file.replace(/ts$/, 'js')));
}

it('the sources name the parts that preload brings', () => {
  expect(laterParts().length).toBeGreaterThan(10);
});

it.each(laterParts())('preload brings %s', async (file) => {
  const path = `../../src/${file.replace(/ts$/, 'js')}`;
  vi.doMock(path, () => {
    throw new TypeError('Failed to fetch dynamically imported module');
  });
  try {
    const { preload } = await fresh();
    await expect(preload()).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'not-loaded',
    });
  } finally {
    vi.doUnmock(path);
  }
});

it('preload resolves if it loads all parts', async () => {
  const { preload, missingFeatures } = await fresh();
  expect(await missingFeatures()).toEqual([]);
  await preload();
});

it('each later import rejects with not-loaded if it fails', () => {
  const src = new URL('../../src/', import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const bare = files
    .filter((file) => file.endsWith('.ts') && file !== 'base/dynamic-import.ts')
    .flatMap((file) => {
      const text = readFileSync(new URL(file, src), 'utf8');
      const imports =
        text.match(/(?<!typeof )(?:(?:part\(|const import\w+ =)\s*\(\) =>\s*)?import\('[^']*/g) ??
        [];
      const isLoaded = (name: string) => text.includes(`partOnce(${name})`);
      return imports.filter((one) => {
        const [, name] = /^const (import\w+)/.exec(one) ?? [];
        return name === undefined ? !one.startsWith('part(') : !isLoaded(name);
      });
    });
  expect(bare).toEqual([]);
});
