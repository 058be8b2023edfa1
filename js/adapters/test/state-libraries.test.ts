/** The storage of states under Zustand, Jotai and redux-persist. */
import { atom, createStore as jotaiStore } from 'jotai/vanilla';
import { atomWithStorage, createJSONStorage as jotaiJson, RESET } from 'jotai/vanilla/utils';
import { legacy_createStore as createStore } from 'redux';
import { persistReducer, persistStore } from 'redux-persist';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createJSONStorage,
  type PersistOptions,
  persist,
  type StorageValue,
} from 'zustand/middleware';
import { createStore as zustandStore } from 'zustand/vanilla';
import { HedgerowError, memory, open, type Store } from '../../hedgerow/src/index.js';
import { faulty } from '../../hedgerow/test/support/doubles/faulty-storage.js';
import { handles } from '../../hedgerow/test/support/watching.js';
import { hedgerowStateStorage, type StateStorage } from '../src/state.js';

afterEach(() => void vi.restoreAllMocks());

interface Bears {
  bears: number;
  names: string[];
  add(): unknown;
}

function bearStore(
  storage: PersistOptions<Bears>['storage'],
  more: Partial<PersistOptions<Bears>> = {},
) {
  return zustandStore<Bears>()(
    persist(
      (set, get) => ({
        bears: 0,
        names: [],
        add: () => set({ bears: get().bears + 1, names: [...get().names, 'b'] }),
      }),
      { name: 'bears', ...(storage && { storage }), ...more },
    ),
  );
}

async function hydrated(store: ReturnType<typeof bearStore>) {
  await expect.poll(() => store.persist.hasHydrated()).toBe(true);
  return store;
}

describe('persist of Zustand', () => {
  it('keeps the state as an object, over a restart', async () => {
    const storage = memory();
    const db = await open('app', { storage });
    const states = hedgerowStateStorage<StorageValue<Bears>>(db, { prefix: 'zustand/' });
    const store = await hydrated(bearStore(states));
    store.getState().add();
    store.getState().add();
    await expect.poll(async () => (await states.getItem('bears'))?.state.bears).toBe(2);
    // Functions are left out, as in JSON.
    expect(await db.get('zustand/bears')).toEqual({
      state: { bears: 2, names: ['b', 'b'] },
      version: 0,
    });
    await db.close();
    const again = await open('app', { storage });
    const next = await hydrated(bearStore(hedgerowStateStorage(again, { prefix: 'zustand/' })));
    expect(next.getState()).toMatchObject({ bears: 2, names: ['b', 'b'] });
    next.persist.clearStorage();
    await expect.poll(() => again.count()).toBe(0);
    await again.close();
  });

  it('keeps texts of createJSONStorage, too, and migrates', async () => {
    const db = await open('app', { storage: memory() });
    const texts: StateStorage<string> = hedgerowStateStorage(db);
    const first = await hydrated(bearStore(createJSONStorage(() => texts)));
    first.getState().add();
    await expect.poll(() => db.has('bears')).toBe(true);
    expect(await db.get('bears')).toBe('{"state":{"bears":1,"names":["b"]},"version":0}');
    const next = await hydrated(
      bearStore(
        createJSONStorage(() => texts),
        { version: 1, migrate: (state) => ({ ...(state as Bears), bears: 10 }) },
      ),
    );
    expect(next.getState().bears).toBe(10);
    await expect.poll(async () => String(await db.get('bears'))).toContain('"version":1');
    await db.close();
  });

  it('keeps the stored members when the state is set before it was read', async () => {
    const db = await open('app', { storage: memory() });
    const row = { state: { bears: 5, names: ['b'] }, version: 0 };
    await db.put('bears', row);
    const errors: unknown[] = [];
    const onError = (cause: unknown, key: string) => void errors.push([cause, key]);
    const store = bearStore(hedgerowStateStorage<StorageValue<Bears>>(db, { onError }));
    const early = store.setState({ names: ['early'] });
    await expect(early).rejects.toMatchObject({ code: 'conflict' });
    expect(errors).toMatchObject([[{ code: 'conflict' }, 'bears']]);
    await hydrated(store);
    expect(store.getState()).toMatchObject(row.state);
    expect(await db.get('bears')).toEqual(row);
    // From then on, writes work as usual.
    await store.setState({ bears: 6 });
    expect(await db.get('bears')).toEqual({ state: { bears: 6, names: ['b'] }, version: 0 });
    await db.close();
  });

  it('stores states that are set before the first read found no row, in the order of the calls', async () => {
    const db = await open('app', { storage: memory() });
    const states = hedgerowStateStorage<StorageValue<Bears>>(db);
    const store = bearStore(states);
    await Promise.all([store.setState({ bears: 1 }), store.setState({ bears: 2 })]);
    expect(await db.get('bears')).toEqual({ state: { bears: 2, names: [] }, version: 0 });
    const next = hedgerowStateStorage<number>(db, { prefix: 'next/' });
    const reading = next.getItem('n');
    const writing = [next.setItem('n', 1), next.removeItem('n')];
    expect(await reading).toBe(null);
    await Promise.all(writing);
    expect(await db.has('next/n')).toBe(false);
    await db.close();
  });

  it('follows other tabs after one line of setup', async () => {
    const dbs = await handles(2);
    const stores: ReturnType<typeof bearStore>[] = [];
    const stops: (() => void)[] = [];
    for (const db of dbs) {
      const states = hedgerowStateStorage<StorageValue<Bears>>(db);
      const store = await hydrated(bearStore(states));
      stops.push(states.subscribe('bears', () => store.persist.rehydrate()));
      stores.push(store);
    }
    const [one, two] = stores;
    one?.getState().add();
    await expect.poll(() => two?.getState().bears).toBe(1);
    two?.getState().add();
    await expect.poll(() => one?.getState().bears).toBe(2);
    for (const stop of stops) stop();
    await Promise.all(dbs.map((db) => db.close()));
  });

  it('reports a failed write', async () => {
    const storage = faulty(memory());
    const db = await open('app', { storage });
    const errors: unknown[] = [];
    const states = hedgerowStateStorage<StorageValue<Bears>>(db, {
      onError: (cause) => errors.push(cause),
    });
    const store = await hydrated(bearStore(states));
    const error = new HedgerowError('quota-exceeded', 'the disk is full');
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    store.getState().add();
    await expect.poll(() => errors).toEqual([error]);
    await expect(store.setState({ bears: 7 })).rejects.toBe(error);
    storage.heal();
    await store.setState({ bears: 8 });
    expect((await states.getItem('bears'))?.state.bears).toBe(8);
    await db.close();
  });
});

function jotaiTab(db: Store, initial: unknown = 0) {
  const store = jotaiStore();
  const shown = atomWithStorage<unknown>('n', initial, hedgerowStateStorage(db), {
    getOnInit: true,
  });
  const values: unknown[] = [];
  const stop = store.sub(shown, async () => {
    values.push(await store.get(shown));
  });
  return { store, shown, values, stop, value: async () => store.get(shown) };
}

describe('atomWithStorage of Jotai', () => {
  it('keeps a value over a restart, and does not store the initial one', async () => {
    const storage = memory();
    const db = await open('app', { storage });
    const tab = jotaiTab(db, { initial: true });
    expect(await tab.value()).toEqual({ initial: true });
    expect(await db.count()).toBe(0);
    await tab.store.set(tab.shown, { n: 1 });
    await tab.store.set(tab.shown, async (before: unknown) => ({ n: 2, before: await before }));
    expect(await db.get('n')).toEqual({ n: 2, before: { n: 1 } });
    tab.stop();
    await db.close();
    const again = await open('app', { storage });
    const next = jotaiTab(again, { initial: true });
    expect(await next.value()).toEqual({ n: 2, before: { n: 1 } });
    await next.store.set(next.shown, RESET);
    expect(await next.value()).toEqual({ initial: true });
    expect(await again.count()).toBe(0);
    next.stop();
    await again.close();
  });

  it('is the same in all tabs, and ignores its own writes', async () => {
    const dbs = await handles(2);
    const [one, two] = [jotaiTab(dbs[0]), jotaiTab(dbs[1])];
    expect([await one.value(), await two.value()]).toEqual([0, 0]);
    for (let n = 1; n <= 20; n++) void one.store.set(one.shown, n);
    await expect.poll(two.value).toBe(20);
    const numbers = one.values.map(Number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    await two.store.set(two.shown, 'two');
    await expect.poll(one.value).toBe('two');
    await two.store.set(two.shown, RESET);
    await expect.poll(one.value).toBe(0);
    const count = one.values.length;
    one.stop();
    await two.store.set(two.shown, 'unseen');
    await expect.poll(() => dbs[0].get('n')).toBe('unseen');
    expect(one.values.length).toBe(count);
    two.stop();
    await Promise.all(dbs.map((db) => db.close()));
  });

  it('takes the storage of texts, and derived atoms', async () => {
    const [db, other] = await handles(2);
    const texts = (of: Store) => jotaiJson<number>(() => hedgerowStateStorage<string>(of));
    const [a, b] = [jotaiStore(), jotaiStore()];
    const [inA, inB] = [atomWithStorage('n', 1, texts(db)), atomWithStorage('n', 1, texts(other))];
    const double = atom(async (get) => 2 * (await get(inB)));
    const stops = [b.sub(double, () => {}), a.sub(inA, () => {})];
    await a.set(inA, 21);
    expect(await db.get('n')).toBe('21');
    await expect.poll(() => b.get(double)).toBe(42);
    for (const stop of stops) stop();
    await Promise.all([db.close(), other.close()]);
  });

  it('rejects a failed write', async () => {
    const storage = faulty(memory());
    const db = await open('app', { storage });
    const tab = jotaiTab(db);
    const error = new HedgerowError('unavailable/storage', 'no');
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    await expect(tab.store.set(tab.shown, 1)).rejects.toBe(error);
    storage.heal();
    tab.stop();
    await db.close();
  });
});

const INITIAL = { count: 0, list: [] as number[] };
type Counted = typeof INITIAL;

function reducer(state = INITIAL, { type }: { type: string }): Counted {
  return type === 'add' ? { count: state.count + 1, list: [...state.list, state.count] } : state;
}

async function reduxTab(db: Store, more: object = {}) {
  const storage = hedgerowStateStorage(db, { prefix: 'redux/' });
  const config = { key: 'root', storage, ...more };
  const store = createStore(persistReducer<Counted, { type: string }>(config, reducer));
  const persistor = persistStore(store);
  await expect.poll(() => persistor.getState().bootstrapped).toBe(true);
  return { store, persistor };
}

const IN_TEXT = { count: '3', list: '[0,1,2]', _persist: '{"version":-1,"rehydrated":true}' };

describe('redux-persist', () => {
  it.each([
    ['texts', {}, JSON.stringify(IN_TEXT)],
    [
      'objects',
      { serialize: false, deserialize: false },
      { count: 3, list: [0, 1, 2], _persist: { version: -1, rehydrated: true } },
    ],
  ])('keeps the state as %s, over a restart', async (_, how, stored) => {
    const storage = memory();
    const db = await open('app', { storage });
    const { store, persistor } = await reduxTab(db, how);
    for (let at = 0; at < 3; at++) store.dispatch({ type: 'add' });
    await persistor.flush();
    const value = await db.get('redux/persist:root');
    expect(typeof value === 'string' ? JSON.parse(value) : value).toEqual(
      typeof stored === 'string' ? JSON.parse(stored) : stored,
    );
    persistor.pause();
    await db.close();
    const again = await open('app', { storage });
    const next = await reduxTab(again, how);
    expect(next.store.getState()).toMatchObject({ count: 3, list: [0, 1, 2] });
    await next.persistor.purge();
    expect(await again.count()).toBe(0);
    next.persistor.pause();
    await again.close();
  });

  it('hands a failed write to its handler', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const storage = faulty(memory());
    const db = await open('app', { storage });
    const failures: unknown[] = [];
    const writeFailHandler = (cause: unknown) => failures.push(cause);
    const { store, persistor } = await reduxTab(db, { writeFailHandler });
    const error = new HedgerowError('quota-exceeded', 'the disk is full');
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    store.dispatch({ type: 'add' });
    await persistor.flush();
    expect(failures.at(-1)).toBe(error);
    storage.heal();
    persistor.pause();
    await db.close();
  });
});
