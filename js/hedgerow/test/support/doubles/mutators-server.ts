/**
 * The double of an app's own server: it speaks the push and pull of Replicache over rows in memory, strictly. A request
 * that breaks the protocol is a failure of the test.
 */
import type { PullRequest, PushRequest, SentCall } from '../../../src/sync/mutators/index.js';

type Rows = Map<string, unknown>;
/** A mutator of the server. If it throws, it refuses the call: the call is done, without effect. */
export type ServerMutator = (rows: Rows, args: never) => void;

interface Versioned {
  readonly value: unknown;
  readonly version: number;
}

interface Client {
  readonly clientID: string;
  lastMutationID: number;
  version: number;
}

export class ServerDouble {
  readonly #mutators: Readonly<Record<string, ServerMutator>>;
  /** Deleted rows have no value. */
  readonly #rows = new Map<string, Versioned>();
  readonly #groups = new Map<string, Map<string, Client>>();
  #version = 1;
  /** Calls that took effect, in their order. */
  readonly done: SentCall[] = [];
  readonly refused: SentCall[] = [];
  /** Whether pulls report refused calls, which Replicache has no field for. */
  tellsRefused = false;
  readonly #refusals: { clientID: string; id: number; why: string; version: number }[] = [];
  readonly requests = { pull: 0, push: 0, calls: 0, again: 0 };

  constructor(mutators: Readonly<Record<string, ServerMutator>>) {
    this.#mutators = mutators;
  }

  get rows(): Record<string, unknown> {
    const kept = [...this.#rows].filter(([, { value }]) => value !== undefined);
    return Object.fromEntries(
      kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, v.value]),
    );
  }

  /** Changes rows by itself; `undefined` deletes a row. */
  set(rows: Iterable<readonly [string, unknown]>): void {
    this.#version += 1;
    for (const [key, value] of rows) this.#rows.set(key, { value, version: this.#version });
  }

  /** Forgets all clients, as a restored server does. */
  forget(): void {
    this.#groups.clear();
  }

  push(request: PushRequest): object {
    this.requests.push += 1;
    const { clientGroupID, mutations } = check(request, 'pushVersion');
    let group = this.#groups.get(clientGroupID);
    for (const call of mutations) {
      this.requests.calls += 1;
      // A client that the server has forgotten does not begin at its first id.
      if (group === undefined && call.id !== 1) return { error: 'ClientStateNotFound' };
      group ??= new Map();
      this.#groups.set(clientGroupID, group);
      const client = group.get(call.clientID) ?? {
        clientID: call.clientID,
        lastMutationID: 0,
        version: 0,
      };
      group.set(call.clientID, client);
      if (call.id <= client.lastMutationID) {
        this.requests.again += 1;
        continue;
      }
      if (call.id !== client.lastMutationID + 1) {
        throw new Error(`the call ${call.id} comes after ${client.lastMutationID}`);
      }
      this.#carryOut(call);
      client.lastMutationID = call.id;
      client.version = this.#version;
    }
    return {};
  }

  #carryOut(call: SentCall): void {
    const now = new Map(Object.entries(this.rows));
    const before = new Map(now);
    this.#version += 1;
    try {
      const mutator = this.#mutators[call.name];
      if (mutator === undefined) throw new Error('unknown');
      mutator(now, structuredClone(call.args) as never);
    } catch (cause) {
      this.refused.push(call);
      const [{ clientID, id }, version] = [call, this.#version];
      this.#refusals.push({ clientID, id, why: (cause as Error).message, version });
      return;
    }
    this.done.push(call);
    const version = this.#version;
    for (const key of before.keys())
      if (!now.has(key)) this.#rows.set(key, { value: undefined, version });
    for (const [key, value] of now) {
      if (JSON.stringify(before.get(key)) !== JSON.stringify(value))
        this.#rows.set(key, { value, version });
    }
  }

  pull(request: PullRequest): object {
    this.requests.pull += 1;
    const { clientGroupID, cookie } = check(request, 'pullVersion');
    const group = this.#groups.get(clientGroupID);
    if (group === undefined && cookie !== null) return { error: 'ClientStateNotFound' };
    if (group === undefined) this.#groups.set(clientGroupID, new Map());
    const since = (cookie as { order: number } | null)?.order ?? 0;
    const changed = [...this.#rows].filter(([, { version }]) => version > since);
    const patch = changed.flatMap(([key, { value }]) =>
      value === undefined ? (since === 0 ? [] : [{ op: 'del', key }]) : [{ op: 'put', key, value }],
    );
    const refused = this.#refusals
      .filter(({ version, clientID }) => version > since && group?.has(clientID))
      .map(({ version: _, ...one }) => one);
    const clients = [...(group?.values() ?? [])].filter(({ version }) => version > since);
    return {
      cookie: { order: this.#version },
      lastMutationIDChanges: Object.fromEntries(
        clients.map(({ clientID, lastMutationID }) => [clientID, lastMutationID]),
      ),
      patch,
      ...(this.tellsRefused && { refused }),
    };
  }
}

/** Fails unless a request has exactly these members. */
const MEMBERS = {
  pullVersion: 'clientGroupID cookie profileID pullVersion schemaVersion',
  pushVersion: 'clientGroupID mutations profileID pushVersion schemaVersion',
};

function check<T extends PullRequest | PushRequest>(request: T, version: keyof typeof MEMBERS): T {
  const sent = JSON.parse(JSON.stringify(request)) as Record<string, unknown>;
  const isRight =
    Object.keys(sent).sort().join(' ') === MEMBERS[version] &&
    sent[version] === 1 &&
    [sent.clientGroupID, sent.profileID, sent.schemaVersion].every((id) => typeof id === 'string');
  if (!isRight) throw new Error(`not a request of Replicache: ${JSON.stringify(request)}`);
  for (const call of (sent.mutations ?? []) as SentCall[]) {
    const isCall =
      Object.keys(call).sort().join(' ') === 'args clientID id name timestamp' &&
      typeof call.clientID === 'string' &&
      Number.isInteger(call.id);
    if (!isCall) throw new Error(`not a mutation of Replicache: ${JSON.stringify(call)}`);
  }
  return sent as unknown as T;
}

/** Returns an answer of JSON. */
export const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
