import { parseArgs } from 'node:util';
import { engineNames, whole as wholeOf } from '../../lib/arguments.mjs';
import { isChromium } from '../../lib/engines/index.mjs';

const USAGE = `node e2e/bench/run.mjs [--rows 100000] [--rounds 3] [--only load,scan,...] [--engines all] [--quick] [--profile]
  --rows     rows in a full store; 1000000 runs Hedgerow and the floor alone
  --rounds   rounds that count; one more comes first that does not
  --only     cases or suites to run, by name
  --engines  of chromium (the default), chromium-sqlite, firefox and webkit, by name; or all
  --quick    10,000 rows and one round without warming up: to see that everything works
  --profile  also print where the time of Hedgerow's samples goes, by function; in Chromium alone`;

const whole = (name, text) => wholeOf(name, text, USAGE);

/** Reads the command line. */
export function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
      engines: { type: 'string', default: 'chromium' },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { quick, profile } = values;
  const engines = engineNames(values.engines, USAGE);
  if (profile && !engines.every(isChromium)) {
    throw new Error(`--profile is for Chromium alone\n${USAGE}`);
  }
  return {
    engines,
    rows: whole('--rows', values.rows ?? (quick ? '10000' : '100000')),
    rounds: whole('--rounds', values.rounds ?? (quick ? '1' : '3')),
    only: values.only?.split(',').filter((name) => name !== '') ?? null,
    quick,
    profile,
  };
}
