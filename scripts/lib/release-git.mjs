// Asks git about a checkout to be released.

import { ask, ROOT } from './run.mjs';

const MAIN = 'main';

/** Lists reasons not to release a checkout, as sentences. It must have the tag `tag`. */
export function gitFaults(tag, cwd = ROOT) {
  const git = (...args) => ask('git', args, { cwd });
  const head = git('rev-parse', 'HEAD');
  if (head === undefined) return ['this is no checkout of git'];
  const faults = [];
  const changed = (git('status', '--porcelain') ?? '').split('\n').filter(Boolean);
  if (changed.length > 0) faults.push(`${changed.length} files are not committed`);
  // CI checks out a tag, which is on no branch.
  const isOnMain = [MAIN, `origin/${MAIN}`].some(
    (name) => git('merge-base', '--is-ancestor', head, name) !== undefined,
  );
  if (!isOnMain) faults.push(`the commit is not on ${MAIN}`);
  if (git('rev-parse', '--verify', '--quiet', `refs/tags/${tag}^{commit}`) !== head)
    faults.push(`the commit has no tag ${tag}`);
  return faults;
}

/** Code whose changes users may see. */
const SEEN = /^(js\/[\w-]+\/(src\/|package\.json$)|crate\/(\w+\/)?src\/)/;
/** Files in which a change describes its effect on users. */
const SAID = /^(CHANGELOG\.md$|\.changeset\/(?!README\.md$)[^/]+\.md$)/;

/**
 * Returns the files of the package that have changed since `ref`, if no changelog entry or changeset describes the
 * change; otherwise an empty list. Throws if git does not know `ref`.
 */
export function unsaidChanges(ref, cwd = ROOT) {
  const base = ask('git', ['merge-base', ref, 'HEAD'], { cwd });
  if (base === undefined) throw new Error(`git knows no common commit with ${ref}`);
  const listed = ask('git', ['diff', '--name-only', '--no-renames', base], { cwd });
  const added = ask('git', ['ls-files', '--others', '--exclude-standard'], { cwd });
  const files = `${listed}\n${added}`.split('\n').filter(Boolean);
  return files.some((file) => SAID.test(file)) ? [] : files.filter((file) => SEEN.test(file));
}
