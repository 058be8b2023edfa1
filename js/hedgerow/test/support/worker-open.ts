/** `open` for suites that run over a store in a worker. */
import type { OpenOptions } from '../../src/index.js';
import { Store } from '../../src/store/store.js';
import { connect } from '../../src/worker/index.js';
import { serve } from '../../src/worker/serve.js';
import { opened, wire } from './doubles/worker-wire.js';

type Opening = (name: string, options: OpenOptions, open: typeof Store.open) => Promise<Store>;

/** As `open`, but the store is in a worker. */
export async function remoteOpen(name: string, options: OpenOptions = {}): Promise<unknown> {
  const { page, host } = wire();
  const { tables = {} } = options as { readonly tables?: object };
  const [first] = Object.values(tables) as { readonly open?: Opening }[];
  const open = () => first?.open?.(name, options, Store.open) ?? Store.open(name, options);
  const served = serve({ open, port: host });
  opened.push(() => served.close());
  const remote = await connect(page);
  opened.push(() => remote.close());
  return remote;
}
