/** The traffic since the last call. */
export interface Counts {
  readonly connections: number;
  readonly requests: number;
  readonly preflights: number;
  readonly statuses: readonly string[];
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface Wire {
  readonly url: string;
  readonly counts: { take(): Counts };
  close(): Promise<void>;
}

export function openWire(port: number, oneWayMs: number): Promise<Wire>;
