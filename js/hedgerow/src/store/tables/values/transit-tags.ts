/**
 * The marks of the stored form: the tags of Transit (Cognitect, https://github.com/cognitect/transit-format), and marks
 * of our own where Transit has no tag. `docs/values.md` has all of them.
 */

/** The code of `~`, with which all marks begin. */
export const TILDE = 126;

/**
 * `undefined` in a list, or as a whole value; and the name of the member that lists the members that are `undefined`.
 * If they had marks of their own, indexes would list them as texts; so they are absent, as in plain JSON. Transit
 * leaves tags in upper case to applications.
 */
export const UNDEFINED = '~U';

/** The first item of lists that stand for something else. */
export const Mark = { set: '~#set', map: '~#cmap', file: '~#file' } as const;

/** Matches a bigint. Some engines read long ones in quadratic time, so that data of a stranger could stop a page. */
export const BIGINT = /^~n(0|-?[1-9]\d{0,9999})$/;

/** Returns a text that cannot be mistaken for a mark. */
export function escapedText(text: string): string {
  return text.charCodeAt(0) === TILDE ? `~${text}` : text;
}

/** Returns the language's name for the type of an object, of any realm: `Date`, `Map`. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

export type Members = Record<string, unknown>;
