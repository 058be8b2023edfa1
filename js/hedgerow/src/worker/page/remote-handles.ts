/**
 * Handles of objects in the worker, made from the list of calls. A call that gives an object makes a handle with a
 * longer path; the first message is sent by a call that answers.
 */
import { FOLLOW } from '../../base/follow-symbol.js';
import { freezeShared } from '../../base/freeze-shared.js';
import { isList, isPlain, shownAs } from '../../base/runtime-type-checks.js';
import type { RemoteHandle } from '../../live/types.js';
import { weigh } from '../estimate-message-cost.js';
import * as Tag from '../protocol.js';
import { refuseArgument, refuseFunction } from './argument-references.js';
import { LiveQueryMirror } from './live-query-mirror.js';
import { makeClosable } from './release-remote-handle.js';
import { type HandleTarget, hold, ownOf } from './remote-handle-path.js';
import { iterateRemote } from './remote-iterator.js';
import { watch } from './remote-watch.js';
import { runRemoteTransaction, updateRemoteRow } from './run-page-function-in-transaction.js';
import { ArgumentSource } from './source-sender.js';

const valueIn = (_: string, value: unknown) => freezeShared(value);

function follow(this: object, ...args: Parameters<RemoteHandle[typeof FOLLOW]>) {
  const [kind, source, ...rest] = args;
  const { key } = source as { readonly key?: [unknown] };
  const { kind: of, ...asked } = ownOf(this);
  const options = key === undefined ? (of === 'store' ? source.options : undefined) : key[0];
  return new LiveQueryMirror(
    { ...asked, options },
    key === undefined ? kind : 'row',
    source,
    ...rest,
  );
}

/** Builds the members of handles of a kind. */
function membersOf(kind: Tag.HandleKind): object {
  const members: Record<PropertyKey, unknown> = {};
  for (const [name, gives] of Tag.CALLS[kind]) {
    if (gives === 'each') {
      members[Symbol.asyncIterator] = function (this: object) {
        const { link, target, path } = ownOf(this);
        return iterateRemote(link, target, path);
      };
    } else if (gives === 'live') {
      members[FOLLOW] = follow;
      if (kind === 'store') continue;
      members.source = function () {
        return { db: this, options: {}, rowOf: valueIn };
      };
      members.rowSource = function (key: unknown) {
        return { db: this, options: {}, rowOf: valueIn, key: [key] };
      };
    } else if (Tag.isProperty(name)) {
      const get = function (this: object) {
        const own = ownOf(this);
        return Tag.isKind(gives)
          ? handleOf({ ...own, kind: gives, path: [...own.path, [name]] })
          : requestAnswer(own, [name], gives);
      };
      Object.defineProperty(members, name, { get });
    } else {
      members[name] = function (this: object, ...args: unknown[]) {
        return performCall(this, name, gives, args);
      };
    }
  }
  if (kind === 'query') members.filter = () => refuseFunction('filter');
  // See `Reader.__v_skip`.
  Object.defineProperty(members, '__v_skip', { value: true });
  return members;
}

const prototypes = new Map<Tag.HandleKind, object>();

/** Makes a handle. */
export function handleOf(own: HandleTarget): object {
  const { kind, path, tables } = own;
  const prototype = prototypes.get(kind) ?? membersOf(kind);
  prototypes.set(kind, prototype);
  const made = Object.create(prototype);
  hold(made, own);
  const [[name] = ['']] = path;
  if (kind === 'table') {
    // Descriptions of the operations of a patch: the worker makes the operations.
    const op = {
      put: (row: unknown) => ({ op: 'put', table: name, row }),
      delete: (key: unknown) => ({ op: 'delete', table: name, key }),
    };
    Object.defineProperty(made, 'op', { value: op });
  }
  if (path.length > 0) return made;
  for (const table of tables) {
    const value = handleOf({ ...own, kind: 'table', path: [[table]] });
    Object.defineProperty(made, table, { value, enumerable: true });
  }
  if (kind === 'store') {
    const value = (name: string) =>
      tables.includes(name) ? made[name] : refuseArgument(`there is no table ${shownAs(name)}`);
    Object.defineProperty(made, 'table', { value });
  }
  return made;
}

/** Returns the result of a call: a handle, a promise, or a function that ends a watch. */
function performCall(self: object, name: string, gives: Tag.Gives, args: unknown[]): unknown {
  const own = ownOf(self);
  const { link, target, kind } = own;
  const path = [...own.path, [name, ...args] as const];
  if (Tag.isKind(gives)) {
    if (args.some((arg) => typeof arg === 'function')) refuseFunction(name);
    return handleOf({ ...own, kind: gives, path });
  }
  if (name === 'update' && typeof args[1] === 'function') {
    return inFunction(own, path, () => updateRemoteRow(self, args, handleOf));
  }
  if (gives === 'run') return runRemoteTransaction(own, name, args, handleOf);
  if (gives === 'watch') return watch(link, target, path);
  // The transaction reports the errors of its edits.
  if (target < 0 && /^(put|delete)$/.test(name) && kind !== 'query') return link.edit(target, path);
  if (gives === 'snapshotHandle') {
    const id = link.call(target, path, {});
    const made = handleOf({ ...own, kind: 'snapshot', target: id, path: [] });
    makeClosable(made, link, id, 'dispose');
    return made;
  }
  if (gives === 'branchHandle' || gives === 'exportHandle') return openHandle(own, gives, path);
  return inFunction(own, path, () => requestAnswer(own, [name, ...args], gives));
}

/** Makes a call; within a transaction, as a part of its function. */
function inFunction(
  { link, target }: HandleTarget,
  path: readonly Tag.Call[],
  call: () => Promise<unknown>,
): Promise<unknown> {
  const calls = link.callsOf(target);
  if (calls === undefined) return call();
  return calls.add(Tag.nameOf(path), async () => {
    calls.check();
    return call();
  });
}

/** Makes a call; resolves to its answer. */
function requestAnswer(
  own: HandleTarget,
  [name, ...args]: Tag.Call,
  gives: Tag.Gives,
): Promise<unknown> {
  const parts: unknown[][] = [];
  const isMany = gives === 'load' || name === 'getMany';
  const isEntries = name === 'putMany' && own.kind === 'store';
  const call: Tag.Call = [name, ...(isMany ? asSource(args, isEntries) : args)];
  return new Promise((resolve, reject) => {
    own.link.call(own.target, [...own.path, call], {
      ok: (value) => {
        if (gives !== 'list') resolve(value);
        else resolve(parts.length === 1 ? parts[0] : parts.flat());
      },
      no: reject,
      part: (members, taken) => {
        parts.push(members);
        taken();
      },
    });
  });
}

/** Most members of a list that is sent at once. */
const FEW = 256;
const isOf = (value: unknown, name: 'Blob' | 'Response' | 'ReadableStream' | 'ArrayBuffer') => {
  const made = globalThis[name] as { new (): unknown } | undefined;
  return made !== undefined && value instanceof made;
};

/** Returns arguments whose first is read member by member, unless it is short. With `isEntries`, keys are made here. */
function asSource([first, given, ...rest]: unknown[], isEntries: boolean): unknown[] {
  const { onProgress, key, ...options } = Object(given);
  const keyOf = isEntries && typeof key === 'function' ? key : undefined;
  const isFew =
    Array.isArray(first) && first.length <= FEW && weigh(first, Tag.PART_BYTES) < Tag.PART_BYTES;
  const isSource =
    isList(first) ||
    isOf(first, 'ArrayBuffer') ||
    isOf(first, 'Response') ||
    isOf(first, 'ReadableStream');
  // A Blob crosses as it is.
  if ((isFew && !keyOf) || isOf(first, 'Blob') || !isSource)
    return given === undefined ? [first] : [first, given, ...rest];
  const source = new ArgumentSource(first, keyOf);
  if (given === undefined) return [source];
  if (!isPlain(given)) return [source, given];
  const reportFraction = (progress: object) => {
    const { total, sent } = source;
    onProgress(total ? { ...progress, fraction: Math.min(1, sent / total) } : progress);
  };
  return [
    source,
    {
      ...options,
      ...(keyOf === undefined && key !== undefined && { key }),
      ...(onProgress !== undefined && {
        onProgress: typeof onProgress === 'function' ? reportFraction : onProgress,
      }),
    },
  ];
}

/** Opens a branch or an export; resolves to its handle. */
async function openHandle(
  own: HandleTarget,
  gives: Tag.Gives,
  path: readonly Tag.Call[],
): Promise<object> {
  const { link, target } = own;
  let id = 0;
  const facts = await new Promise((ok, no) => {
    id = link.call(target, path, { ok, no });
  });
  if (gives === 'branchHandle') {
    const made = handleOf({ ...own, kind: 'store', target: id, path: [] });
    const closeBranch = () => requestAnswer(ownOf(made), ['close'], 'value');
    makeClosable(made, link, id, 'asyncDispose', closeBranch);
    return made;
  }
  const made = handleOf({ ...own, kind: 'export', target: id, path: [], tables: [] });
  makeClosable(made, link, id, 'dispose');
  const stream = () => {
    const parts = iterateRemote(link, id, []);
    const pull = async (controller: ReadableStreamDefaultController) => {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    };
    return new ReadableStream(
      { pull, cancel: async () => void (await parts.return?.()) },
      { highWaterMark: 0 },
    );
  };
  return Object.assign(made, facts, { stream });
}
