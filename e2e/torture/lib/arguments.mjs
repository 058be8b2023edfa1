import { parseArgs } from 'node:util';

const USAGE = `npm run torture -- [--only kill,crash,quota,disconnect] [--cycles N] [--seed N] [--durability strict] [--at-once N]
  --only        which tortures; all by default
  --cycles      launches that are killed (300), pages that crash (100), quotas (20)
  --seed        what the phases and the moments follow from; by the clock by default
  --durability  relaxed, the default, or strict
  --at-once     browsers that are killed at a time; 2 by default`;

const KINDS = ['kill', 'crash', 'quota', 'disconnect'];

/** What the command was asked to do. */
export function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      cycles: { type: 'string' },
      seed: { type: 'string' },
      durability: { type: 'string', default: 'relaxed' },
      'at-once': { type: 'string', default: '2' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const only = values.only?.split(',') ?? KINDS;
  const unknown = only.filter((kind) => !KINDS.includes(kind));
  if (unknown.length > 0) throw new Error(`no such torture: ${unknown}\n${USAGE}`);
  const { durability } = values;
  if (durability !== 'relaxed' && durability !== 'strict') throw new Error(USAGE);
  const cycles = (kind, usual) =>
    values.cycles === undefined ? usual : whole(`--cycles of ${kind}`, values.cycles);
  return {
    only,
    kill: cycles('kill', 300),
    crash: cycles('crash', 100),
    quota: cycles('quota', 20),
    seed: values.seed === undefined ? Date.now() % 2 ** 31 : whole('--seed', values.seed),
    durability,
    atOnce: whole('--at-once', values['at-once']),
    rows: 6000,
  };
}

function whole(name, text) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${name} is a whole number above 0, not ${text}\n${USAGE}`);
}
