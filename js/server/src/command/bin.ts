#!/usr/bin/env node
import { process, UsageError } from './arguments-and-environment.js';
/** Runs `npx @hedgerow/server <command>`; exits with 0, with 1 after a failure, and with 2 after a wrong call. */
import { CHECK_USAGE, runCheck } from './check-remote-access.js';
import {
  CLONE_USAGE,
  MEND_USAGE,
  PUBLISH_USAGE,
  runClone,
  runMend,
  runPublish,
} from './clone-publish-mend.js';
import { COLLECT_USAGE, runCollect } from './collect-unneeded-objects.js';
import { runServe, USAGE as SERVE_USAGE } from './serve-folder.js';

const COMMANDS = {
  serve: { run: runServe, usage: SERVE_USAGE },
  publish: { run: runPublish, usage: PUBLISH_USAGE },
  clone: { run: runClone, usage: CLONE_USAGE },
  mend: { run: runMend, usage: MEND_USAGE },
  collect: { run: runCollect, usage: COLLECT_USAGE },
  check: { run: runCheck, usage: CHECK_USAGE },
} as const;

const USAGE = Object.values(COMMANDS)
  .map(({ usage }) => usage)
  .join('\n\n\n');

async function main([name = '', ...args]: readonly string[]): Promise<void> {
  const isHelp = (arg: string) => arg === '--help' || arg === '-h' || arg === 'help';
  const command = Object.hasOwn(COMMANDS, name)
    ? COMMANDS[name as keyof typeof COMMANDS]
    : undefined;
  if (isHelp(name) || args.some(isHelp)) return console.log(command?.usage ?? USAGE);
  if (command === undefined) throw new UsageError(USAGE);
  await command.run(args);
}

main(process.argv.slice(2)).catch((cause: unknown) => {
  const isUsage = cause instanceof UsageError;
  console.error(isUsage ? cause.message : String(cause));
  process.exitCode = isUsage ? 2 : 1;
});
