/** Runs programs, sends their output and effects to the page, and draws commits when the page asks. */

import { destroy, HedgerowError } from 'hedgerow';
import { drawingOf } from './drawing.js';
import { Modules, PREFIX } from './modules.js';
import { lineOf, programOf, runLine, runProgram } from './program.js';
import type { Failure, FromWorker, StoreFigures, ToWorker } from './protocol.js';
import { Pulse } from './pulse.js';
import { Recorder } from './recorder.js';
import { show } from './show.js';

/** The time between two reports of commits. */
const TELL_MS = 50;
const DATABASE_PREFIX = 'hedgerow/';

const tell = (message: FromWorker) => postMessage(message);

let modules: Modules | undefined;
let told = 0;
/** Programs and lines that have not ended. */
let running = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

const recorder = new Recorder(() => {
  timer ??= setTimeout(tellCommits, TELL_MS);
});
const pulse = new Pulse((beats, nowMs) => tell({ kind: 'beats', beats, nowMs }));

const shownName = (store: string) => store.slice(PREFIX.length);

function tellCommits(): void {
  clearTimeout(timer);
  timer = undefined;
  const commits = recorder.commits
    .slice(told)
    .map(({ store, branch, root }) => ({ store: shownName(store), branch, root }));
  told = recorder.commits.length;
  if (commits.length > 0) tell({ kind: 'commits', commits });
}

function failureOf(cause: unknown): Failure {
  if (!(cause instanceof Error)) return { name: 'Thrown', message: show(cause) };
  const { name } = cause;
  const line = lineOf(cause);
  const hint =
    name === 'SyntaxError'
      ? '. Programs are JavaScript, without types; imports come first, by their names in braces'
      : '';
  return {
    name,
    message: cause.message + hint,
    ...(cause instanceof HedgerowError && { code: cause.code }),
    ...(cause instanceof HedgerowError && cause.detail && { detail: cause.detail }),
    ...(line !== undefined && { line }),
  };
}

/** Runs a program or a line, and reports its end. */
async function timed(work: () => Promise<unknown>): Promise<void> {
  running += 1;
  pulse.start();
  const startMs = performance.now();
  let last: FromWorker;
  try {
    const value = await work();
    const ms = performance.now() - startMs;
    last = { kind: 'end', ms, ...(value !== undefined && { value: show(value) }) };
  } catch (cause) {
    last = { kind: 'failed', failure: failureOf(cause) };
  }
  running -= 1;
  pulse.stop();
  tellCommits();
  tell(last);
}

/** Returns the store's own figures, if it is at rest and at `root`: while a program runs they would cost too much. */
async function figuresAt(root: string): Promise<StoreFigures | undefined> {
  const db = modules?.db;
  try {
    if (running > 0 || db?.root !== root) return undefined;
    const { rows, levels, segments, chunks, storedBytes, liveBytes } = await db.health.stats();
    if (db.root !== root) return undefined;
    return { rows, levels, segments, chunks, storedBytes, liveBytes };
  } catch {
    // It is closed, or deleted, and has no figures.
    return undefined;
  }
}

async function draw(nth: number): Promise<void> {
  const commit = recorder.commits[nth];
  const book = commit && recorder.books.get(commit.store);
  if (commit === undefined || book === undefined) return;
  const drawing = { ...drawingOf(book, commit, nth), store: shownName(commit.store) };
  const figures = await figuresAt(commit.root);
  tell({ kind: 'drawing', nth, drawing, ...(figures && { figures }) });
}

/** Deletes the stores of the playground, and no others. */
async function forget(): Promise<void> {
  const found = await indexedDB.databases();
  const stores = found
    .map(({ name = '' }) => name)
    .filter((name) => name.startsWith(DATABASE_PREFIX + PREFIX))
    .map((name) => name.slice(DATABASE_PREFIX.length));
  for (const store of stores) await destroy(store);
  tell({ kind: 'forgotten', stores: stores.length });
}

async function answer(message: ToWorker): Promise<void> {
  if (message.kind === 'draw') return draw(message.nth);
  if (message.kind === 'forget') return forget();
  const { code } = message;
  return timed(async () => {
    if (message.kind === 'run') {
      modules = new Modules(recorder, message.keeping);
      const program = programOf(code);
      return runProgram(program, modules.named(program.imports));
    }
    return runLine(code, modules?.names() ?? {});
  });
}

for (const level of ['log', 'info', 'debug', 'warn', 'error'] as const) {
  console[level] = (...parts: unknown[]) => {
    const kind = level === 'warn' || level === 'error' ? level : 'log';
    tell({ kind: 'log', level: kind, text: parts.map(show).join(' ') });
  };
}

addEventListener('unhandledrejection', (event) => {
  event.preventDefault();
  tell({ kind: 'failed', failure: failureOf(event.reason) });
});
addEventListener('error', (event) => {
  event.preventDefault();
  tell({ kind: 'failed', failure: failureOf(event.error ?? event.message) });
});
addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  answer(data).catch((cause) => tell({ kind: 'failed', failure: failureOf(cause) }));
});
