// Runs the suites of `js/test` in real browsers:
//
//   npm run units -- --engine firefox locks transfer -t 'a name'
//
// `--engine` is chromium, firefox, webkit or all (if it is left out), `--sample` runs the sample of `suites.ts`. All else
// goes to Vitest: parts of the names of files, and its options. SEED=n and the other variables of the tests hold.

import { parseArgs } from 'node:util';
import { ENGINES, enginesOf, installed } from '../../../e2e/lib/engines/index.mjs';
import { CommandFailed, ROOT, run, runMain } from '../../../scripts/lib/run.mjs';

/** What is asked for, and what is left for Vitest. */
function read(argv) {
  const options = { engine: { type: 'string', default: 'all' }, sample: { type: 'boolean' } };
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
  const { engine, sample = false, rest } = read(process.argv.slice(2));
  const names = engine === 'all' ? Object.keys(ENGINES) : String(engine).split(',');
  const found = installed(enginesOf(names));
  for (const one of found) console.log(`${one.name.padEnd(12)}${one.find().version}`);
  if (found.length === 0) throw new CommandFailed('none of these engines is here');
  const config = ['--config', 'js/vitest.browser.config.ts'];
  await run('vitest', ['run', ...config, ...rest], {
    cwd: ROOT,
    env: { ENGINES: found.map(({ name }) => name).join(','), UNITS: sample ? 'sample' : 'all' },
  });
});
