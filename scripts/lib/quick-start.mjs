// Reads a page like a reader who follows it: its commands, and the files whose names its blocks begin with.

const HEADING = /^## (.*)$/m;
const BLOCK = /^```(\w+)\n([\s\S]*?)^```$/gm;
/** The first line of a block that is a file, or adds to one. */
const FILE = /^(?:\/\/|<!--) (at the end of )?(\S+\.\w+)(?: -->)?\n/;
/** The last path that a paragraph names before a block without a comment, such as JSON. */
const NAMED = /`([\w./-]+\.(?:ndjson|json))`:\s*$/;

const isTyped = (line) => line.trim() !== '';

/** Returns the sections of a page by their headings; `''` is the part before the first. */
export function sectionsOf(page) {
  const [before, ...rest] = page.split(HEADING);
  const sections = new Map([['', before]]);
  for (let at = 0; at < rest.length; at += 2) sections.set(rest[at], rest[at + 1]);
  return sections;
}

/** Returns the lines of the shell blocks of a section. */
export function commandsOf(section) {
  return [...section.matchAll(BLOCK)]
    .filter(([, language]) => language === 'sh')
    .flatMap(([, , text]) => text.split('\n').filter(isTyped));
}

/** Returns the files of a section: `{ name, text, isMore }`, where `isMore` marks an addition to the end of one. */
export function filesOf(section) {
  const files = [];
  for (const { 1: language, 2: text, index } of section.matchAll(BLOCK)) {
    if (language === 'sh') continue;
    const [head, isMore, name] = FILE.exec(text) ?? [];
    if (head !== undefined) {
      files.push({ name, text: text.slice(head.length), isMore: isMore !== undefined });
      continue;
    }
    const named = NAMED.exec(section.slice(0, index));
    if (named === null) throw new Error(`a block of ${language} does not say which file it is`);
    files.push({ name: named[1], text, isMore: false });
  }
  return files;
}

/** Counts the lines of a text that a reader types. */
export const linesOf = (text) => text.split('\n').filter(isTyped).length;

/** Counts the words of a section that a reader reads: its text without blocks. */
const wordsOf = (section) => section.replace(BLOCK, '').split(/\s+/).filter(isTyped).length;

/** Returns the sections whose blocks a reader types for one framework, after the commands of `Create an app`. */
export const typedFor = (framework) => ['Open the store', framework, 'Load rows from a server'];

/** Counts what a reader reads and types for one framework. Rows of a file are no lines. */
export function effortOf(sections, framework) {
  const sum = (all) => all.reduce((total, one) => total + one, 0);
  const typed = typedFor(framework);
  const words = ['', 'Create an app', ...typed].map((name) => wordsOf(sections.get(name)));
  const files = typed.flatMap((name) => filesOf(sections.get(name)));
  const code = files.filter(({ name }) => !name.endsWith('.ndjson'));
  return { words: sum(words), lines: sum(code.map(({ text }) => linesOf(text))) };
}
