// The common interface of http1.ts and http2.ts: one request, one response.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

export interface Packet {
  readonly method: string;
  /** As sent, with the server's prefix. */
  readonly path: string;
  readonly host: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  /** Its response has no fixed end. */
  readonly isWatch: boolean;
}

export interface Incoming {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** After the end: whether nothing is missing. */
  isWhole(): boolean;
  /** Cancels the body. Its reader fails with this reason. */
  cut(reason: string): void;
}

/** No response came. */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** False: it was never sent, or the server reported that it did not process it. */
  readonly sent: boolean;
  /** An idle connection was closed by the server; a new one may succeed. */
  readonly isStale: boolean;
  constructor(message: string, options: ErrorOptions & { readonly sent: boolean; readonly isStale?: boolean }) {
    super(message, options);
    this.sent = options.sent;
    this.isStale = options.isStale ?? false;
  }
}
