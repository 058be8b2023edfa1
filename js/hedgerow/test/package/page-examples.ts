/** Runs the code of pages on the sources of the package. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.4';
import type { HedgerowError, Store } from '../../src/index.js';
import { entryFiles } from './entry-list.js';

type Module = Record<string, unknown>;

/** The entries that open stores, each with its parts besides `hedgerow`. */
const OPENING = new Map([
  ['hedgerow', []],
  ['hedgerow/full', ['proofs', 'sync/index', 'worker/serve']],
]);

/** Stores that pages have opened since the last `closeAll`. */
const opened: Pick<Store, 'close'>[] = [];

/** Closes the stores that pages have opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((handle) => handle.close()));
}

const sourceOf = (file: string) => fileURLToPath(new URL(`../../src/${file}.ts`, import.meta.url));

const loadSource = (file: string): Promise<Module> => import(/* @vite-ignore */ sourceOf(file));

/** Returns the module of an import of a page. */
async function load(from: string): Promise<Module> {
  if (!/^(@hedgerow\/|hedgerow(\/|$))/.test(from)) return import(/* @vite-ignore */ from);
  const file = entryFiles.get(from);
  if (file === undefined) throw new Error(`no package has the entry ${from}`);
  if (!OPENING.has(from)) return import(/* @vite-ignore */ file);
  const parts = await Promise.all(['index', ...(OPENING.get(from) ?? [])].map(loadSource));
  const all: Module = Object.assign({}, ...parts);
  const open = all.open as (...args: unknown[]) => Promise<Store>;
  const tracked = async (...args: unknown[]) => {
    const db = await open(...args);
    opened.push(db);
    return db;
  };
  return { ...all, open: tracked };
}

const IMPORT = /^import\s+(?:([^';]+?)\s+from\s+)?'([^']*)';/gm;

/** Rewrites an import as declarations: a page imports in the middle of its scopes. */
function bound(_: string, clause: string | undefined, from: string): string {
  // A file of the page itself: its block is the surrounding scope.
  if (/^\.{1,2}\//.test(from) || clause?.startsWith('type ')) return '';
  const loaded = `(await load('${from}'))`;
  if (clause === undefined) return `${loaded};`;
  if (clause.startsWith('* as ')) return `const ${clause.slice('* as '.length)} = ${loaded};`;
  const [, name, names = ''] = /^(\w+)?(?:,\s*)?(?:\{([^}]*)\})?$/.exec(clause) ?? [];
  const values = names
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => one.replace(' as ', ': '));
  return [
    name === undefined ? '' : `const ${name} = ${loaded}.default;`,
    values.length === 0 ? '' : `const { ${values.join(', ')} } = ${loaded};`,
  ].join(' ');
}

/** Catches the error of a block's last line, so that the page continues after it. */
function throwing(block: string): string {
  const lines = block.trimEnd().split('\n');
  const last = lines.pop()!;
  return [...lines, 'try {', last, '} catch (cause) { onThrown(cause); }', ''].join('\n');
}

export interface RunOptions {
  /** Names that the page leaves out. */
  readonly names?: Module;
  /** Modules that replace imports of the page: their members, by module name. */
  readonly modules?: Readonly<Record<string, Module>>;
  /** Takes the error of the first block's last line, for pages of errors. */
  readonly onThrown?: ((cause: HedgerowError) => void) | undefined;
}

/** Runs blocks, each in the scope of the one before it. */
export async function runBlocks(
  blocks: readonly string[],
  { names = {}, modules = {}, onThrown }: RunOptions = {},
): Promise<void> {
  const texts = blocks.map((block, at) =>
    (at === 0 && onThrown !== undefined ? throwing(block) : block)
      .replace(IMPORT, bound)
      .replace(/^export (?:default )?(?=async|class|const|function|interface|let|type)/gm, ''),
  );
  const text = `async () => {\n{\n${texts.join('{\n')}${'}'.repeat(texts.length)}\n}`;
  // The compiler lowers `using`, which Node 20 does not have.
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.None,
      removeComments: true,
    },
  });
  const all = {
    ...names,
    onThrown,
    load: async (from: string) => ({ ...(await load(from)), ...modules[from] }),
  };
  const at = outputText.indexOf('async () =>');
  const code = `${outputText.slice(0, at)}return (${outputText.slice(at).trim().replace(/;$/, '')})();`;
  await new Function(...Object.keys(all), code)(...Object.values(all));
}
