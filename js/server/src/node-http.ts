/** The part of Node's HTTP that the server uses: the package is compiled without Node's types. */

export interface HttpRequest extends AsyncIterable<Uint8Array> {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The server's end of the connection. */
  readonly socket: { readonly localAddress?: string | undefined };
}

export interface HttpResponse {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): void;
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): this;
  write(text: string): boolean;
  end(body?: string | Uint8Array): void;
  on(event: 'close', run: () => void): void;
  destroy(): void;
}

export type Handler = (request: HttpRequest, response: HttpResponse) => Promise<void>;

export interface Http {
  createServer(handler: Handler): {
    listen(port: number, host: string, ready: () => void): void;
    on(event: 'error', run: (cause: unknown) => void): void;
    address(): { readonly port: number };
    close(done: () => void): void;
    closeAllConnections(): void;
  };
}

export interface Crypto {
  createHash(name: 'sha256'): { update(text: string): { digest(): Uint8Array } };
  timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}

/** The error that ends a request with a status. */
export class HttpRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads the body of a request, of at most `most` bytes. */
export async function bodyOf(request: HttpRequest, most: number): Promise<Uint8Array> {
  const told = request.headers['content-length'];
  if (told === undefined) throw new HttpRefusal(411, 'Content-Length is missing');
  const length = Number(told);
  if (!(length <= most)) throw new HttpRefusal(413, `at most ${most} bytes`);
  const body = new Uint8Array(length);
  let at = 0;
  for await (const part of request) {
    // Node ends a request whose length differs from its header.
    body.set(part, at);
    at += part.length;
  }
  return body;
}
