/** Makes a function of a program, whose first lines may import from the package. */

/** A function that compiles code; the type of `AsyncFunction`, which has no name of its own. */
type Compile = new (...names: string[]) => (...args: unknown[]) => Promise<unknown>;

const AsyncFunction = (async () => {}).constructor as Compile;

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const IMPORT =
  /import\s*(?:\*\s*as\s+(?<all>[\w$]+)|\{(?<named>[^}]*)\})\s*from\s*(['"])(?<from>[^'"]+)\3[^\S\n]*;?/y;

export interface Program {
  readonly imports: readonly string[];
  /** The code, with declarations of names from `modules` instead of imports. Lines keep their places. */
  readonly body: string;
}

/** Turns the `{ a, b as c }` of an import into a pattern. Types are left out. */
function patternOf(named: string): string {
  return named.replace(/\btype\s+[\w$]+\s*,?/g, '').replace(/\bas\b/g, ':');
}

export function programOf(code: string): Program {
  const imports: string[] = [];
  let [at, body] = [0, ''];
  for (;;) {
    BLANK.lastIndex = at;
    const blank = BLANK.exec(code)?.[0] ?? '';
    IMPORT.lastIndex = at + blank.length;
    const found = IMPORT.exec(code);
    const { all, named = '', from = '' } = found?.groups ?? {};
    if (found === null) return { imports, body: body + code.slice(at) };
    imports.push(from);
    const what = all ?? `{${patternOf(named)}}`;
    body += `${blank}const ${what} = modules[${JSON.stringify(from)}];`;
    at = IMPORT.lastIndex;
  }
}

/** Runs a program with the modules that it imports. */
export async function runProgram(
  { body }: Program,
  modules: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  return new AsyncFunction('modules', `'use strict';${body}`)(modules);
}

/** Runs a line with names; returns its value if it is an expression. */
export async function runLine(
  code: string,
  names: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const [keys, values] = [Object.keys(names), Object.values(names)];
  let run: (...args: unknown[]) => Promise<unknown>;
  try {
    run = new AsyncFunction(...keys, `'use strict';return (${code}\n)`);
  } catch {
    run = new AsyncFunction(...keys, `'use strict';${code}`);
  }
  return run(...values);
}

/** Lines that engines put before the code of a function. */
const LINES_BEFORE = 2;

/** Returns the line of the program in which an error arose, if the engine reports it. */
export function lineOf({ stack = '' }: Error): number | undefined {
  const found = /(?:<anonymous>|AsyncFunction):(\d+):\d+/.exec(stack)?.[1];
  const line = Number(found) - LINES_BEFORE;
  return line > 0 ? line : undefined;
}
