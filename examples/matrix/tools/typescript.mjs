import { TYPESCRIPTS } from '../versions.mjs';

/** Entries whose declarations need other packages. */
const OPTIONAL = /react|vue|svelte|solid|angular|abstract-level|tanstack|op-sqlite|expo/;

const APP = `import { open } from 'hedgerow';
import { verifyProof } from 'hedgerow/proofs';
import { live, rowType, table } from 'hedgerow';

interface Issue { id: string; state: string; size: number }
export async function run(): Promise<number | undefined> {
  const issues = table({ schema: rowType<Issue>(), key: 'id', indexes: { byState: ['state', 'size'] } });
  const db = await open('app', { tables: { issues } });
  const list = live(db.issues.where({ state: 'open' }).orderBy('size'));
  const proved = await verifyProof<Issue>(db.root, 'issues/1', await db.prove('issues/1'));
  if ('value' in proved) return proved.value.size;
  return list.get().rows?.[0]?.size;
}
`;

const DOM = ['ES2022', 'DOM', 'DOM.Iterable'];
/** `node10` is there up to 5.9, but not in 7. */
const resolutionsOf = (version) =>
  Number(version.split('.')[0]) < 7 ? ['node10', 'bundler', 'nodenext'] : ['bundler', 'nodenext'];

/** Compiles an app, and all entries, with one compiler; with `skipLibCheck` or without. */
function compile(version, main, skipLibCheck) {
  return async (shop) => {
    for (const moduleResolution of resolutionsOf(version)) {
      const module = moduleResolution === 'nodenext' ? 'nodenext' : 'esnext';
      const compilerOptions = {
        noEmit: true,
        strict: true,
        skipLibCheck,
        types: [],
        target: 'es2022',
        lib: DOM,
        module,
        moduleResolution,
      };
      await shop.write({ 'tsconfig.json': { compilerOptions, files: ['app.ts', 'all.ts'] } });
      await shop.run('node', [main(shop), '-p', '.', '--pretty', 'false']);
    }
    return { ok: true, checked: resolutionsOf(version), note: resolutionsOf(version).join(', ') };
  };
}

const inRoot = { '5.4.5': 'typescript-5.4', '7.0.2': 'typescript' };

/** Returns the path of a compiler: in the root, or installed for the matrix. */
const mainOf = (version) => (shop) =>
  inRoot[version] === undefined
    ? shop.path('node_modules', `typescript-${version}`, 'bin', 'tsc')
    : shop.fromRoot(`${inRoot[version]}/bin/tsc`);

const cases = Object.fromEntries(
  TYPESCRIPTS.flatMap((version) => {
    // Its library has other type parameters than today's: see docs/toolchains.md.
    const isOld = version.startsWith('5.4');
    return [
      [`${version}, skipLibCheck`, compile(version, mainOf(version), true)],
      ...(isOld
        ? []
        : [[`${version}, with checks of libraries`, compile(version, mainOf(version), false)]]),
    ];
  }),
);

export default {
  version: TYPESCRIPTS.join(', '),
  sample: Object.keys(cases).filter((name) => inRoot[name.split(',')[0]] !== undefined),
  async prepare(shop) {
    const entries = [];
    for (const name of Object.keys(shop.tarballs)) {
      const { exports } = JSON.parse(await shop.read(`node_modules/${name}/package.json`));
      // The others are files, such as pages, which no code imports.
      const paths = Object.keys(exports).filter((path) => exports[path].types !== undefined);
      entries.push(...paths.map((path) => path.replace('.', name)));
    }
    const imports = entries
      .filter((entry) => !OPTIONAL.test(entry))
      .map((entry, at) => `import * as m${at} from '${entry}';`);
    const all = `export const all = [${imports.map((_, at) => `m${at}`).join(', ')}];`;
    await shop.write({ 'app.ts': APP, 'all.ts': [...imports, all, ''].join('\n') });
    if (shop.isSample) return;
    const wanted = TYPESCRIPTS.filter((version) => inRoot[version] === undefined);
    const specs = wanted.map((version) => `typescript-${version}@npm:typescript@${version}`);
    await shop.run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...specs]);
  },
  cases,
};
