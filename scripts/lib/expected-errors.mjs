// Compares the errors of a compiler with the errors that files expect, in comments such as `// @ts-expect-error not a
// member [nope]`: the message must contain the text in brackets.

const COMMENT = /^\s*\/\/ @ts-expect-error (?<reason>.*)$/;
const ERROR = /^(?<file>[^\s(][^(]*)\((?<line>\d+),\d+\): error (?<message>TS\d+: .*)$/;

/** Returns the text without the comments, so that the compiler reports the expected errors; the lines stay. */
export function withoutComments(text) {
  return text.replaceAll('// @ts-expect-error ', '// expected: ');
}

/** Returns the expected errors of a file, by the lines on which they must be. */
export function expectedIn(text) {
  const all = new Map();
  for (const [at, line] of text.split('\n').entries()) {
    const reason = COMMENT.exec(line)?.groups.reason;
    if (reason === undefined) continue;
    const parts = [...reason.matchAll(/\[([^\]]+)\]/g)].map(([, part]) => part);
    all.set(at + 2, { reason, parts });
  }
  return all;
}

/** Reads the errors in the output of `tsc --pretty false`: the further lines of a message are indented. */
export function errorsIn(output) {
  const errors = [];
  for (const line of output.split('\n')) {
    const found = ERROR.exec(line)?.groups;
    if (found) errors.push({ ...found, line: Number(found.line) });
    else if (/^\s+\S/.test(line) && errors.length > 0) errors.at(-1).message += `\n${line}`;
    else if (line.trim() !== '') errors.push({ file: '', line: 0, message: line });
  }
  return errors;
}

/**
 * Lists the differences; empty if there are errors on each expected line, with the parts of its message, and on no
 * other.
 */
export function faultsOf(expected, errors) {
  const faults = [];
  const found = new Map();
  for (const { file, line, message } of errors) {
    if (expected.get(file)?.has(line)) {
      const place = `${file}:${line}`;
      found.set(place, `${found.get(place) ?? ''}${message}\n`);
    } else faults.push(`${file}:${line}: ${message}`);
  }
  for (const [file, lines] of expected) {
    for (const [line, { reason, parts }] of lines) {
      const place = `${file}:${line}`;
      const message = found.get(place);
      if (message === undefined) faults.push(`${place}: no error, but: ${reason}`);
      for (const part of message === undefined ? [] : parts) {
        if (!message.includes(part)) faults.push(`${place}: no ${part} in: ${message}`);
      }
    }
  }
  return faults;
}
