import { describe, expect, test } from 'vitest';
import { finalizers, labels } from '../../api/names.ts';
import type { Action, Decision } from '../../runtime/controller.ts';
import { families } from '../families.ts';
import type { HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { Content } from '../revisions/content.ts';
import { defaultDelays } from '../revisions/delays.ts';
import { decide } from './decide.ts';
import type { Living, Observed } from './observed.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const content: Content = { resources: [], objects: [], hash: 'h', bytes: 1, sizes: [], envelopes: [] };

describe.each(families)('$placement.kind', (family) => {
  const metadata = {
    name: 'web',
    ...(family.placement.namespaced ? { namespace: 'team' } : {}),
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
  };
  const placement = (more: object = {}, spec: object = {}): HubPlacement =>
    ({
      metadata: { ...metadata, finalizers: [finalizers.placementCleanup], ...more },
      spec: { resourceSelectors: [], revisionHistoryLimit: 10, ...spec },
      conditions: [],
      observedResourceIndex: '',
    }) as unknown as HubPlacement;
  const living = (more: Partial<Living> = {}): Living => ({
    selected: { state: 'selected', content, notes: [] },
    specProblem: undefined,
    bindings: [],
    members: [],
    previous: undefined,
    statusDue: NOW,
    throttle: defaultDelays,
    ...more,
  });
  const observed = (more: Partial<Observed> = {}): Observed => ({
    family,
    placement: placement(),
    policySnapshots: [],
    resourceSnapshots: [],
    living: living(),
    now: NOW,
    ...more,
  });
  const told = (action: Action): string =>
    action.do === 'event'
      ? `tell ${action.reason}`
      : action.do === 'create'
        ? `create ${action.resource.kind}`
        : `${action.do} ${action.of.resource.kind}${'subresource' in action ? ' status' : ''}`;
  const shown = ({ steps }: Decision) => steps.map((step) => step.map(told));
  const { policySnapshot, resourceSnapshot } = {
    policySnapshot: family.policySnapshot.kind,
    resourceSnapshot: family.resourceSnapshot.kind,
  };
  const kind = family.placement.kind;

  test('nothing is made before the finalizer stands; snapshots need not wait for each other', () => {
    expect(shown(decide(observed({ placement: placement({ finalizers: ['other'] }) })))).toEqual([
      [`patch ${kind}`],
      [`create ${policySnapshot}`, `create ${resourceSnapshot}`],
    ]);
  });

  test('at its end all snapshots go before the finalizer, which others’ do not follow', () => {
    const gone = {
      placement: placement({ deletionTimestamp: 'x', finalizers: ['other', finalizers.placementCleanup] }),
      policySnapshots: [{ metadata: { name: 'p' }, spec: {} }] as unknown as HubPolicySnapshot[],
      resourceSnapshots: [{ metadata: { name: 'r' } }] as HubResourceSnapshot[],
    };
    const { living: _, ...deleting } = observed(gone);
    const decision = decide(deleting);
    expect(shown(decision)).toEqual([
      [`delete ${policySnapshot}`],
      [`delete ${resourceSnapshot}`],
      [`patch ${kind}`],
      ['tell PlacementCleanupFinalizerRemoved'],
    ]);
    expect(decision.steps[2]?.[0]).toMatchObject({ merge: { metadata: { finalizers: ['other'] } } });
    const done = decide({ ...deleting, placement: placement({ deletionTimestamp: 'x', finalizers: ['other'] }) });
    expect(done.steps).toEqual([]);
  });

  test('with External it makes no resource snapshots', () => {
    expect(shown(decide(observed({ placement: placement({}, { strategy: { type: 'External' } }) })))).toEqual([
      [`create ${policySnapshot}`],
    ]);
  });

  test.each<[string, Partial<Living>]>([
    ['the spec cannot work', { specProblem: { message: 'x', next: 'y' } }],
    ['the selectors make no sense', { selected: { state: 'invalid', message: 'why' } }],
    ['the selection is not known', { selected: { state: 'pending', kind: 'x', message: 'why', next: 'do this' } }],
  ])('it only tells, when %s', (_name, more) => {
    const decision = decide(observed({ living: living(more) }));
    expect(shown(decision)[0]).toEqual([`patch ${kind} status`]);
    expect(decision.steps.flat().some((action) => action.do === 'create')).toBe(false);
  });

  test('a status that was written a moment ago waits', () => {
    const more = { specProblem: { message: 'x', next: 'y' }, statusDue: NOW + 60 };
    expect(decide(observed({ living: living(more) }))).toMatchObject({ steps: [], coalesceUntil: NOW + 60 });
  });

  test('what cannot be written is told before it is tried again', () => {
    const decision = decide(observed({ failure: { message: 'no room', reason: 'Forbidden' } }));
    expect(decision.holds).toMatchObject([{ code: 'StepRefused', facts: { message: 'no room' } }]);
    expect(shown(decision)[0]).toEqual([`patch ${kind} status`]);
    expect(shown(decision).at(-1)).toEqual([`create ${policySnapshot}`, `create ${resourceSnapshot}`]);
  });

  test('decides nothing about the order of what it sees', () => {
    const snapshots = [3, 1, 2].map((index) => ({
      metadata: { name: `web-${index}`, labels: { [labels.policyIndex]: String(index) } },
      spec: { policyHash: 'x' },
    })) as unknown as HubPolicySnapshot[];
    expect(decide(observed({ policySnapshots: snapshots }))).toEqual(
      decide(observed({ policySnapshots: snapshots.toReversed() })),
    );
  });
});
