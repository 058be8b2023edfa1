/** The parts of Node that the program uses: the package is compiled without Node's types. */

import { remoteKeys, signedRemote, signingKeys } from 'hedgerow/encryption';
import { builtin, type RemoteEncryption, unhex } from 'hedgerow/kit';
import type { Remote } from 'hedgerow/sync';

interface Process {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  exitCode: number;
  readonly stderr: { readonly isTTY?: boolean; write(text: string): void };
}

interface Fs {
  stat(path: string): Promise<{ isDirectory(): boolean }>;
}

interface Util {
  parseArgs(config: object): {
    readonly values: Readonly<Record<string, string | boolean | undefined>>;
    readonly positionals: readonly string[];
  };
}

export const { process } = globalThis as unknown as { process: Process };

/** The error for wrong arguments: its message says how to call the command. */
export class UsageError extends Error {}

/** Returns the folder that a command was given. Throws for an address: it would become the name of a folder. */
export function folderAt(place: string): string {
  if (!/^[a-z][a-z\d+.-]+:\/\//i.test(place)) return place;
  throw new Error(
    `${place} is no folder, and no address of a remote: these begin with http:, https: or s3:`,
  );
}

/** Resolves to whether a folder exists. */
export async function isFolder(place: string): Promise<boolean> {
  const { stat } = builtin<Fs>('node:fs/promises', 'hedgerow');
  return stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Options of a command: of text, or `true` for a flag. */
export type Options = Readonly<Record<string, 'string' | 'boolean'>>;

/** Parses the options of a command, and its `count` other arguments. Throws a `UsageError`. */
export function parseArguments(
  args: readonly string[],
  usage: string,
  options: Options,
  count: number,
) {
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

/** Reads the keys of an environment variable, if it has any. Throws a `UsageError`. */
function keysOf(name: string): Uint8Array[] | undefined {
  const text = process.env[name];
  if (!text) return undefined;
  const keys = text.split(',').map((one) => one.trim());
  if (!keys.every((one) => KEY.test(one))) {
    throw new UsageError(`${name} is 64 hexadecimal digits, or several of these, with commas`);
  }
  return keys.map(unhex);
}

/** Returns the app's name for the remote, if the environment has it. */
const place = (): string | undefined => process.env.HEDGEROW_PLACE || undefined;

/** Returns the encryption of remotes, if the environment has keys, from epoch 1 on. Throws a `UsageError`. */
export function encryption(): RemoteEncryption | undefined {
  const keys = keysOf('HEDGEROW_KEY');
  if (keys === undefined) return undefined;
  const own = place();
  if (own === undefined) throw new UsageError('HEDGEROW_KEY needs HEDGEROW_PLACE as well');
  return remoteKeys({ place: own, keys: (epoch) => keys[epoch - 1], epoch: keys.length });
}

/** Returns the remote, with signed heads if the environment has keys for them. Throws a `UsageError`. */
export async function applySigningKeys(remote: Remote): Promise<Remote> {
  const [own, ...more] = keysOf('HEDGEROW_SIGN') ?? [];
  if (more.length > 0) throw new UsageError('HEDGEROW_SIGN is one key, of 64 hexadecimal digits');
  const pair = own && (await signingKeys(own));
  const publicKey = keysOf('HEDGEROW_SIGNED_BY') ?? (pair && [pair.publicKey]);
  if (publicKey === undefined) return remote;
  return signedRemote(remote, { publicKey, privateKey: pair?.privateKey, place: place() });
}

/** Returns the bearer token of requests, if the environment has one. */
export const token = (): string | undefined => process.env.HEDGEROW_TOKEN || undefined;
