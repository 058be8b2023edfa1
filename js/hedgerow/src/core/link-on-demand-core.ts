/** Links the later part of the core to an instance, once. Only files of the later download may import this one. */
import type { Engine } from './engine.js';
import type { LaterOutput } from './generated/exports.js';
import { instantiateLater } from './instantiate-on-demand-core.js';
import type { Host } from './operation-host.js';

const linked = new WeakMap<Engine, { epoch: number; core: Promise<LaterOutput> }>();

/** Returns the later part of the current instance. */
export async function laterCore(host: Host): Promise<LaterOutput> {
  const { engine } = host;
  if (!engine.isReady) await host.recover();
  // No new instance will start: throw the refusal.
  if (!engine.isReady) engine.own(-1);
  const { epoch } = engine;
  const known = linked.get(engine);
  if (known?.epoch === epoch) return known.core;
  const core = engine.linkPart(instantiateLater);
  const link = { epoch, core };
  linked.set(engine, link);
  const forget = () => {
    if (linked.get(engine) === link) linked.delete(engine);
  };
  core.catch(forget);
  // After a trap, release the memory of the instance at once.
  const end = engine.onTrap(() => {
    end();
    forget();
  });
  return core;
}
