// What the command lines of the runs in browsers have in common.

/** Reads a whole number above 0; `usage` is told with the refusal of anything else. */
export function whole(name, text, usage) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${name} is a whole number above 0, not ${text}\n${usage}`);
}
