// Reads the types that an editor shows for the calls of an app with a table.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

/** The last compiler that can be asked so. */
const COMPILER = join(ROOT, 'node_modules', 'typescript-5.4');

const APP = `
import { live, open, rowType, table } from 'hedgerow';
import { bucket, memoryRemote } from 'hedgerow/sync';
interface Issue { id: string; title: string; status: 'open' | 'closed'; modified: number }
const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: { byState: ['status', 'modified'] },
});
const db = await open('app', { tables: { issues } });
const query = db.issues.where({ status: 'open' });
live(query);
await db.connect(bucket(memoryRemote()));
`;

/** The calls whose types people look at first. */
const CALLS = ['open', 'table', 'where', 'live', 'connect'];

/** Returns the type that an editor shows for each call. `dir` is a folder whose imports of the package are resolved. */
export function readHovers(dir, paths) {
  const ts = createRequire(import.meta.url)(COMPILER);
  const file = join(dir, 'hover.ts');
  const read = (name) => (name === file ? APP : ts.sys.readFile(name));
  const service = ts.createLanguageService({
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const text = read(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => dir,
    getCompilationSettings: () => ({
      strict: true,
      skipLibCheck: true,
      types: [],
      paths,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    }),
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: read,
  });
  const [fault] = service.getSemanticDiagnostics(file);
  if (fault !== undefined) throw new Error(ts.flattenDiagnosticMessageText(fault.messageText, ' '));
  return CALLS.map((call) => {
    const at = APP.search(new RegExp(`(?<!function )\\b${call}\\(`));
    const { displayParts } = service.getQuickInfoAtPosition(file, at);
    return { call, text: ts.displayPartsToString(displayParts) };
  });
}
