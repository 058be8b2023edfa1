/** Compiles components of Svelte for tests: for the server where Svelte itself is the server build. */
import type { Plugin } from 'vitest/config';

export const svelte: Plugin = {
  name: 'svelte',
  async transform(code, id) {
    if (!id.endsWith('.svelte')) return undefined;
    const { compile } = await import('svelte/compiler');
    const generate = this.environment.name === 'ssr' ? 'server' : 'client';
    const { js } = compile(code, { filename: id, generate, dev: false });
    return { code: js.code, map: js.map };
  },
};
