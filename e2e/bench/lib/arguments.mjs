import { parseArgs } from 'node:util';

const USAGE = `node e2e/bench/run.mjs [--rows 100000] [--rounds 3] [--only load,scan,...] [--quick] [--profile]
  --rows     rows in a full store; 1000000 runs Hedgerow and the floor alone
  --rounds   rounds that count; one more comes first that does not
  --only     cases or suites to run, by name
  --quick    10,000 rows and one round without warming up: to see that everything works
  --profile  also print where the time of Hedgerow's samples goes, by function`;

/** What the command was asked to do. */
export function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
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
  return {
    rows: whole('--rows', values.rows ?? (quick ? '10000' : '100000')),
    rounds: whole('--rounds', values.rounds ?? (quick ? '1' : '3')),
    only: values.only?.split(',').filter((name) => name !== '') ?? null,
    quick,
    profile,
  };
}

function whole(name, text) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${name} is a whole number above 0, not ${text}\n${USAGE}`);
}
