/** What is shared by a link is in its fragment, which browsers send to nobody: base64url of text. */

/** `undefined` if the fragment has no such part, or one that is not of this form. */
export function fromFragment(fragment: string, name: string): string | undefined {
  const coded = new URLSearchParams(fragment.replace(/^#/, '')).get(name);
  if (coded === null || !/^[\w-]+$/.test(coded)) return undefined;
  try {
    const binary = atob(coded.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The fragment, with its `#`. */
export function toFragment(name: string, text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return `#${name}=${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** The address of this page with another fragment, and without a query. */
export function linkTo(fragment: string): string {
  return location.origin + location.pathname + fragment;
}

/** Copies a text; `false` where the browser does not let a page do that. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
