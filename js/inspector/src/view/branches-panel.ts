/** Shows branches with their forks, and the remotes whose rows the store keeps. */

import type { Branch } from 'hedgerow';
import { REMOTE_BRANCHES } from 'hedgerow/kit';
import { type TreeOf, titleOf, treesOf } from '../model/commit-trees.js';
import { countText, shortRoot } from '../model/value-text.js';
import { button, fill, h, tableElement } from './dom.js';
import type { MakePanel, PanelContext } from './panel-types.js';

const rootElement = (root: string) => h('code', { title: root }, shortRoot(root));

function toolsOf(context: PanelContext, { name, root, base }: Branch): HTMLElement {
  const tools = [];
  if (name !== context.session.branchName) {
    tools.push(button(`Show ${name}`, () => context.show({ branch: name })));
  }
  if (base !== undefined) {
    tools.push(button(`Changes of ${name}`, () => context.compare(base, root)));
  }
  return h('div', { class: 'tools' }, ...tools);
}

function branchRow(context: PanelContext, branch: Branch) {
  const { name, root, parent, base } = branch;
  const isShown = name === context.session.branchName;
  const from = parent === undefined ? '' : `${parent} `;
  return [
    `${name}${isShown ? ' (shown)' : ''}`,
    rootElement(root),
    h('span', {}, from, base !== undefined && rootElement(base)),
    toolsOf(context, branch),
  ];
}

/** Builds the table of trees of the shown branch. */
function treesTable(trees: readonly TreeOf[]): HTMLElement {
  const titles = {
    rows: () => 'rows',
    index: ({ definition, name }: TreeOf) => `index ${definition ? titleOf(definition) : name}`,
    sum: ({ name }: TreeOf) => `sum tree ${name}`,
  };
  const rows = trees.map((tree) => [
    titles[tree.kind](tree) + (tree.isComplete ? '' : ' (being built)'),
    countText(tree.count),
    rootElement(tree.root),
  ]);
  return tableElement('Trees', ['tree', 'entries', 'root of the tree'], rows);
}

export const branchesPanel: MakePanel = (context) => {
  const { session } = context;
  const element = h('div', { class: 'plain' }, h('p', { class: 'faint' }, 'Reading …'));
  const draw = async () => {
    const [all, trees] = await Promise.all([
      session.db.branches.list({ remotes: true }),
      treesOf(session.db),
    ]);
    const isRemote = ({ name }: Branch) => name.startsWith(REMOTE_BRANCHES);
    const columns = ['branch', 'head', 'left its parent at', 'actions'];
    const tableOf = (caption: string, some: readonly Branch[]) =>
      tableElement(
        caption,
        columns,
        some.map((branch) => branchRow(context, branch)),
      );
    const remotes = all.filter(isRemote);
    const keep = button('Keep the state of now', () => {
      const { root } = session.keep();
      context.say(`Kept until this page shows another store: ${shortRoot(root)}`);
    });
    fill(
      element,
      h('h2', {}, 'Branches'),
      tableOf(
        'Branches',
        all.filter((branch) => !isRemote(branch)),
      ),
      h('div', { class: 'tools' }, keep),
      h('h2', {}, `Trees of ${session.branchName}`),
      trees.length === 0 ? h('p', {}, 'No rows, no trees.') : treesTable(trees),
      h('h2', {}, 'Remotes'),
      remotes.length === 0
        ? h('p', { class: 'faint' }, 'This store has met no remote.')
        : tableOf('Branches of remotes', remotes),
    );
  };
  draw().catch((cause) => context.fail(cause));
  return { element };
};
