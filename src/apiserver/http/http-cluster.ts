// The interface of one cluster that is served over HTTP. Verbs and authorizer are passed in, so that this folder only
// translates bytes.

import type { User } from '../../api/object.ts';
import type { PatchType } from '../../api/transport.ts';
import type { ApiError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Credentials } from '../auth/authenticator.ts';
import type { Cluster } from '../cluster.ts';
import type { Stored } from '../store/store.ts';
import type {
  At,
  Caller,
  DeleteOptions,
  Listed,
  ListOptions,
  WatchFeed,
  WatchOptions,
  Written,
} from '../verbs/call.ts';

export interface Verbs {
  create(cluster: Cluster, at: At, body: unknown, caller: Caller): Promise<Written>;
  get(cluster: Cluster, at: At): Stored;
  list(cluster: Cluster, at: At, options: ListOptions): Listed | Promise<Listed>;
  watch(cluster: Cluster, at: At, options: WatchOptions): WatchFeed | Promise<WatchFeed>;
  update(cluster: Cluster, at: At, body: unknown, caller: Caller): Promise<Written>;
  patch(
    cluster: Cluster,
    at: At,
    patch: { readonly type: PatchType; readonly body: Json; readonly force?: boolean },
    caller: Caller,
  ): Promise<Written>;
  remove(
    cluster: Cluster,
    at: At,
    options: DeleteOptions,
    caller: Caller,
  ): Promise<{ readonly stored: Stored; readonly gone: boolean; readonly returnsObject: boolean }>;
  deleteCollection(
    cluster: Cluster,
    at: At,
    options: ListOptions & DeleteOptions,
    caller: Caller,
  ): Promise<readonly Stored[]>;
}

export interface HttpCluster {
  readonly cluster: Cluster;
  readonly verbs: Verbs;
  /** Without credentials: the anonymous user. With an invalid token: a 401 error. */
  authenticate(credentials: Credentials): User | ApiError;
  /** Named health checks; each returns an error, or undefined. */
  readonly checks?: Readonly<Record<string, () => string | undefined>>;
  /** The documents with which other programs verify ServiceAccount tokens. */
  readonly openid?: { configuration(): Json; keys(): Json };
}
