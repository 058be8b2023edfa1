/** What tests use of Node's `path`. */

export function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function relative(from: string, to: string): string {
  return to.startsWith(from) ? to.slice(from.length) : to;
}
