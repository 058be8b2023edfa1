// Reads the options that all command lines of browser runs share.

/** Reads a whole number above 0; the error for any other text quotes `usage`. */
export function whole(name, text, usage) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${name} is a whole number above 0, not ${text}\n${usage}`);
}

const ENGINES = ['chromium', 'chromium-sqlite', 'firefox', 'webkit'];

/** Reads the names of engines in `--engines`: every engine for `all`. */
export function engineNames(text, usage) {
  if (text === 'all') return [...ENGINES];
  const names = text.split(',');
  const unknown = names.filter((name) => !ENGINES.includes(name));
  if (unknown.length === 0) return [...new Set(names)];
  throw new Error(
    `no such engine: ${unknown.join(', ')}; there are all, ${ENGINES.join(', ')}\n${usage}`,
  );
}
