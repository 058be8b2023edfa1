// `npm run docs`: serves the documentation site until interrupted, and reloads pages when they are saved. With
// `--build` it writes the site to `site/dist`, and checks its links and anchors. With `--as-built` it does not set up
// or build the package, whose declarations become the reference. `DOCS_BASE=/path/` is where the site will be served,
// `/` by default.

import { copyFileSync, cpSync, existsSync, mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { build as buildPackages } from './build.mjs';
import { ROOT, run, runMain } from './lib/run.mjs';
import { setup } from './setup.mjs';

const SITE = join(ROOT, 'site');

/** Copies the files of other folders to the site: the reference, the changelog, and the drawings of the demo. */
async function prepare({ typedoc }) {
  const { writeChangelog, writeEntries } = await import('../site/lib/reference.mjs');
  mkdirSync(join(SITE, 'public'), { recursive: true });
  for (const name of ['leaf.svg', 'hedge.svg'])
    copyFileSync(join(ROOT, 'demo', 'public', name), join(SITE, 'public', name));
  // Some are shown by links only, which bring no file along.
  cpSync(join(ROOT, 'docs', 'plots'), join(SITE, 'public', 'plots'), { recursive: true });
  // First: it empties the folder.
  if (typedoc) console.log(`reference of ${await writeEntries()} entries`);
  writeChangelog();
}

async function main() {
  const args = process.argv.slice(2);
  if (!args.includes('--as-built')) {
    await setup({ packages: 'docs' });
    await buildPackages();
  }
  if (!existsSync(join(ROOT, 'js', 'hedgerow', 'dist', 'index.d.ts'))) await buildPackages();
  await prepare({ typedoc: true });

  if (args.includes('--build')) {
    await run('vitepress', ['build', 'site']);
    const { checkAnchors } = await import('../site/lib/anchors.mjs');
    const { pages, links } = checkAnchors(join(SITE, 'dist'));
    console.log(
      `${pages} pages, ${links} links between them and within, all lead somewhere: site/dist`,
    );
    return;
  }
  const again = () => void prepare({ typedoc: false }).catch(console.error);
  watch(join(ROOT, 'CHANGELOG.md'), again);
  await run('vitepress', ['dev', 'site', '--port', '4180']);
}

await runMain(main);
