/**
 * The one check of the calls and answers of a remote, for the adapters and for an app's own remotes. An answer outside
 * of the interface is refused at once: another try would get it again.
 */

import { checkHas, optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { isList, kindOf, memberOf, shownAs } from '../../base/runtime-type-checks.js';
import * as names from './object-names.js';
import {
  READ_HEAD_OPTIONS,
  REMOTE_OPTIONS,
  type ReadHeadOptions,
  type Remote,
  type RemoteHead,
  type RemoteObject,
  type RemoteOptions,
  type Swap,
} from './remote.js';
import { remoteFault, unsafeFault } from './remote-faults.js';

const CALLS = 'readHead readHeadSince swapHead get put remove list';

const checkedRemotes = new WeakSet<object>();

/** Returns a remote whose calls and answers are checked. Throws `invalid-argument` unless `remote` has all calls. */
export function checkedRemote(call: string, remote: Remote): Remote {
  checkHas(call, remote, CALLS, 'a remote, such as httpRemote()');
  if (checkedRemotes.has(remote)) return remote;
  const checked: Remote = {
    async readHead(branch, options) {
      names.headName(branch);
      return headOf('readHead', await remote.readHead(branch, optionsIn('readHead', options)));
    },
    async readHeadSince(branch, token, options) {
      names.headName(branch);
      checkToken(token);
      const how = optionsIn('readHeadSince', options);
      const head = await remote.readHeadSince(branch, token, how);
      return head === 'unchanged' ? head : headOf('readHeadSince', head);
    },
    async swapHead(branch, token, bytes, options) {
      names.checkBytes(names.headName(branch), bytes);
      if (token !== undefined) checkToken(token);
      const how = optionsIn('swapHead', options);
      return swapOf(await remote.swapHead(branch, token, bytes, how));
    },
    async get(name, range, options) {
      names.checkObject(name);
      names.checkByteRange(range);
      const bytes = await remote.get(name, range, optionsIn('get', options));
      if (bytes === undefined || isByteArray(bytes)) return bytes;
      throw makeAnswerFault('get', bytes, 'a Uint8Array, or undefined');
    },
    async put(name, bytes, options) {
      names.checkObject(name);
      names.checkBytes(name, bytes);
      const done = await remote.put(name, bytes, optionsIn('put', options));
      if (done === 'put' || done === 'exists') return done;
      throw makeAnswerFault('put', done, 'put or exists');
    },
    async remove(all, options) {
      if (!isArray(all)) {
        throw new HedgerowError('invalid-argument', `remove takes a list, not ${kindOf(all)}`);
      }
      for (const name of all) names.checkAnyName(name);
      await remote.remove(all, optionsIn('remove', options));
    },
    async list(prefix, options) {
      names.checkPrefix(prefix);
      const found = await remote.list(prefix, optionsIn('list', options));
      if (isArray(found) && found.every(isObject)) return found;
      throw makeAnswerFault('list', found, 'a list of { name, length, modifiedMs }');
    },
  };
  checkedRemotes.add(checked);
  return checked;
}

/** `Array.isArray` throws for a revoked proxy. */
const isArray = (value: unknown): value is readonly unknown[] =>
  isList(value) && Array.isArray(value);

const optionsIn = (call: string, options: ReadHeadOptions | undefined = {}): ReadHeadOptions =>
  call === 'readHead'
    ? optionsOf(call, options, READ_HEAD_OPTIONS)
    : optionsOf(call, options as RemoteOptions, REMOTE_OPTIONS);

function checkToken(token: unknown): void {
  if (typeof token === 'string') return;
  throw new HedgerowError('invalid-argument', `a token is a string, not ${kindOf(token)}`);
}

const makeAnswerFault = (call: string, answer: unknown, expected: string): HedgerowError =>
  remoteFault(`${call} of the remote answers ${shownAs(answer)}: it must be ${expected}`);

const isHead = (head: unknown): head is RemoteHead | undefined => {
  if (head === undefined) return true;
  const modifiedMs = memberOf(head, 'modifiedMs');
  const isTime = modifiedMs === undefined || typeof modifiedMs === 'number';
  return isTime && isByteArray(memberOf(head, 'bytes')) && isText(memberOf(head, 'token'));
};

const isText = (value: unknown): value is string => typeof value === 'string';

function headOf(call: string, head: RemoteHead | undefined): RemoteHead | undefined {
  if (isHead(head)) return head;
  throw makeAnswerFault(call, head, '{ bytes, token, modifiedMs }, or undefined');
}

function swapOf(swap: Swap): Swap {
  const state = memberOf(swap, 'state');
  if (state === 'swapped' && isText(memberOf(swap, 'token'))) return swap;
  if (state === 'lost' && isHead(memberOf(swap, 'head'))) return swap;
  if (state === 'unknown' && memberOf(swap, 'cause') instanceof HedgerowError) return swap;
  const expected = 'nobody knows whether the head was written';
  throw unsafeFault(
    `swapHead of the remote answers ${shownAs(swap)}, which is no Swap: ${expected}`,
  );
}

const isObject = (one: unknown): one is RemoteObject => {
  const [name, length, time] = ['name', 'length', 'modifiedMs'].map((of) => memberOf(one, of));
  return (
    isText(name) && Number(length) >= 0 && typeof length === 'number' && typeof time === 'number'
  );
};
