import type {
  MutatorConnection,
  Mutators,
  RejectedCall,
} from '../../../src/sync/mutators/index.js';

/** Calls `take` with each call that a connection rejects, and dismisses the call when it has left the queue. */
export function takeRejected<M extends Mutators>(
  app: MutatorConnection<M>,
  take: (call: RejectedCall) => void,
): void {
  const taken = new Set<RejectedCall>();
  const look = () => {
    for (const call of app.state.rejected) {
      if (taken.has(call)) continue;
      taken.add(call);
      take(call);
      // After a crash it is in the list again.
      if (!call.isPending) app.dismiss(call).catch(() => {});
    }
  };
  look();
  app.subscribe(look);
}
