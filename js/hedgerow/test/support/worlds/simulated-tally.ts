/** Counts of events in some seeds. */
export class Tally {
  seeds = 0;
  calls = 0;
  transactions = 0;
  events = 0;
  processCrashes = 0;
  powerCrashes = 0;
  killedTabs = 0;
  segmentsCollected = 0;
  /** Power failures with lost bytes, and the failures among them that a reader got an error about. */
  damaged = 0;
  toldOf = 0;
  rowsRead = 0;
}
