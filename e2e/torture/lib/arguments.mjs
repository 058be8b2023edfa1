import { parseArgs } from 'node:util';
import { engineNames, whole as wholeOf } from '../../lib/arguments.mjs';

const USAGE = `npm run torture -- [--only kill,sync,crash,quota,full,disconnect] [--cycles N] [--seed N] [--durability strict] [--at-once N] [--engines firefox,webkit]
  --only        which tortures; all by default
  --cycles      launches of each engine that are killed (300), also while they sync (100), pages that crash (100), quotas
                (20), storage filled (100)
  --engines     browsers that are killed, or whose storage is filled, by quota or full: chromium, firefox, webkit;
                all by default
  --seed        what the phases and the moments follow from; by the clock by default
  --durability  relaxed, the default, or strict
  --at-once     browsers that are killed at a time; 2 by default`;

const KINDS = ['kill', 'sync', 'crash', 'quota', 'full', 'disconnect'];

const whole = (name, text) => wholeOf(name, text, USAGE);

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
      engines: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  // The quotas of other engines than Chromium are those of whole browsers.
  const inEngines = (kind) => (kind === 'quota' && values.engines !== undefined ? 'full' : kind);
  const only = [...new Set((values.only?.split(',') ?? KINDS).map(inEngines))];
  const engines = engineNames(values.engines ?? 'all', USAGE);
  const unknown = only.filter((kind) => !KINDS.includes(kind));
  if (unknown.length > 0) throw new Error(`no such torture: ${unknown}\n${USAGE}`);
  const { durability } = values;
  if (durability !== 'relaxed' && durability !== 'strict') throw new Error(USAGE);
  const cycles = (kind, usual) =>
    values.cycles === undefined ? usual : whole(`--cycles of ${kind}`, values.cycles);
  return {
    only,
    kill: cycles('kill', 300),
    sync: cycles('sync', 100),
    crash: cycles('crash', 100),
    quota: cycles('quota', 20),
    full: cycles('full', 100),
    engines,
    seed: values.seed === undefined ? Date.now() % 2 ** 31 : whole('--seed', values.seed),
    durability,
    atOnce: whole('--at-once', values['at-once']),
    rows: 6000,
  };
}
