// How much one client may cost us. Every number can be set smaller in a test.

export interface Limits {
  /** Bytes of a request's body: etcd's own bound on a real server, so clients already live with it. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** From the first byte of a request to the end of its body. */
  readonly requestMs: number;
  /** How often the two are checked. */
  readonly checkMs: number;
  /** An idle connection is kept longer than client pools keep theirs, or they meet resets. */
  readonly keepAliveMs: number;
  /** A connection on which nothing moves, in either direction, is closed; one with a watch is not. */
  readonly idleMs: number;
  /** More than requests and watches together: those are shared fairly between users, connections go to whoever comes first. */
  readonly connections: number;
  /** Requests of all users that are being answered, without watches. An agent has up to 9 when a hub comes back. */
  readonly requests: number;
  readonly watches: number;
  /** Of one identity: no agent and no kubectl comes near. */
  readonly requestsPerUser: number;
  readonly watchesPerUser: number;
  /** Bytes that one identity, and all together, were sent and have not read. */
  readonly unsentBytesPerUser: number;
  readonly unsentBytes: number;
  /** A watcher with more than this unsent gets no further events until its socket has drained … */
  readonly watchBufferBytes: number;
  /** … and is dropped when that takes longer than this. */
  readonly watchStallMs: number;
  /** How long close() waits for requests that are being answered. */
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
