// The scenario that every toolchain must run. The modules come from outside: each app imports them in its own way.

const ROWS = 5_000;
/** For events such as a call of a watch. */
const PATIENCE_MS = 30_000;

/** A promise, and the function that resolves it. */
function signal() {
  let fire;
  const fired = new Promise((resolve) => {
    fire = resolve;
  });
  return { fire, fired };
}

async function within(what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what}: not within ${PATIENCE_MS} ms`)),
      PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs the scenario; rejects at the first wrong result. `onOpen` is called when the store is open. Returns the checks,
 * and the milliseconds that they took.
 */
export async function scenario(modules, { name = 'matrix', storage, onOpen = () => {} } = {}) {
  const { destroy, HedgerowError, live, open, table, verifyProof } = modules;
  const began = performance.now();
  const checked = [];
  const check = (what, holds) => {
    if (!holds) throw new Error(`the scenario fails: ${what}`);
    checked.push(what);
  };
  const options = storage === undefined ? {} : { storage };

  await destroy(name, options);
  const issues = table({ key: 'id', indexes: { byState: ['state', 'size'] } });
  const db = await open(name, {
    ...options,
    indexes: { bySize: { prefix: 'raw/', path: '/size' } },
    tables: { issues },
  });
  check('open', db.root.length === 64 && (await db.get('raw/0')) === undefined);
  const opened = onOpen();

  const first = signal();
  const second = signal();
  const stop = db.watch({ prefix: 'raw/' }, (changes) => {
    (changes.some(({ key }) => key === 'raw/late') ? second : first).fire(changes);
  });
  const rows = Array.from({ length: ROWS }, (_, id) => [
    `raw/${String(id).padStart(5, '0')}`,
    { id, size: id % 50, text: `row ${id}` },
  ]);
  await db.putMany(rows);
  await within('a watch of putMany', first.fired);
  check('putMany', (await db.count({ prefix: 'raw/' })) === ROWS);
  check('get', (await db.get('raw/04711'))?.text === 'row 4711');
  const found = await db.scan({ index: 'bySize', equals: 7 }).toArray();
  check('index', found.length === ROWS / 50 && found.every(([, { size }]) => size === 7));

  await db.put('raw/late', { id: -1, size: 7 });
  await within('a watch of put', second.fired);
  stop();
  checked.push('watch');

  await db.issues.putMany([
    { id: 'a', state: 'open', size: 3 },
    { id: 'b', state: 'open', size: 1 },
    { id: 'c', state: 'closed', size: 2 },
  ]);
  const list = live(db.issues.where({ state: 'open' }).orderBy('size'));
  const shown = (ids) => {
    const { fire, fired } = signal();
    const look = () => {
      if (
        list
          .get()
          .rows?.map(({ id }) => id)
          .join() === ids
      )
        fire();
    };
    const end = list.subscribe(look);
    look();
    return within(`a list of ${ids}`, fired).finally(end);
  };
  await shown('b,a');
  await Promise.all([shown('b,d,a'), db.issues.put({ id: 'd', state: 'open', size: 2 })]);
  checked.push('live list');

  const proof = await db.prove('raw/00042');
  const proved = await verifyProof(db.root, 'raw/00042', proof);
  check('proof', proved.value?.id === 42);
  const forged = new Uint8Array(proof);
  forged[forged.length - 1] ^= 1;
  const refusal = await verifyProof(db.root, 'raw/00042', forged).catch((error) => error);
  check('typed error', refusal instanceof HedgerowError && refusal.detail === 'proof');
  const { faults } = await db.health.verify();
  check('verify', faults.length === 0);
  await db.close();
  const closed = await db.get('raw/0').catch((error) => error);
  check('close', closed instanceof HedgerowError && closed.code === 'closed');
  return { checked, ms: Math.round(performance.now() - began), ...opened };
}
