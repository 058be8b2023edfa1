/**
 * Probes of how alive the page is. Each asks the thread for one service that a page needs and notes the delay. Two come
 * from outside, so that a long stall counts as often as it would for a user: messages of a worker, and clicks. The
 * others ask again only after an answer, so that a stall counts once.
 */

/** The delays of one probe, in milliseconds. */
export type Delays = number[];

export interface Watched {
  /** Between two animation frames. */
  readonly frame: Delays;
  /** From the due time of a timer to its call. */
  readonly timer: Delays;
  /** From the sending of a worker's message, one every 5 ms, to its handler. */
  readonly message: Delays;
  /** From `fetch` of a small file of the local server to the end of its text. */
  readonly fetch: Delays;
  /** From `get` on another IndexedDB database to its `success`. */
  readonly database: Delays;
  /** From the `timeStamp` of a click, which the browser takes when it comes, to its handler. */
  readonly click: Delays;
  /** Tasks over 50 ms, where the browser reports them. */
  readonly longTasks: Delays | null;
  /** Animation frames over 50 ms with their work, where the browser reports them. */
  readonly longFrames: Delays | null;
}

type Name = keyof Watched;

/** The time between two rounds of a probe that waits for its answer. */
const PAUSE_MS = 4;
/** The HTML standard delays nested timers by this much. */
const NESTED_TIMER_MS = 4;
/** The browser reports long tasks and frames some time after their end. */
const REPORT_MS = 150;

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

interface Sample {
  readonly fromMs: number;
  readonly ms: number;
}

/** Watches while `work` runs. */
export class Probes {
  readonly #samples = new Map<Name, Sample[]>();
  readonly #ends: (() => void)[] = [];
  #going = true;

  /** Starts all probes and waits until they have warmed up. */
  static async start(): Promise<Probes> {
    const probes = new Probes();
    probes.#frames();
    probes.#timers();
    probes.#messages();
    probes.#fetches();
    probes.#clicks();
    await probes.#gets();
    probes.#observe('longTasks', 'longtask');
    probes.#observe('longFrames', 'long-animation-frame');
    await pause(300);
    return probes;
  }

  /** Stops, and returns the delays that began or ended between the two times. */
  async stop(startMs: number, endMs: number): Promise<Watched> {
    // A round under way must end first: its cause may lie in the time between.
    await pause(REPORT_MS);
    this.#going = false;
    for (const end of this.#ends) end();
    const within = (name: Name) =>
      (this.#samples.get(name) ?? [])
        .filter(({ fromMs, ms }) => fromMs < endMs && fromMs + ms > startMs)
        .map(({ ms }) => ms);
    const where = (name: Name) => (this.#samples.has(name) ? within(name) : null);
    return {
      frame: within('frame'),
      timer: within('timer'),
      message: within('message'),
      fetch: within('fetch'),
      database: within('database'),
      click: within('click'),
      longTasks: where('longTasks'),
      longFrames: where('longFrames'),
    };
  }

  #note(name: Name, fromMs: number, ms = performance.now() - fromMs): void {
    const samples = this.#samples.get(name);
    // The clock of a worker, or a coarse one, may be slightly ahead.
    const sample = { fromMs, ms: Math.max(0, ms) };
    if (samples === undefined) this.#samples.set(name, [sample]);
    else samples.push(sample);
  }

  #frames(): void {
    let last: number | undefined;
    const frame = () => {
      if (last !== undefined) this.#note('frame', last);
      last = performance.now();
      if (this.#going) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  #timers(): void {
    let dueMs: number | undefined;
    const timer = () => {
      if (dueMs !== undefined) this.#note('timer', dueMs);
      dueMs = performance.now() + NESTED_TIMER_MS;
      if (this.#going) setTimeout(timer, 0);
    };
    timer();
  }

  #messages(): void {
    const worker = new Worker(new URL('./ticker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<number>) => {
      this.#note('message', data - performance.timeOrigin);
    };
    this.#ends.push(() => worker.terminate());
  }

  #fetches(): void {
    const fetchAgain = async () => {
      while (this.#going) {
        const fromMs = performance.now();
        await (await fetch(location.href, { cache: 'no-store' })).text();
        this.#note('fetch', fromMs);
        await pause(PAUSE_MS);
      }
    };
    void fetchAgain();
  }

  async #gets(): Promise<void> {
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open('another');
      opening.onupgradeneeded = () => opening.result.createObjectStore('rows').put('row', 1);
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    const get = () => {
      const fromMs = performance.now();
      const request = db.transaction('rows').objectStore('rows').get(1);
      request.onsuccess = () => {
        this.#note('database', fromMs);
        if (this.#going) setTimeout(get, PAUSE_MS);
        else db.close();
      };
    };
    get();
  }

  #clicks(): void {
    const click = ({ timeStamp }: MouseEvent) => this.#note('click', timeStamp);
    addEventListener('click', click);
    this.#ends.push(() => removeEventListener('click', click));
  }

  #observe(name: Name, type: string): void {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return;
    this.#samples.set(name, []);
    const observer = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) {
        this.#note(name, startTime, duration);
      }
    });
    observer.observe({ type });
    this.#ends.push(() => observer.disconnect());
  }
}

/** Runs `work` and returns its result, its time, and the delays of the probes. */
export async function watched<T>(
  work: () => Promise<T>,
): Promise<{ result: T; ms: number; seen: Watched }> {
  const probes = await Probes.start();
  const startMs = performance.now();
  const result = await work();
  const endMs = performance.now();
  return { result, ms: endMs - startMs, seen: await probes.stop(startMs, endMs) };
}
