/** Errors by their codes and details: `remote/gone`. */

const PAGES = 'hedgerow/errors/';

/** Returns the code of an error, and its detail after a slash; `undefined` for a value without a code. */
export function kindOf(error: { readonly code: string }): string;
export function kindOf(error: unknown): string | undefined;
export function kindOf(error: unknown): string | undefined {
  const { code, detail } = Object(error) as { readonly code?: string; readonly detail?: string };
  return detail === undefined ? code : `${code}/${detail}`;
}

/** Returns the members of an error of a kind. Its page shows that it has no other detail. */
export function ofKind(kind: string): { code: string; detail?: string; help: string } {
  const [code = '', detail] = kind.split('/');
  const page = `${PAGES}${code}.md`;
  return detail === undefined ? { code, help: page } : { code, detail, help: `${page}#${detail}` };
}
