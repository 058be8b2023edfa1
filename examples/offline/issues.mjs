// What may be done to an issue: the mutators of `examples/server`, with a rule for two people who rename the same one.
// Page and server both run them.
import * as team from '../server/mutators.mjs';

export const { Rejected, schemaVersions } = team;

export const calls = {
  ...team.mutators,

  /** Who renames an issue says what it was called: nobody overwrites a title that they have not seen. */
  async updateIssue(tx, args) {
    const issue = await tx.get(`issue/${args?.id}`);
    const isOther =
      args?.from !== undefined && issue?.status === 'open' && issue.title !== args.from;
    if (isOther) throw new Rejected(`somebody has renamed it to “${issue.title}”`);
    await team.mutators.updateIssue(tx, args);
  },

  /** Takes the row of a refusal away. */
  async dismiss(tx, args) {
    if (!/^[!-~]{1,256}$/.test(args?.id)) throw new Rejected('there is no such refusal');
    await tx.del(`refused/${args.id}`);
  },
};

/** Whether there is a device to answer, and not too much to keep for it. */
const isKept = (args) => /^[\w-]{1,64}$/.test(args?.by) && JSON.stringify(args).length < 4096;

/**
 * What the server runs. A refusal becomes a row for the device that made the call: it comes with the pull in which the
 * call leaves the queue, so what a person wrote is always in one of both. All rules are checked before the first write.
 */
const answering = (call, name) => async (tx, args) => {
  try {
    await call(tx, args);
  } catch (error) {
    if (!(error instanceof Rejected && isKept(args))) throw error;
    const id = `${args.by}/${tx.clientID}-${tx.mutationID}`;
    await tx.set(`refused/${id}`, { id, name, args, why: error.message });
  }
};

export const mutators = Object.fromEntries(
  Object.entries(calls).map(([name, call]) => [name, answering(call, name)]),
);
