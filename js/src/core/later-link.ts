/**
 * Links the part of the core that is loaded later to the instance that needs it, once. Only for files
 * that are loaded later themselves.
 */
import type { Engine } from './engine.js';
import type { LaterOutput } from './generated/exports.js';
import type { Host } from './host.js';
import { instantiateLater } from './later-module.js';

const linked = new WeakMap<Engine, { epoch: number; core: Promise<LaterOutput> }>();

/** The later part of the instance that works now. */
export async function laterCore(host: Host): Promise<LaterOutput> {
  const { engine } = host;
  if (!engine.isReady) await host.recover();
  // There is none, and will be none: whoever has it throws it away.
  if (!engine.isReady) engine.own(-1);
  const { epoch } = engine;
  const known = linked.get(engine);
  if (known?.epoch === epoch) return known.core;
  const core = engine.linked(instantiateLater);
  const link = { epoch, core };
  linked.set(engine, link);
  const forget = () => {
    if (linked.get(engine) === link) linked.delete(engine);
  };
  core.catch(forget);
  // The memory of an instance that trapped is let go of at once.
  const end = engine.onTrap(() => {
    end();
    forget();
  });
  return core;
}
