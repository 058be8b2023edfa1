/**
 * Ends a run of Vitest if a test blocks its own time limit, for instance in an endless loop: prints the running tests
 * and the stack of each thread.
 */
import { Session } from 'node:inspector';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Milliseconds without news of a file. The limits of tests are shorter. */
const LIMIT_MS = 1_200_000;
const CHECKS = 60;
/** Milliseconds that a thread has to give its stack. */
const STACK_MS = 2_000;

interface Work {
  readonly file: string;
  test: string;
  newsMs: number;
}

export default class StuckReporter implements Reporter {
  readonly #limitMs: number;
  readonly #works = new Map<string, Work>();
  #newsMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor({ limitMs = LIMIT_MS }: { readonly limitMs?: number } = {}) {
    this.#limitMs = limitMs;
  }

  onTestRunStart(): void {
    // A search through seeds has no time limit.
    if (process.env.SEEDS) return;
    this.#newsMs = performance.now();
    this.#timer = setInterval(() => void this.#check(), this.#limitMs / CHECKS);
    this.#timer.unref();
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  onTestModuleStart(file: TestModule): void {
    this.#note(file, 'its first lines');
  }

  onTestCaseReady(test: TestCase): void {
    this.#note(test.module, test.fullName);
  }

  onTestCaseResult(test: TestCase): void {
    this.#note(test.module, `what follows ${test.fullName}`);
  }

  onTestModuleEnd(file: TestModule): void {
    this.#works.delete(file.id);
    this.#newsMs = performance.now();
  }

  #note({ id, relativeModuleId }: TestModule, test: string): void {
    this.#newsMs = performance.now();
    this.#works.set(id, { file: relativeModuleId, test, newsMs: this.#newsMs });
  }

  async #check(): Promise<void> {
    const works = [...this.#works.values()];
    const oldestMs = Math.min(this.#newsMs, ...works.map(({ newsMs }) => newsMs));
    if (performance.now() - oldestMs < this.#limitMs) return;
    clearInterval(this.#timer);
    console.error(`\nno news for ${this.#limitMs / 1000} seconds: the run ends`);
    for (const { file, test, newsMs } of works) {
      const seconds = Math.floor((performance.now() - newsMs) / 1000);
      console.error(`  ${file}: ${test}, for ${seconds} seconds`);
    }
    for (const stack of await stacksOfThreads()) console.error(stack);
    // An exit would wait for the threads.
    process.kill(process.pid, 'SIGKILL');
  }
}

interface Frame {
  readonly functionName: string;
  readonly location: {
    readonly scriptId: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
}

/** Returns the stacks of all threads of this process that run code now. */
async function stacksOfThreads(): Promise<readonly string[]> {
  const stacks: string[] = [];
  const session = new Session();
  session.connect();
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    const send = (id: number, method: string) =>
      session.post('NodeWorker.sendMessageToWorker', {
        sessionId,
        message: JSON.stringify({ id, method }),
      });
    const urls = new Map<string, string>();
    const lineOf = ({ functionName, location }: Frame) => {
      const place = `${location.lineNumber + 1}:${location.columnNumber + 1}`;
      return `    at ${functionName || '(anonymous)'} (${urls.get(location.scriptId)}:${place})`;
    };
    session.on('NodeWorker.receivedMessageFromWorker', (event) => {
      if (event.params.sessionId !== sessionId) return;
      const { method, params } = JSON.parse(event.params.message);
      if (method === 'Debugger.scriptParsed') urls.set(params.scriptId, params.url);
      if (method !== 'Debugger.paused') return;
      const frames = params.callFrames as readonly Frame[];
      stacks.push(`thread ${workerInfo.title}:\n${frames.map(lineOf).join('\n')}`);
    });
    send(1, 'Debugger.enable');
    send(2, 'Debugger.pause');
  });
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  await new Promise((resolve) => setTimeout(resolve, STACK_MS));
  return stacks;
}
