// Provides what Replicache needs from its platform, which React Native or an app has.

(() => {
  globalThis.AbortController ??= class {
    constructor() {
      const listeners = new Set();
      this.signal = {
        aborted: false,
        addEventListener: (_, run) => listeners.add(run),
        removeEventListener: (_, run) => listeners.delete(run),
      };
      this.abort = () => {
        this.signal.aborted = true;
        for (const run of [...listeners]) run();
      };
    }
  };
  globalThis.performance ??= { now: () => Date.now() };
  globalThis.crypto ??= {
    getRandomValues(bytes) {
      for (let at = 0; at < bytes.length; at++) bytes[at] = Math.random() * 256;
      return bytes;
    },
  };
  globalThis.setInterval = (run, ms) => {
    const again = () => {
      run();
      globalThis.setTimeout(again, ms);
    };
    return globalThis.setTimeout(again, ms);
  };
  globalThis.clearInterval = globalThis.clearTimeout;
  globalThis.queueMicrotask ??= (run) => void Promise.resolve().then(run);
  Promise.allSettled ??= (all) =>
    Promise.all(
      [...all].map((one) =>
        Promise.resolve(one).then(
          (value) => ({ status: 'fulfilled', value }),
          (reason) => ({ status: 'rejected', reason }),
        ),
      ),
    );
  Array.prototype.at ??= function (at) {
    return this[at < 0 ? this.length + at : at];
  };
  Symbol.asyncIterator ??= '@@asyncIterator';
})();
