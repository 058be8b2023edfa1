/** What happened in some seeds. */
export class Tally {
  seeds = 0;
  calls = 0;
  transactions = 0;
  events = 0;
  processCrashes = 0;
  powerCrashes = 0;
  killedTabs = 0;
  segmentsCollected = 0;
  /** Power failures after which bytes were gone, and those of them that a reader was told of. */
  damaged = 0;
  toldOf = 0;
  rowsRead = 0;
}
