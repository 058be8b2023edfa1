/** Uses a store in a service worker: the parts at hand at once, and the others after loading them. */
type Hedgerow = typeof import('hedgerow');

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'right',
    (cause: { code?: unknown; detail?: unknown }) => cause.detail ?? cause.code ?? String(cause),
  );

async function scenario(hedgerow: Hedgerow): Promise<Record<string, unknown>> {
  const { destroy, importStore, open, preload } = hedgerow;
  await destroy('in a worker');
  await destroy('imported');
  const db = await open('in a worker', { indexes: { byState: { path: '/state' } } });
  await db.putMany(
    Array.from({ length: 500 }, (_, id) => [`row/${id}`, { id, state: id % 3 }] as const),
  );
  await db.deleteMany({ prefix: 'row/1' });
  const state = await db.count({ index: 'byState', equals: 1 });
  const found = {
    rows: await db.count(),
    state,
    branch: await codeOf(db.branches.open('draft').then((branch) => branch.put('new', 1))),
    reset: await codeOf(db.branches.reset(db.root)),
    stats: await codeOf(db.health.stats()),
    verify: await codeOf(db.health.verify()),
    merge: await codeOf(db.branches.merge('draft')),
    prove: await codeOf(db.prove('row/2')),
    sums: await codeOf(db.sumTree('total').put('a', { value: Uint8Array.of(1), sum: 1n })),
    collect: await codeOf(db.health.compact()),
    export: await codeOf(
      db.backup
        .export()
        .then((exported) => new Response(exported.stream()).arrayBuffer())
        .then((bytes) => importStore('imported', new Uint8Array(bytes))),
    ),
    preload: await codeOf(preload()),
  };
  await db.close();
  return found;
}

/** Runs the scenario when a page asks. */
export function serve(hedgerow: Hedgerow): void {
  addEventListener('message', (event) => {
    const { ports } = event as MessageEvent;
    const answer = (result: unknown) => ports[0]?.postMessage(result);
    scenario(hedgerow).then(answer, (cause: unknown) => answer(String(cause)));
  });
}
