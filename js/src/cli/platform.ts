/** What the program uses of Node, without whose types the package is compiled. */
import { builtin } from '../base/node.js';
import { remoteKeys } from '../encryption/remote-keys.js';
import type { RemoteEncryption } from '../remote/format/suite.js';

interface Process {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  exitCode: number;
  readonly stderr: { readonly isTTY?: boolean; write(text: string): void };
}

interface Util {
  parseArgs(config: object): {
    readonly values: Readonly<Record<string, string | boolean | undefined>>;
    readonly positionals: readonly string[];
  };
}

export const { process } = globalThis as unknown as { process: Process };

/** The arguments are wrong: what is printed is how to call it. */
export class UsageError extends Error {}

/** Options of a command: of text, or `true` for a flag. */
export type Options = Readonly<Record<string, 'string' | 'boolean'>>;

/** Parses the arguments of a command, of which `count` are no options. Throws a `UsageError`. */
export function parsed(args: readonly string[], usage: string, options: Options, count: number) {
  const { parseArgs } = builtin<Util>('node:util', 'hedgerow');
  const types = Object.entries(options).map(([name, type]) => [name, { type }] as const);
  let found: ReturnType<Util['parseArgs']>;
  try {
    found = parseArgs({ args, allowPositionals: true, options: Object.fromEntries(types) });
  } catch (cause) {
    throw new UsageError(`${(cause as Error).message}\n\n${usage}`);
  }
  if (found.positionals.length !== count) throw new UsageError(usage);
  return found;
}

const KEY = /^[0-9a-f]{64}$/i;

/** How remotes are encrypted, if the environment has keys: those of the epochs from 1 on. Throws a `UsageError`. */
export function encryption(): RemoteEncryption | undefined {
  const text = process.env.HEDGEROW_KEY;
  if (!text) return undefined;
  const keys = text.split(',').map((one) => one.trim());
  if (!keys.every((one) => KEY.test(one))) {
    throw new UsageError('HEDGEROW_KEY is 64 hexadecimal digits, or several of these, with commas');
  }
  return remoteKeys({
    keys: (epoch) => {
      const digits = keys[epoch - 1]?.match(/../g);
      return digits ? Uint8Array.from(digits, (two) => Number.parseInt(two, 16)) : undefined;
    },
    epoch: keys.length,
  });
}

/** The bearer token of requests, if the environment has one. */
export const token = (): string | undefined => process.env.HEDGEROW_TOKEN || undefined;
