// Limits for clients. Tests can set lower values.

export interface Limits {
  /** Bytes of a request body: the limit of etcd on a real server, which clients already respect. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** From the first byte of a request to the end of its body. */
  readonly requestMs: number;
  /** The interval of checks for both timeouts. */
  readonly checkMs: number;
  /** Idle connections are kept longer than by client pools; otherwise clients would see resets. */
  readonly keepAliveMs: number;
  /** A connection without traffic in either direction is closed, unless it has a watch. */
  readonly idleMs: number;
  /**
   * More than requests and watches together: those are shared fairly between users, connections are first come, first
   * served, also for administrators. Many users with fair shares can reach it.
   */
  readonly connections: number;
  /** Requests of all users in flight, except watches. An agent has up to 9 when a hub comes back. */
  readonly requests: number;
  readonly watches: number;
  /** Per identity: no agent and no kubectl reaches this. */
  readonly requestsPerUser: number;
  readonly watchesPerUser: number;
  /** Bytes that were sent and not read, per identity and in total. */
  readonly unsentBytesPerUser: number;
  readonly unsentBytes: number;
  /** A watcher with more unsent bytes gets no events until its socket has drained … */
  readonly watchBufferBytes: number;
  /** … and is dropped if that takes longer than this. */
  readonly watchStallMs: number;
  /** How long close() waits for requests in flight. */
  readonly closeMs: number;
}

export const defaultLimits: Limits = {
  bodyBytes: 3 * 1024 * 1024,
  headerBytes: 128 * 1024,
  headersMs: 20_000,
  requestMs: 60_000,
  checkMs: 5_000,
  keepAliveMs: 90_000,
  idleMs: 5 * 60_000,
  connections: 25_000,
  requests: 12_000,
  watches: 12_000,
  requestsPerUser: 200,
  watchesPerUser: 500,
  unsentBytesPerUser: 16 * 1024 * 1024,
  unsentBytes: 256 * 1024 * 1024,
  watchBufferBytes: 1024 * 1024,
  watchStallMs: 30_000,
  closeMs: 5_000,
};
