// What http1.ts and http2.ts have in common: one request goes out, one response comes in.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

export interface Packet {
  readonly method: string;
  /** As on the wire, with the server's prefix. */
  readonly path: string;
  readonly host: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  /** Its response goes on for as long as the server likes. */
  readonly isWatch: boolean;
}

export interface Incoming {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** After the end: nothing is missing. */
  isWhole(): boolean;
  /** Cancels the body. Its reader fails with this reason. */
  cut(reason: string): void;
}

/** No response came. */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** False: it never left us, or the server said that it has not looked at it. */
  readonly sent: boolean;
  /** The connection had served before and was closed under our feet; a fresh one may well work. */
  readonly isStale: boolean;
  constructor(message: string, options: ErrorOptions & { readonly sent: boolean; readonly isStale?: boolean }) {
    super(message, options);
    this.sent = options.sent;
    this.isStale = options.isStale ?? false;
  }
}
