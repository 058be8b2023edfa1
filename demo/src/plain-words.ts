/** Explains failures in plain words, for people who did not write the page. */
import { HedgerowError } from 'hedgerow';
import { FetchFailure } from './cities.js';

/** A failure, and what the reader can do about it. */
export interface PlainWords {
  readonly what: string;
  readonly advice: string;
}

const BY_CODE: Partial<Record<string, PlainWords>> = {
  'quota-exceeded': {
    what: 'The browser has no room left for this site.',
    advice:
      'About 30 MB are needed. Free some disk space or delete data of other sites, and try again. Nothing that was stored before is lost.',
  },
  blocked: {
    what: 'Another tab has these cities open, so they cannot be deleted.',
    advice: 'Close the other tabs with this page, and try again.',
  },
  closed: {
    what: 'Another tab has deleted these cities, to load them again.',
    advice: 'Wait until it has finished, and try again.',
  },
  conflict: {
    what: 'Another tab stored the cities at the same time, and was first.',
    advice: 'Reload the page to see what it stored.',
  },
  disconnected: {
    what: 'The browser closed the connection to its storage.',
    advice: 'This can happen when site data is cleared. Try again, or restart the browser.',
  },
  storage: {
    what: 'The browser does not let this page store anything.',
    advice:
      'Some private windows and strict privacy settings block site data. Allow it for this page, or open it in an ordinary window.',
  },
  'out-of-memory': {
    what: 'The browser gave the page too little memory.',
    advice: 'Close some tabs, and try again.',
  },
  'invalid-data': {
    what: 'The file with the cities is damaged.',
    advice: 'Delete the folder demo/public/data, and run “node demo/prepare.mjs”.',
  },
  'newer-version': {
    what: 'What is stored here was written by another version of Hedgerow.',
    advice: 'Load all rows again.',
  },
};

const DAMAGED: PlainWords = {
  what: 'Some of the stored bytes are missing or no longer match their hash.',
  advice: 'Hedgerow does not return rows that it cannot verify. Load all rows again.',
};

/** Explains a failure. */
export function inPlainWords(failure: unknown): PlainWords {
  if (failure instanceof HedgerowError) {
    if (failure.code === 'corrupt-chunk' || failure.code === 'missing-chunk') return DAMAGED;
    const { code, detail } = failure;
    const words = BY_CODE[code] ?? BY_CODE[detail ?? ''];
    if (words !== undefined) return words;
  }
  if (failure instanceof FetchFailure) {
    return failure.status === 404
      ? {
          what: 'The file with the cities does not exist on the server.',
          advice: 'It is made by “node demo/prepare.mjs”, which “npm run demo” runs.',
        }
      : {
          what: 'The cities could not be fetched from the server.',
          advice: 'Check the server and the network, and try again.',
        };
  }
  if (failure instanceof TypeError && /network|fetch|load/i.test(failure.message)) {
    return {
      what: 'The connection was lost during the download.',
      advice: 'Nothing was stored. Try again.',
    };
  }
  if (failure instanceof DOMException && failure.name === 'QuotaExceededError') {
    return BY_CODE['quota-exceeded'] as PlainWords;
  }
  return { what: 'An unexpected error occurred.', advice: 'Try again.' };
}
