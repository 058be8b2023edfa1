const GLUE = /'hedgerow\/(react|vue|svelte|solid|angular)'|\b(use|inject)Live/;

/** The lines of an app's code that name `hedgerow/react` and the like, or what comes from there. */
export function glueOf(source: string): string[] {
  const lines = source.split('\n').map((line) => line.trim());
  return lines.filter((line) => GLUE.test(line));
}
