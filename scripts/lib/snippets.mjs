// Extracts the TypeScript in a page of Markdown.

const BLOCK = /^```(?:ts|tsx)\n([\s\S]*?)^```$/gm;
const LEFT_OUT = /^<!-- snippets: ([\s\S]*?) -->$/gm;
const IMPORT = /^import [\s\S]*?;[^\n]*$/gm;

/**
 * Makes one module of all blocks of a page, with as many lines as the page, so that errors name the right lines.
 * Imports come first, each once.
 */
export function moduleOf(page) {
  const lines = page.split('\n').map(() => '');
  const imports = new Set();
  let count = 0;
  const put = (at, text) => {
    const first = page.slice(0, at).split('\n').length - 1;
    for (const [nth, line] of text.split('\n').entries()) lines[first + nth] += line;
  };
  const leftOut = [...page.matchAll(LEFT_OUT)].map(([, text]) => text);
  for (const found of page.matchAll(BLOCK)) {
    count += 1;
    const text = found[1]
      .replace(IMPORT, (line) => {
        for (const one of partsOf(line)) imports.add(one);
        return '\n'.repeat(line.split('\n').length - 1);
      })
      // A scope cannot export.
      .replace(/^export (?:default )?(?=async|class|const|function|interface|let|type)/gm, '');
    // The line of the fence opens its scope.
    put(found.index, '{');
    put(found.index + found[0].indexOf('\n') + 1, text);
  }
  // Declarations apply to the whole module, like imports: all are on the first line, before the page's own.
  lines[0] = [...imports, ...leftOut, lines[0]].join(' ');
  const hasJsx = /^```tsx$/m.test(page);
  return { count, hasJsx, text: [...lines, '}'.repeat(count), 'export {};'].join('\n') };
}

/**
 * Splits an import into one for each name: pages import some in several blocks. An import from a file of the page
 * itself is dropped: its block is the scope around.
 */
function partsOf(line) {
  if (/ from '\.{1,2}\//.test(line)) return [];
  const found = /^import (type )?\{([^}]*)\} from ('[^']*');/.exec(line);
  if (found === null) return [line];
  const [, type = '', names, from] = found;
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => `import ${type}{ ${name} } from ${from};`);
}
