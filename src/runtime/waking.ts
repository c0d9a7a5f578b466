// From watch events to keys: which keys of which controllers a change concerns, and when they run.
// Guarantees: no wake-up is lost; a controller is not woken before all that it watches is known, nor by its own writes.
import { messageOf } from '../base/errors.ts';
import { type Change, keyOf } from './cache.ts';
import type { Projected, ServerName, View, WatchRule } from './controller.ts';
import { forWait } from './due.ts';
import { FIRST_LIST, namespacePart, partText, specText, WHOLE_COLLECTION } from './full-objects.ts';
import type { Informer } from './informers.ts';
import { collectionText, type Place, placeText } from './place.ts';
import type { Coalesced } from './queue.ts';
import type { Running } from './running.ts';
import { type Author, own, type RunningManager } from './running-manager.ts';

const WALK_CHUNK = 256;

/** A watch has received its first list. */
export function onListed(manager: RunningManager, informer: Informer): void {
  if (informer.close !== undefined) {
    wakeReaders(manager, informer, FIRST_LIST);
    return;
  }
  for (const each of manager.running) {
    if (!each.isReady) makeReady(manager, each);
    // An optional source is listed now, so every key may find objects that it took for absent.
    else if (each.controller.watches.some(({ source }) => source === informer.source))
      own(manager, walk(manager, each));
  }
  if (manager.running.every(({ isReady }) => isReady)) manager.synced.resolve();
}

export function makeReady(manager: RunningManager, each: Running): void {
  if (!each.informers.every(({ isSynced }) => isSynced)) return;
  each.isReady = true;
  for (const key of each.early) wake(manager, each, key, 'fresh');
  each.early.clear();
  own(manager, walk(manager, each));
}

export function dispatch(manager: RunningManager, informer: Informer, change: Change<Projected>): void {
  const place = `${collectionText(informer.source.on, informer.source.resource)}/${change.key}`;
  manager.news = { place, revision: change.item?.metadata.resourceVersion };
  try {
    tell(manager, informer, change, place);
  } finally {
    manager.news = undefined;
  }
}

function tell(manager: RunningManager, informer: Informer, change: Change<Projected>, place: string): void {
  const spec = hasNewSpec(change) ? specText(place) : undefined;
  for (const each of manager.running) {
    if (!each.isReady || each.dependents.size === 0) continue;
    for (const key of [...each.dependents.of(place)]) wake(manager, each, key, 'fresh');
    if (spec !== undefined) for (const key of [...each.dependents.of(spec)]) wake(manager, each, key, 'fresh');
  }
  // While a source is being listed, no key is woken: `walk` wakes all of them when the list is complete.
  if (!informer.isSynced) return;
  if (informer.close !== undefined) tellReaders(manager, informer, change);
  if (change.isSame) return;
  for (const { rule, of } of manager.rulesOf.get(informer) ?? []) {
    if (!of.isReady) continue;
    for (const key of keysFor(manager, of, rule, change)) {
      const notBefore = rule.wait && forWait(rule.wait, of.memories.get(key), manager.deps.clock.now());
      wake(manager, of, key, rule.as ?? 'fresh', notBefore);
    }
  }
}

/** Without a projection every change counts: the data of a ConfigMap, say, is not in the metadata that is watched. */
function tellReaders(manager: RunningManager, informer: Informer, { key, item, old, isSame }: Change<Projected>): void {
  if (isSame && informer.source.project !== undefined) return;
  const namespace = (item ?? old)?.metadata.namespace;
  wakeReaders(manager, informer, WHOLE_COLLECTION);
  wakeReaders(manager, informer, key);
  if (namespace !== undefined) wakeReaders(manager, informer, namespacePart(namespace));
}

export function wakeReaders(manager: RunningManager, informer: Informer, part: string): void {
  for (const each of manager.running) {
    for (const key of [...each.dependents.of(partText(informer, part))]) wake(manager, each, key, 'fresh');
  }
}

/** Whether a pass has read this object in full. */
export function isLookedAt({ running }: RunningManager, place: Place): boolean {
  const text = placeText(place);
  const spec = specText(text);
  return running.some(({ dependents }) => dependents.has(text) || dependents.has(spec));
}

function keysFor(manager: RunningManager, of: Running, rule: WatchRule, { item, old }: Sides): readonly string[] {
  const { deps, metrics } = manager;
  const now = deps.clock.now();
  if (of.view?.now !== now) of.view = of.viewAt(now);
  const view = of.view as View;
  try {
    const all = bothSides(rule, { item, old }, view);
    const { onlyIf } = rule;
    const keys = onlyIf === undefined ? all : all.filter((key) => of.memories.has(key) && onlyIf(of.memories.get(key)));
    noteIn(of, rule, { item, old }, keys);
    return keys;
  } catch (error) {
    const name = keyOf((item ?? old)?.metadata.namespace, (item ?? old)?.metadata.name ?? '');
    metrics.failed(of.controller.name, 'invariant');
    deps.log.error('failed to map a change to keys', {
      controller: of.controller.name,
      resource: rule.source.resource.plural,
      name,
      error: messageOf(error),
    });
    return [];
  }
}

/** A server answers again after an outage. Keys that are running are retried at the end of their pass, if need be. */
export function retryUnanswered(manager: RunningManager, on: ServerName): void {
  if (manager.isStopping) return;
  for (const { source, reflector } of manager.informers.all) if (source.on === on) reflector?.retryNow();
  for (const each of manager.running) {
    for (const [key, servers] of each.unanswered) {
      if (servers.has(on) && !each.busy.has(key)) each.queue.retryNow(key);
    }
    countDepth(manager, each);
  }
}

export function wakeFromOutside(manager: RunningManager, of: Running, key: string): void {
  if (manager.isStopping) return;
  if (of.isReady) wake(manager, of, key, 'fresh');
  else of.early.add(key);
}

export function wake(manager: RunningManager, of: Running, key: string, as: Coalesced | 'resync', notBefore = 0): void {
  const { author, news, ownWrites } = manager;
  const isPass = (each: Author) => each.of === of && each.key === key;
  if (author !== undefined && isPass(author)) return;
  if (news !== undefined && ownWrites.keeps(news.place, news.revision, isPass)) return;
  if (as !== 'resync' && notBefore > manager.deps.clock.now()) of.queue.addAt(key, notBefore, as);
  else of.queue.add(key, as);
  countDepth(manager, of);
}

export function countDepth({ metrics }: RunningManager, of: Running): void {
  const { waiting } = of.queue;
  if (waiting !== of.depth) metrics.depth(of.controller.name, waiting - of.depth);
  of.depth = waiting;
}

/** Wakes every key of a controller, with less priority than changes. */
export async function walk(manager: RunningManager, each: Running): Promise<void> {
  for (const rule of each.controller.watches) {
    const { cache } = manager.informers.of(rule.source);
    let count = 0;
    for (const key of [...cache.keys()]) {
      if (manager.isStopping) return;
      const item = cache.get(key);
      if (item !== undefined)
        for (const woken of keysFor(manager, each, rule, { item })) wake(manager, each, woken, 'resync');
      if (++count % WALK_CHUNK === 0) await manager.slice.turn();
    }
  }
}

/** True also for a created or deleted object, and for a kind without generations. */
const hasNewSpec = ({ item, old }: Change<Projected>): boolean =>
  item === undefined ||
  old === undefined ||
  item.metadata.uid !== old.metadata.uid ||
  item.metadata.generation === undefined ||
  item.metadata.generation !== old.metadata.generation;

type Sides = Pick<Change<Projected>, 'item' | 'old'>;

/** Maps the object before and after the change, so that the former owner is woken, too. */
function bothSides(rule: WatchRule, { item, old }: Sides, view: View): readonly string[] {
  if (item === undefined) return old === undefined ? [] : rule.toKeys(old, view);
  if (old === undefined) return rule.toKeys(item, view);
  return [...new Set([...rule.toKeys(item, view, old), ...rule.toKeys(old, view, item)])];
}

function noteIn({ memories }: Running, rule: WatchRule, { item, old }: Sides, keys: readonly string[]): void {
  const [now, before] = item === undefined ? [old] : [item, old];
  if (rule.note === undefined || now === undefined) return;
  for (const key of keys) if (memories.has(key)) rule.note(memories.get(key), now, before);
}
