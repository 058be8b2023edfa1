/** Verifies all that the newest commit of a store reaches; shows the progress and each fault. */

import { type Verification, verifyStore } from 'hedgerow';
import type { ChunkFault, VerifyOptions } from 'hedgerow/kit';
import { readOnly } from '../model/read-only-storage.js';
import type { StoreLocation } from '../model/store-session.js';
import { countText, shortRoot, sizeText } from '../model/value-text.js';
import { button, fill, h, tableElement } from './dom.js';
import type { MakePanel, Panel, PanelContext } from './panel-types.js';

function keysOf({ range: { gt, gte, lte } }: ChunkFault): string {
  if (gte !== undefined && gte === lte) return gte;
  if (gt === undefined && gte === undefined && lte === undefined) return 'all';
  return `${gt === undefined ? 'from the start' : `after ${gt}`}${lte === undefined ? '' : ` up to ${lte}`}`;
}

function faultsTable({ faults }: Verification): HTMLElement {
  const rows = faults.map((fault) => [
    fault.code,
    fault.kind,
    keysOf(fault),
    fault.rows === undefined ? '' : countText(fault.rows),
    h('code', { title: fault.chunk }, shortRoot(fault.chunk)),
  ]);
  return tableElement('Faults', ['code', 'of', 'keys', 'rows', 'chunk'], rows);
}

function resultOf(found: Verification): HTMLElement[] {
  const { ok, rows, nodes, bytes, faults, segmentFaults, root } = found;
  const sound = `${countText(rows)} rows, ${countText(nodes)} nodes and ${sizeText(bytes)}, unpacked, are sound.`;
  const shown: HTMLElement[] = [
    h(
      'p',
      { class: ok ? 'good' : 'problem' },
      ok ? 'No fault.' : `${countText(faults.length)} faults.`,
    ),
    h('p', {}, sound, ' Root ', h('code', { title: root }, shortRoot(root))),
  ];
  if (faults.length > 0) shown.push(faultsTable(found));
  if (segmentFaults.length > 0) {
    const rows = segmentFaults.map(({ segment, what }) => [segment, what]);
    shown.push(
      h('h2', {}, 'Segments at fault'),
      tableElement('Segments at fault', ['segment', 'what'], rows),
    );
  }
  return shown;
}

/** Builds the panel of a verification, which `run` makes. */
export function checkElement(
  run: (options: VerifyOptions) => Promise<Verification>,
  { runTimed }: Pick<PanelContext, 'runTimed'>,
): Panel {
  let running: AbortController | undefined;
  const indexes = h('input', { type: 'checkbox', id: 'check-indexes' });
  const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Progress', hidden: true });
  const state = h('output', {});
  const result = h('div', {});
  const begin = async () => {
    running = new AbortController();
    const { signal } = running;
    start.disabled = true;
    cancel.disabled = bar.hidden = false;
    fill(result);
    const onProgress: NonNullable<VerifyOptions['onProgress']> = ({ rows, bytes, fraction }) => {
      bar.value = fraction;
      state.textContent = `${countText(rows)} rows, ${sizeText(bytes)} unpacked`;
    };
    const options = { checkIndexes: indexes.checked, signal, onProgress };
    const found = await runTimed('verify', () => run(options));
    start.disabled = false;
    cancel.disabled = bar.hidden = true;
    state.textContent = found === undefined ? 'not finished' : '';
    if (found !== undefined) fill(result, ...resultOf(found));
  };
  const start = button('Verify', begin);
  const cancel = button('Cancel', () => running?.abort(), { disabled: true });
  const element = h(
    'div',
    { class: 'plain' },
    h('h2', {}, 'Verify'),
    h(
      'p',
      { class: 'faint' },
      'Reads all that the newest commit reaches, from storage, and checks every byte. It changes nothing.',
    ),
    h(
      'div',
      { class: 'tools' },
      start,
      cancel,
      h('label', {}, indexes, ' check the entries of indexes, too'),
    ),
    h('div', { class: 'tools' }, bar, state),
    result,
  );
  return { element, close: () => running?.abort() };
}

/** Builds the panel for a store that does not open. */
export function checkOfPlace(
  { name, storage }: StoreLocation,
  context: Pick<PanelContext, 'runTimed'>,
): Panel {
  return checkElement(
    (options) => verifyStore(name, { ...options, storage: readOnly(storage) }),
    context,
  );
}

export const checkPanel: MakePanel = (context) =>
  checkElement((options) => context.session.db.health.verify(options), context);
