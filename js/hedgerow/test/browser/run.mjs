// Runs the suites of the packages in real browsers:
//
//   npm run units -- --engines firefox locks transfer -t 'a name'
//
// All but `--engines` and `--sample` goes to Vitest: parts of the names of files, and its options. SEED=n and the
// other variables of the tests hold.

import { parseArgs } from 'node:util';
import { engineNames } from '../../../../e2e/lib/arguments.mjs';
import { enginesOf, installed } from '../../../../e2e/lib/engines/index.mjs';
import { CommandFailed, ROOT, run, runMain } from '../../../../scripts/lib/run.mjs';

const USAGE = `npm run units -- [--engines firefox,webkit|all] [--sample] [files] [options of Vitest]
  --engines  browsers to run in: chromium, chromium-sqlite, firefox, webkit; all by default
  --sample   the sample of suites.ts, as npm run test:deep`;

/** Returns the own options, and the rest of the arguments for Vitest. */
function read(argv) {
  const options = { engines: { type: 'string', default: 'all' }, sample: { type: 'boolean' } };
  const { tokens, values } = parseArgs({ args: argv, options, strict: false, tokens: true });
  const own = tokens.filter(({ kind, name }) => kind === 'option' && name in options);
  const taken = new Set(
    own.flatMap(({ index, inlineValue, value }) =>
      value === undefined || inlineValue ? [index] : [index, index + 1],
    ),
  );
  return { ...values, rest: argv.filter((_, at) => !taken.has(at)) };
}

await runMain(async () => {
  const { engines, sample = false, rest } = read(process.argv.slice(2));
  const found = installed(enginesOf(engineNames(engines, USAGE)));
  for (const one of found) console.log(`${one.name.padEnd(12)}${one.find().version}`);
  if (found.length === 0) throw new CommandFailed('none of these engines is here');
  const config = ['--config', 'js/vitest.browser.config.ts'];
  await run('vitest', ['run', ...config, ...rest], {
    cwd: ROOT,
    env: { ENGINES: found.map(({ name }) => name).join(','), UNITS: sample ? 'sample' : 'all' },
  });
});
