// What a report says of the machine.

import { cpus, totalmem } from 'node:os';

export function environment() {
  const [{ model } = { model: 'unknown' }, ...others] = cpus();
  return { at: new Date().toISOString(), cpu: model, cores: others.length + 1, memory: totalmem() };
}
