// GET of a collection. All pages of one list show the state of the first page: later changes are undone with the
// history window, and if that does not reach back far enough the client must list again.
import { badRequest, expired } from '../../api/status.ts';
import { byText } from '../../base/compare.ts';
import { isObject } from '../../base/json.ts';
import { inSlices } from '../../base/slices.ts';
import type { Cluster } from '../cluster.ts';
import { keyIn, prefixIn } from '../resource-key.ts';
import type { Store, Stored } from '../store/store.ts';
import type { At, Listed, ListOptions } from './call.ts';
import { checkMatch, parseRevision, tooLargeRevision } from './revision.ts';
import { select } from './select.ts';

const TOO_OLD_TO_CONTINUE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.';

/** Returns a promise only if evaluating the selector takes long. */
export function list(cluster: Cluster, at: At, options: ListOptions): Listed | Promise<Listed> {
  const { store } = cluster;
  const selected = select(at, options);
  const prefix = prefixIn(at.resource, at.namespace);
  const limit = options.limit && options.limit > 0 ? options.limit : undefined;
  checkMatch(options.revisionMatch, options.revision, Boolean(options.continue));

  if (options.continue && options.revision && options.revision !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const page = options.continue ? parseContinue(options.continue, prefix) : undefined;
  const asked = page?.revision ?? parseRevision(options.revision);
  if (asked !== undefined && asked > store.visible) throw tooLargeRevision(asked, store.visible);
  const isExact = page !== undefined || options.revisionMatch === 'Exact';
  const revision = isExact && asked !== undefined ? asked : store.visible;

  if (selected.name !== undefined && revision === store.visible && page === undefined && at.namespace !== '') {
    const one = store.get(keyIn(at.resource, at.namespace, selected.name));
    return { items: one && selected.matches(one.object()) ? [one] : [], revision };
  }

  const pastOf = revision === store.visible ? undefined : past(store, prefix, revision, page !== undefined);
  if (selected.all) {
    const found = rangeAt(store, prefix, pastOf, { after: page?.after, limit });
    return answer(found.items, revision, found.more ? found.remaining : 0);
  }
  // With a selector the number of remaining objects is unknown without reading all of them, so a page stops at its
  // first surplus match. All items are collected before the first pause: later writes belong to later revisions.
  const items: Stored[] = [];
  let remaining = 0;
  const looking = inSlices(
    cluster.clock,
    'list',
    rangeAt(store, prefix, pastOf, { after: page?.after }).items,
    (stored) => {
      if (!selected.matches(stored.object())) return undefined;
      if (items.length === limit) {
        remaining = -1;
        return 'stop';
      }
      items.push(stored);
      return undefined;
    },
  );
  const found = () => answer(items, revision, remaining);
  return looking === undefined ? found() : looking.then(found);
}

/** `remaining`: 0 = this is all, -1 = there are more, number unknown. */
function answer(items: readonly Stored[], revision: number, remaining: number): Listed {
  const last = items.at(-1);
  if (remaining === 0 || !last) return { items, revision };
  return {
    items,
    revision,
    continue: continueToken(revision, last.key),
    ...(remaining > 0 ? { remaining } : {}),
  };
}

const continueToken = (revision: number, after: string): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: after })).toString('base64url');

function parseContinue(token: string, prefix: string): { readonly revision: number; readonly after: string } {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    throw badRequest('invalid continue token: continue key is not valid: it is not one that this server gave out');
  }
  if (!isObject(value) || value['v'] !== 'meta.k8s.io/v1') {
    throw badRequest(
      'invalid continue token: continue key is not valid: server does not recognize this encoded version',
    );
  }
  const { rv, start } = value;
  if (!Number.isSafeInteger(rv) || (rv as number) < 1 || typeof start !== 'string' || !start.startsWith(prefix)) {
    throw badRequest('invalid continue token: continue key is not valid: encoded start key or revision is wrong');
  }
  return { revision: rv as number, after: start };
}

// ---- the state at an older revision: the current one, with later changes undone

type Past = ReadonlyMap<string, Stored | undefined>;

function past(store: Store, prefix: string, revision: number, isContinued: boolean): Past {
  const changes = store.since(revision, prefix);
  if (changes === 'compacted') {
    throw expired(isContinued ? TOO_OLD_TO_CONTINUE : `The resourceVersion for the provided list is too old.`);
  }
  const before = new Map<string, Stored | undefined>();
  for (const change of changes) if (!before.has(change.key)) before.set(change.key, change.previous);
  return before;
}

function rangeAt(
  store: Store,
  prefix: string,
  before: Past | undefined,
  page: { readonly after?: string | undefined; readonly limit?: number | undefined },
): { readonly items: readonly Stored[]; readonly more: boolean; readonly remaining: number } {
  const { after, limit } = page;
  const asked = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) };
  if (!before || before.size === 0) return store.range(prefix, asked);
  const isAhead = (key: string) => after === undefined || key > after;
  const then = [...before.values()].filter((stored) => stored !== undefined).filter(({ key }) => isAhead(key));
  // Only changed keys can be missing from the current objects, so a page needs to read only that many more.
  const found = store.range(prefix, limit === undefined ? asked : { ...asked, limit: limit + before.size });
  const now = found.items.filter(({ key }) => !before.has(key));
  const items = [...now, ...then].sort((a, b) => byText(a.key, b.key));
  const kept = limit === undefined ? items : items.slice(0, limit);
  const changed = [...before.keys()].filter((key) => isAhead(key) && store.get(key) !== undefined);
  const total = found.items.length + found.remaining - changed.length + then.length;
  return { items: kept, more: kept.length < total, remaining: total - kept.length };
}
