// A watch with a pull interface. Nothing is queued per watcher: it remembers a revision and reads later changes from
// the store.
import { expired, forbiddenField, invalid, qualified } from '../../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { prefixIn } from '../resource-key.ts';
import type { Change, Stored } from '../store/store.ts';
import { DeletedStored } from '../store/stored-form.ts';
import type { At, FeedEvent, Listed, WatchFeed, WatchOptions } from './call.ts';
import { list } from './list.ts';
import { parseRevision, tooLargeRevision } from './revision.ts';
import { type Selected, select } from './select.ts';

/** Returns a promise only if listing the initial state takes long. */
export function watch(cluster: Cluster, at: At, options: WatchOptions): WatchFeed | Promise<WatchFeed> {
  const { store } = cluster;
  const selected = select(at, options);
  checkOptions(options);
  const asked = parseRevision(options.revision);
  if (asked !== undefined && asked > store.visible) throw tooLargeRevision(asked, store.visible);

  // Without a revision, or from 0, a watch begins with the current objects.
  const startsWithState = options.sendInitialEvents ?? (asked === undefined || asked === 0);
  if (!startsWithState) return feedFrom(cluster, at, selected, asked ?? store.visible, []);
  const { labels = '', fields = '' } = options;
  const listed = list(cluster, at, { labels, fields });
  const begin = (state: Listed) => feedFrom(cluster, at, selected, state.revision, initialEvents(state, options));
  return listed instanceof Promise ? listed.then(begin) : begin(listed);
}

function feedFrom(cluster: Cluster, at: At, selected: Selected, start: number, begin: readonly FeedEvent[]): WatchFeed {
  const { store } = cluster;
  const prefix = prefixIn(at.resource, at.namespace);
  let revision = start;
  let initial = begin;
  return {
    get revision() {
      return revision;
    },
    pull() {
      const changes = store.since(revision, prefix);
      if (changes === 'compacted') throw expired(`too old resource version: ${revision} (${store.visible})`);
      revision = store.visible;
      if (initial.length === 0 && changes.length === 0) {
        // A CRD that was changed or deleted ends its watches: a client then lists again and gets the current
        // definition.
        if (!isServed(cluster, at)) throw expired(`${qualified(at.resource)} is no longer served as it was`);
        return initial;
      }
      const events = [...initial];
      initial = [];
      for (const change of changes) {
        const event = eventOf(change, selected);
        if (event) events.push(event);
      }
      return events;
    },
    onWake: (wake) => store.subscribe(prefix, wake),
  };
}

const isServed = ({ registry }: Cluster, { resource, version }: At): boolean =>
  !resource.custom || registry.find(resource.group, version.version, resource.plural)?.resource === resource;

function initialEvents(listed: Listed, options: WatchOptions): FeedEvent[] {
  const events: FeedEvent[] = listed.items.map((stored) => ({ type: 'ADDED', stored, revision: stored.revision }));
  if (options.sendInitialEvents && options.bookmarks) {
    events.push({ type: 'BOOKMARK', revision: listed.revision, initialEventsEnd: true });
  }
  return events;
}

/**
 * The event of a change for a watcher with a selector: an object that starts to match is ADDED, one that stops is
 * DELETED.
 */
function eventOf(change: Change, selected: Selected): FeedEvent | undefined {
  const { stored, previous, deleted, revision } = change;
  if (selected.all) {
    return { type: deleted ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED', stored, revision };
  }
  const matched = previous !== undefined && selected.matches(previous.object());
  const matches = !deleted && selected.matches(stored.object());
  if (matches) return { type: matched ? 'MODIFIED' : 'ADDED', stored, revision };
  return matched ? { type: 'DELETED', stored: asLastMatched(stored, previous), revision } : undefined;
}

const lastMatched = new WeakMap<Stored, Stored>();

/**
 * An object that stops matching is sent in its last matching state, at the revision of the change, as for a deletion.
 */
function asLastMatched(stored: Stored, previous: Stored): Stored {
  let shown = lastMatched.get(stored);
  if (shown === undefined) {
    shown = new DeletedStored(previous, stored.revision);
    lastMatched.set(stored, shown);
  }
  return shown;
}

function checkOptions(options: WatchOptions): void {
  const causes =
    options.sendInitialEvents !== undefined && options.revisionMatch !== 'NotOlderThan'
      ? [
          forbiddenField(
            'resourceVersionMatch',
            'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
          ),
        ]
      : options.sendInitialEvents === undefined && options.revisionMatch
        ? [
            forbiddenField(
              'resourceVersionMatch',
              'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
            ),
          ]
        : [];
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
}
