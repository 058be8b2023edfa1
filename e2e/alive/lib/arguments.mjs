import { parseArgs } from 'node:util';
import { engineNames } from '../../lib/arguments.mjs';

const USAGE = `npm run alive -- [--rows 1000000] [--engines all] [--only sliced] [--quick]
  --rows     rows of the long loads; 20 stores get a twentieth each
  --engines  of chromium (the default), chromium-sqlite, firefox and webkit, by name; or all
  --only     scenarios to watch, by name, and nothing else
  --quick    100,000 rows and few rounds: to see that everything works`;

/** Reads the command line, and the amounts that it asks for. */
export function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string' },
      engines: { type: 'string', default: 'chromium' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { quick } = values;
  const rows = Number(values.rows ?? (quick ? 100_000 : 1_000_000));
  if (!Number.isInteger(rows) || rows < 1000) {
    throw new Error(`--rows is a whole number from 1,000, not ${values.rows}\n${USAGE}`);
  }
  return {
    rows,
    engines: engineNames(values.engines, USAGE),
    only: values.only?.split(',') ?? null,
    quick,
    stores: 20,
    /** Rows of a single load, and of loads against the clock. */
    shortRows: Math.min(rows, 100_000),
    /** Of loads against the clock. */
    rounds: quick ? 2 : 7,
    idleMs: quick ? 1500 : 6000,
    unslicedPasses: quick ? 1 : 4,
  };
}
