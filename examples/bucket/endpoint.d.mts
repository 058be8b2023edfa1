import type { IncomingMessage, RequestListener } from 'node:http';

export interface Member {
  readonly rooms: ReadonlyMap<string, string>;
}

export function endpoint(how: {
  memberOf(request: IncomingMessage): Member | undefined | Promise<Member | undefined>;
  sign(request: never): Promise<string>;
}): RequestListener;
