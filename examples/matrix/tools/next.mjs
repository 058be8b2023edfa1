const PAGE = `'use client';
import { useEffect } from 'react';
import { modules } from '../src/modules.js';
import { fetched, note, outcome } from '../src/report.js';
import { scenario } from '../src/scenario.js';

let run;
export function Client() {
  useEffect(() => {
    // Once, also in strict mode.
    run ??= outcome(scenario(modules, { name: 'page', onOpen: fetched })).then((result) => note('page', result));
  }, []);
  return 'client';
}
`;

/** A server component that imports and uses the package. */
const SERVER = `import { memory } from 'hedgerow';
import { modules } from '../../src/modules.js';
import { outcome } from '../../src/report.js';
import { scenario } from '../../src/scenario.js';
import { Client } from '../client.js';

export const dynamic = 'force-dynamic';
export default async function Page() {
  const result = await outcome(scenario(modules, { storage: memory() }));
  return <><p id="server">{JSON.stringify(result)}</p><Client /></>;
}
`;

/** A route in Node, on SQLite. */
const ROUTE = `import { sqlite } from '@hedgerow/sqlite';
import { modules } from '../../src/modules.js';
import { outcome } from '../../src/report.js';
import { scenario } from '../../src/scenario.js';

export const dynamic = 'force-dynamic';
export async function GET() {
  const storage = sqlite({ location: './data' });
  return Response.json(await outcome(scenario(modules, { storage })));
}
`;

/** A route of the edge runtime, which has no `DecompressionStream`, and compiles no WebAssembly from bytes. */
const EDGE = `import { memory } from 'hedgerow';
import { modules } from '../../src/modules.js';
import { outcome } from '../../src/report.js';
import { scenario } from '../../src/scenario.js';

export const runtime = 'edge';
export async function GET() {
  return Response.json(await outcome(scenario(modules, { storage: memory() })));
}
`;

/** Visits all three, and returns their results. */
async function visit(shop, url) {
  const results = await shop.visit(`${url}/server`, ['page'], {
    after: async ({ page, results }) => {
      const { page: client } = await results(['page']);
      return { client, component: JSON.parse(await page.textContent('#server')) };
    },
  });
  const route = await (await fetch(`${url}/api`)).json();
  return { ...results, route };
}

const env = { NEXT_TELEMETRY_DISABLED: '1' };

const served = (bundler) => async (shop) => {
  await shop.run('next', ['build', `--${bundler}`], { env });
  const { url } = await shop.start('next', (port) => ['start', '-p', port], { env, path: '' });
  return visit(shop, url);
};

export default {
  packages: ['next', 'react', 'react-dom'],
  prepare: (shop) =>
    shop.write({
      'app/layout.js': `export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n`,
      'app/page.js': `export default () => 'ready';\n`,
      'app/client.js': PAGE,
      'app/server/page.js': SERVER,
      'app/api/route.js': ROUTE,
      // The folder is within another project here.
      'next.config.mjs': `export default { turbopack: { root: import.meta.dirname } };\n`,
    }),
  cases: {
    'build and start: client, server component, route': served('turbopack'),
    'the same by webpack': served('webpack'),
    'dev: client, server component, route': async (shop) => {
      const { url } = await shop.start('next', (port) => ['dev', '-p', port], { env, path: '' });
      return visit(shop, url);
    },
    'edge runtime: refused by a typed error': async (shop) => {
      await shop.write({ 'app/edge/route.js': EDGE });
      await shop.run('next', ['build'], { env });
      const { url } = await shop.start('next', (port) => ['start', '-p', port], { env, path: '' });
      const refusal = await (await fetch(`${url}/edge`)).json();
      const isMeant = refusal.code === 'unsupported' && refusal.error.includes('Edge Runtime');
      return { ok: isMeant, error: refusal.error ?? 'it ran' };
    },
  },
};
