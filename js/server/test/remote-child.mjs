// Appends to the head of a remote in a folder, step by step: for `remote-node.test.ts`.
import { folderRemote } from '@hedgerow/server';

const [folder, writer, steps] = process.argv.slice(2);
const remote = folderRemote(folder);
for (let step = 0; step < Number(steps); ) {
  const head = await remote.readHead('main');
  const text = head === undefined ? '' : new TextDecoder().decode(head.bytes);
  const mine = new TextEncoder().encode(`${text} ${writer}:${step}`);
  const swap = await remote.swapHead('main', head?.token, mine);
  if (swap.state === 'swapped') step++;
  if (swap.state === 'unknown') throw swap.cause;
}
