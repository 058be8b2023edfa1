// The mutators of an issue: those from `examples/server`, with a rule for two people who rename the same one. Page and
// server both run them.
import * as team from '../server/mutators.mjs';

export const { Rejected, schemaVersions } = team;

export const mutators = {
  ...team.mutators,

  /** A renaming names the old title, so that no one overwrites an unseen one. */
  async updateIssue(tx, args) {
    const issue = await tx.get(`issue/${args?.id}`);
    const isOther =
      args?.from !== undefined && issue?.status === 'open' && issue.title !== args.from;
    if (isOther) throw new Rejected(`somebody has renamed it to “${issue.title}”`);
    await team.mutators.updateIssue(tx, args);
  },
};
