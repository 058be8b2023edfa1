// Runs processes that never rest, for tests that must not depend on how busy a machine is.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Keeps all cores busy; returns the function that ends it. */
export function keepBusy(count = Math.max(2, availableParallelism())) {
  const busy = Array.from({ length: count }, () =>
    // It ends by itself when this process is killed: its standard input closes.
    spawn(
      process.execPath,
      [
        '-e',
        "process.stdin.resume().on('end', () => process.exit()); (function turn() { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(turn); })();",
      ],
      { stdio: ['pipe', 'ignore', 'inherit'] },
    ),
  );
  return () => {
    for (const child of busy) child.kill();
  };
}
