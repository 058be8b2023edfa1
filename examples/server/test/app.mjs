// The app of the tests: the issue list, and mutators for cases that the issue list lacks. Each effect of a mutation is
// noted in a separate table, in the same transaction.

import { mutators as issues, Rejected, schemaVersions } from '../mutators.mjs';

export { Rejected, schemaVersions };

const more = {
  /** Each call counts: a counter that is too high was counted twice. */
  async count(tx, { id }) {
    const counter = (await tx.get(`counter/${id}`)) ?? { n: 0 };
    await tx.set(`counter/${id}`, { n: counter.n + 1 });
  },
  /** Two rows far apart, always equal. */
  async both(tx, { n }) {
    await tx.set('a/first', { n });
    await tx.set('z/last', { n });
  },
  async fill(tx, { from, to }) {
    for (let i = from; i < to; i++) await tx.set(`fill/${String(i).padStart(6, '0')}`, { i });
  },
  async put(tx, { key, value }) {
    await tx.set(key, value);
  },
  async del(tx, { key }) {
    await tx.del(key);
  },
  async halfThenReject(tx, { key }) {
    await tx.set(key, 'half');
    await tx.del('a/first');
    throw new Rejected('after half of it');
  },
  /** Fails without a rule while there is a row `broken`. */
  async fragile(tx, { key }) {
    await tx.set(key, 'half');
    if (await tx.has('broken')) throw new TypeError('a bug');
    await tx.set(key, 'whole');
  },
  async brokenSql(tx) {
    await tx.query('INSERT INTO no_such_table VALUES (1)');
  },
};

const audited = ([name, mutator]) => [
  name,
  async (tx, args) => {
    await mutator(tx, args);
    const sql = 'INSERT INTO audit (client, mutation, name, args) VALUES ($1, $2, $3, $4)';
    await tx.query(sql, [tx.clientID, tx.mutationID, name, JSON.stringify(args ?? null)]);
  },
];

export const mutators = Object.fromEntries(Object.entries({ ...issues, ...more }).map(audited));
