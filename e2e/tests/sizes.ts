/** `npm run test:deep` sets it. */
const IS_DEEP = process.env.DEEP === '1';

/** Returns the count of a repetition: `given` by the environment, or less in `npm test` than in `npm run test:deep`. */
export function timesOf(everyday: number, deep: number, given?: string): number {
  return Number(given ?? (IS_DEEP ? deep : everyday));
}
