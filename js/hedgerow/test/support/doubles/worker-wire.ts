/** Message channels of tests, and all things to be closed after a test. */

/** Things that a test has to close. */
export const opened: (() => unknown)[] = [];

export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close();
}

/** A channel whose messages a test can see, change or stop. */
export interface Wire {
  readonly page: MessagePort;
  readonly host: MessagePort;
}

export function wire(): Wire {
  const { port1, port2 } = new MessageChannel();
  opened.push(() => {
    port1.close();
    port2.close();
  });
  return { page: port1, host: port2 };
}

/** A wire whose messages a test counts; it can hold up the messages to the page, as for a frozen page. */
export interface Relay extends Wire {
  /** All messages that the worker has sent. */
  readonly sent: (readonly unknown[])[];
  freeze(): void;
  thaw(): void;
}

export function relay(): Relay {
  const [toPage, toHost] = [wire(), wire()];
  const sent: (readonly unknown[])[] = [];
  const held: unknown[] = [];
  let isFrozen = false;
  const pass = (data: unknown) => {
    if (isFrozen) held.push(data);
    else toPage.host.postMessage(data);
  };
  toHost.page.addEventListener('message', ({ data }) => {
    sent.push(...data);
    pass(data);
  });
  toPage.host.addEventListener('message', ({ data }) => toHost.page.postMessage(data));
  toHost.page.start();
  toPage.host.start();
  return {
    page: toPage.page,
    host: toHost.host,
    sent,
    freeze() {
      isFrozen = true;
    },
    thaw() {
      isFrozen = false;
      for (const data of held.splice(0)) pass(data);
    },
  };
}
