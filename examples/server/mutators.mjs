// The mutators of a shared issue list. A client runs the same ones on its own rows at once; the server's result counts.
// They use neither HTTP nor SQL, so that both sides may import this file.

/** Thrown by a mutator whose rule says no: the mutation is done, and has no effect. Any other error is tried again. */
export class Rejected extends Error {}

/** The `schemaVersion`s of these mutations and rows; Replicache's default is ''. */
export const schemaVersions = [''];

function check(isRight, rule) {
  if (!isRight) throw new Rejected(rule);
}

/** Arguments come from outside: a wrong one breaks a rule, too, or it would be tried again for ever. */
function keyOf(args) {
  const isId = typeof args?.id === 'string' && /^[\w-]{1,64}$/.test(args.id);
  check(isId, 'an id has 1 to 64 letters, digits, _ or -');
  return `issue/${args.id}`;
}

function titleOf({ title }) {
  const isTitle = typeof title === 'string' && title.length > 0 && title.length <= 200;
  check(isTitle, 'a title has 1 to 200 characters');
  return title;
}

async function issueOf(tx, key) {
  const issue = await tx.get(key);
  check(issue !== undefined, 'there is no such issue');
  return issue;
}

export const mutators = {
  async createIssue(tx, args) {
    const key = keyOf(args);
    check(!(await tx.has(key)), 'there is an issue with this id');
    await tx.set(key, { id: args.id, title: titleOf(args), status: 'open', edits: 0 });
  },

  async updateIssue(tx, args) {
    const key = keyOf(args);
    const issue = await issueOf(tx, key);
    // A closed issue does not change, although the client that edits it may not have heard of that yet.
    check(issue.status === 'open', 'a closed issue is not edited');
    await tx.set(key, { ...issue, title: titleOf(args), edits: issue.edits + 1 });
  },

  async closeIssue(tx, args) {
    const key = keyOf(args);
    await tx.set(key, { ...(await issueOf(tx, key)), status: 'closed' });
  },

  async deleteIssue(tx, args) {
    const key = keyOf(args);
    await issueOf(tx, key);
    await tx.del(key);
  },
};
