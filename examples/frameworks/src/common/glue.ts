const GLUE = /'hedgerow\/(react|vue|svelte|solid|angular)'|\b(use|inject)Live/;

/** Returns the lines of an app's code that name `hedgerow/react` and the like, or their exports. */
export function glueOf(source: string): string[] {
  const lines = source.split('\n').map((line) => line.trim());
  return lines.filter((line) => GLUE.test(line));
}
