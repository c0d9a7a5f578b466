// Carries out one eviction of a placement at a time, from the verdict to its final status. Guarantees: the intent is
// recorded on the eviction and on the binding before the binding is deleted, so that a crash at any write leads to the
// same outcome; Executed True is written only once the deletion of the binding is observed; a finished eviction is
// never evaluated again; if two leaders evict at once under one budget, one finds its mark revoked and evaluates again
// (docs/evictions.md).
import type { Condition } from '../../api/conditions.ts';
import type { DisruptionBudgetSpec } from '../../api/disruption-budget.ts';
import type { EvictionCondition, EvictionReason } from '../../api/eviction.ts';
import { annotations } from '../../api/names.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { kubeTime } from '../../base/clock.ts';
import { by } from '../../base/compare.ts';
import { assertUnchanged, patch, patchStatus, recordEvent, remove, seen } from '../../runtime/actions.ts';
import { type Decision, idle, type Source } from '../../runtime/controller.ts';
import { evictionSource, type HubEviction, isTerminal } from '../eviction-source.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';
import { type Allowance, judgeEviction, messageOf, VALID } from './verdict.ts';

export interface Observed {
  /** The evictions of one placement. */
  readonly evictions: readonly HubEviction[];
  readonly placement: HubPlacement | undefined;
  readonly bindings: readonly HubBinding[];
  readonly source: Source<HubBinding>;
  readonly budget: DisruptionBudgetSpec | undefined;
  /** Evictions created before this time are not carried out (epoch milliseconds). */
  readonly since?: number;
  readonly now: number;
}

/** The eviction to carry out: a started one first, then the oldest. */
export const nextOf = (evictions: readonly HubEviction[]): HubEviction | undefined =>
  evictions
    .filter((each) => !isTerminal(each) && each.metadata.deletionTimestamp === undefined)
    .toSorted(
      by((each) => `${intentOf(each) === undefined ? 1 : 0} ${each.metadata.creationTimestamp} ${each.metadata.name}`),
    )[0];

export function decide(observed: Observed): Decision {
  const { evictions, bindings, source, since, now, ...found } = observed;
  const eviction = nextOf(evictions);
  if (eviction === undefined) return idle('no eviction is open');
  const intent = intentOf(eviction);
  if (intent !== undefined) {
    const target = bindings.find(({ metadata }) => metadata.uid === intent.binding);
    if (target?.metadata.deletionTimestamp !== undefined || target === undefined) {
      return end(eviction, 'executed', messageOf(intent.allowance), now);
    }
  } else if (
    since !== undefined &&
    Date.parse(eviction.metadata.creationTimestamp ?? '') < Math.floor(since / 1000) * 1000
  ) {
    return end(eviction, 'invalid', tooEarly(since), now);
  }
  const verdict = judgeEviction({ ...found, bindings, cluster: eviction.spec.clusterName });
  if (verdict.end !== 'evict') return end(eviction, verdict.end, verdict.message, now);

  const { binding, allowance } = verdict;
  const { uid = '' } = eviction.metadata;
  const text = intentText(binding, allowance);
  const notes = [
    ...(eviction.metadata.annotations?.[annotations.evicting] === text
      ? []
      : [
          patch(
            seen(evictionSource, eviction),
            annotated(annotations.evicting, text),
            'records which binding it deletes',
          ),
        ]),
    ...(binding.metadata.annotations?.[annotations.evictedBy] === uid
      ? []
      : [patch(seen(source, binding), annotated(annotations.evictedBy, uid), 'records who deletes the binding')]),
  ];
  const because = `evicts from cluster "${eviction.spec.clusterName}": ${messageOf(allowance)}`;
  if (notes.length > 0) return { steps: [notes], holds: [], again: 'at once', because };
  return {
    steps: [
      // A hub with a stale cache would carry out an eviction that was deleted, or that another leader has finished.
      [assertUnchanged(seen(evictionSource, eviction), 'makes sure that the eviction is still open')],
      ...(allowance.code === 'budget' ? revocations(observed, uid) : []),
      [remove(seen(source, binding), because)],
    ],
    holds: [],
    again: 'at once',
    because,
  };
}

/**
 * Another leader that marked a binding before these bindings were read may have counted the same ones as available. Its
 * deletion requires the marked binding, so it fails once the mark is revoked.
 */
function revocations({ bindings, source }: Observed, uid: string): Decision['steps'] {
  const others = bindings.filter(({ metadata }) => {
    const by = metadata.annotations?.[annotations.evictedBy];
    return by !== undefined && by !== uid && metadata.deletionTimestamp === undefined;
  });
  if (others.length === 0) return [];
  const because = 'another eviction may have been judged by the same numbers';
  return [others.map((each) => patch(seen(source, each), annotated(annotations.evictedBy, null), because))];
}

const annotated = (name: string, value: string | null) => ({ metadata: { annotations: { [name]: value } } });

const tooEarly = (since: number): string =>
  `Eviction was created before ${kubeTime(since)}, when this hub began to carry out evictions; delete it and create it again`;

// ---- the recorded intent

interface Intent {
  readonly binding: string;
  readonly allowance: Allowance;
}

const intentText = ({ metadata }: HubBinding, allowance: Allowance): string =>
  [metadata.uid, allowance.code, ...(allowance.code === 'budget' ? [allowance.available, allowance.total] : [])].join(
    ' ',
  );

function intentOf({ metadata }: HubEviction): Intent | undefined {
  const [binding = '', code, available = '', total = ''] = (metadata.annotations?.[annotations.evicting] ?? '').split(
    ' ',
  );
  if (code === 'failed' || code === 'no-budget') return { binding, allowance: { code } };
  if (code !== 'budget' || ![available, total].every((each) => /^\d{1,9}$/.test(each))) return undefined;
  return { binding, allowance: { code, available: Number(available), total: Number(total) } };
}

// ---- outcomes

type End = 'invalid' | 'executed' | 'blocked';

function conditionsOf(eviction: HubEviction, outcome: End, message: string, now: number): readonly Condition[] {
  const { generation } = eviction.metadata;
  const said = (type: EvictionCondition, isTrue: boolean, reason: EvictionReason, text: string): Condition =>
    nextCondition(
      conditionOf(eviction.conditions, type),
      {
        type,
        status: isTrue ? 'True' : 'False',
        reason,
        message: text,
        ...(generation === undefined ? {} : { observedGeneration: generation }),
      },
      now,
    );
  if (outcome === 'invalid') return [said('Valid', false, 'ClusterResourcePlacementEvictionInvalid', message)];
  return [
    said('Valid', true, 'ClusterResourcePlacementEvictionValid', VALID),
    outcome === 'executed'
      ? said('Executed', true, 'ClusterResourcePlacementEvictionExecuted', message)
      : said('Executed', false, 'ClusterResourcePlacementEvictionNotExecuted', message),
  ];
}

function end(eviction: HubEviction, outcome: End, message: string, now: number): Decision {
  const conditions = conditionsOf(eviction, outcome, message, now);
  const last = conditions.at(-1) as Condition;
  return {
    steps: [
      [patchStatus(seen(evictionSource, eviction), { conditions }, message)],
      [
        recordEvent(evictionSource, eviction, {
          type: outcome === 'executed' ? 'Normal' : 'Warning',
          reason: last.reason,
          message: `cluster "${eviction.spec.clusterName}": ${message}`,
        }),
      ],
    ],
    holds: [],
    again: 'at once',
    because: message,
  };
}
