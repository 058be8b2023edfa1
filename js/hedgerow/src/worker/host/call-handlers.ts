/** Handlers of calls, one for each kind of answer. */

import type { Transaction } from '../../engine/transaction/transaction.js';
import type { Store } from '../../store/store.js';
import type { AnswerKind, HandleKind } from '../protocol.js';
import { isProperty } from '../protocol.js';
import { PageSource } from './page-source.js';
import { callMember, type Last, refuseCall } from './replay-call-path.js';
import type { UnfinishedCall } from './unfinished-call.js';

/** The parts of the connection that handlers use. */
export interface CallContext {
  /** Answers the call and ends it. */
  answerCall(value?: unknown): void;
  /** Registers an object that the page holds, under the number of the call. */
  hold(kind: HandleKind, object: object, release: () => unknown): void;
  /** Runs the function of a transaction in the page. */
  run(tx: Transaction): Promise<void>;
  /** Forgets a branch that the page closes. */
  forget(object: object): void;
  /** Returns a patch with its table operations made by the tables of the store. */
  patchOf(given: unknown): unknown;
  /** Begins a live query; returns a function that ends it. */
  live(last: Last): () => void;
}

type AnswerHandler = (last: Last, call: UnfinishedCall, ground: CallContext) => unknown;

const invokeLast = ({ object, name, args }: Last) => callMember(object, name, args);

/** Makes a call whose first argument may be a source. */
async function invokeWithSource(last: Last, ground: CallContext): Promise<unknown> {
  const { name, args } = last;
  const [first] = args;
  const isStream = name === 'putMany' || name === 'applyPatch';
  if (first instanceof PageSource && !isStream) args[0] = await first.all();
  if (name === 'applyPatch') args[0] = ground.patchOf(args[0]);
  return invokeLast(last);
}

/** Sends members one by one, as fast as the page takes them. */
async function iterateToPage({ object, isText }: Last, call: UnfinishedCall): Promise<void> {
  const outlet = call.outlet(isText);
  const iterator = (object as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  call.stop = () => void iterator.return?.().catch(() => {});
  for (let one = await iterator.next(); !one.done; one = await iterator.next()) {
    const wait = outlet.add(one.value);
    if (wait !== undefined) await wait;
    if (call.isOver) return;
  }
  outlet.flush();
}

function startWatch(last: Last, call: UnfinishedCall): void {
  const at = last.args.findIndex((arg) => typeof arg === 'function');
  if (at < 0) refuseCall(`${last.name} takes a function`);
  const outlet = call.outlet(last.isText);
  const which = 0;
  last.args[at] = async (first: unknown, ...more: unknown[]) => {
    if (!Array.isArray(first)) return call.tell(which, [first, ...more]);
    await outlet.addAll(first);
    return call.tell(which, [undefined, ...more], true);
  };
  call.stop = invokeLast(last) as () => void;
}

export const ANSWERS: { readonly [A in AnswerKind]: AnswerHandler } = {
  async value(last, _, { answerCall }) {
    const { object, name } = last;
    const isOwn = isProperty(name);
    answerCall(await (isOwn ? (object as Record<string, unknown>)[name] : invokeLast(last)));
  },
  async list(last, call, ground) {
    const all = (await invokeWithSource(last, ground)) as unknown[];
    await call.outlet(last.isText).addAll(all);
    ground.answerCall();
  },
  async load(last, _, ground) {
    ground.answerCall(await invokeWithSource(last, ground));
  },
  async each(last, call, { answerCall }) {
    await iterateToPage(last, call);
    answerCall();
  },
  watch: startWatch,
  snapshotHandle(last, _, { hold, answerCall }) {
    const snapshot = invokeLast(last) as { close(): void };
    hold('snapshot', snapshot, () => snapshot.close());
    answerCall();
  },
  async branchHandle(last, _, { hold, answerCall }) {
    const branch = (await invokeLast(last)) as Store;
    hold('store', branch, () => branch.close());
    answerCall();
  },
  async exportHandle(last, _, { hold, answerCall }) {
    const made = (await invokeLast(last)) as Awaited<ReturnType<Store['backup']['export']>>;
    hold('export', made, () => made.close());
    answerCall({ root: made.root, branches: made.branches, bytes: made.bytes });
  },
  async run(last, _, { run, hold, answerCall }) {
    const result = await invokeLast({ ...last, args: [run, ...last.args] });
    if (last.name === 'transaction') return answerCall();
    const made = result as Awaited<ReturnType<Store['history']['commit']>>;
    if (Object(last.args[0]).keep === true) hold('commit', {}, () => made.close());
    answerCall({ before: made.before, after: made.after, stats: made.stats });
  },
  live(last, call, { live }) {
    call.stop = live(last);
  },
  async close(last, _, { forget, answerCall }) {
    forget(last.object);
    answerCall(await invokeLast(last));
  },
};
