import { parseArgs } from 'node:util';
import { engineNames, whole as wholeOf } from '../../lib/arguments.mjs';
import { enginesOf, isChromium } from '../../lib/engines/index.mjs';

const USAGE = `npm run torture -- [--only kill,sync,crash,quota,full,disconnect] [--cycles N] [--seed N] [--durability strict] [--at-once N] [--engines firefox,webkit]
  --only        which tortures; all by default
  --cycles      launches of each engine that are killed (300), also while they sync (100), pages that crash (100), quotas
                (20), storage filled (100)
  --engines     of chromium, chromium-sqlite, firefox and webkit, by name; all by default. Only Chromium has a protocol
                for crash, quota and disconnect
  --seed        what the phases and the moments follow from; by the clock by default
  --durability  relaxed, the default, or strict
  --at-once     browsers that are killed at a time; 2 by default`;

const KINDS = ['kill', 'sync', 'crash', 'quota', 'full', 'disconnect'];
/** The kinds that need Chromium's own protocol. */
const CHROMIUMS = ['crash', 'quota', 'disconnect'];

/** Returns the named engines that a kind of torture can run in. */
export function enginesFor(kind, names) {
  return enginesOf(CHROMIUMS.includes(kind) ? names.filter(isChromium) : names);
}

const whole = (name, text) => wholeOf(name, text, USAGE);

/** Reads the command line. */
export function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      cycles: { type: 'string' },
      seed: { type: 'string' },
      durability: { type: 'string', default: 'relaxed' },
      'at-once': { type: 'string', default: '2' },
      engines: { type: 'string', default: 'all' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const asked = [...new Set(values.only?.split(',') ?? KINDS)];
  const engines = engineNames(values.engines, USAGE);
  const unknown = asked.filter((kind) => !KINDS.includes(kind));
  if (unknown.length > 0) throw new Error(`no such torture: ${unknown}\n${USAGE}`);
  const only = asked.filter((kind) => enginesFor(kind, engines).length > 0);
  if (values.only !== undefined && only.length < asked.length) {
    throw new Error(`only Chromium has ${CHROMIUMS.join(', ')}\n${USAGE}`);
  }
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
