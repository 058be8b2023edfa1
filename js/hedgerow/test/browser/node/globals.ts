/** The globals of Node that tests use. Tests import them: the code under test must not see them. */
import { inject } from 'vitest';

export { Buffer } from './buffer.js';

export const process = {
  /** The variables of the command that runs the tests. */
  env: inject('env') as Readonly<Record<string, string | undefined>>,
  cwd: () => '/',
};

const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();

/** Calls `run` in a later turn. */
export function setImmediate(run: () => void): void {
  waiting.push(run);
  port2.postMessage(undefined);
}

declare module 'vitest' {
  interface ProvidedContext {
    env: Record<string, string>;
  }
}
