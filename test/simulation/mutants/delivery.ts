// Mutants of deliveries: placement, scheduler, rollout, work generator and applier. Protections against a stale hub are
// tested best with two active hubs, each with its own cache.
import type { Mutant } from './mutant.ts';

export const deliveryMutants: readonly Mutant[] = [
  // ---- a stale hub
  {
    name: 'asks for all missing members but the first',
    danger: 'A watch is behind, and a cluster is given up whose member never left.',
    file: 'src/hub/scheduler/controller.ts',
    find: '({ spec }) => missingMember(view, spec.targetCluster)),',
    replace: '({ spec }) => missingMember(view, spec.targetCluster)).slice(1),',
    caughtBy: 'delivery-two-leaders',
    alone: true,
  },
  {
    name: 'asks for a missing member and takes the word of its own cache',
    danger: 'The question is there, the answer is what was known before.',
    file: 'src/hub/members/missing-member.ts',
    find: ', name: cluster, live: true }',
    replace: ', name: cluster }',
    caughtBy: 'delivery-two-leaders',
    alone: true,
  },
  {
    name: 'never asks for a missing member',
    danger:
      'Whatever a watch has not told yet counts as gone: clusters are given up, and copies taken away whatever the budget.',
    file: 'src/hub/members/missing-member.ts',
    find: 'return view.getFull(refOf(cluster)) === undefined ? [refOf(cluster)] : [];',
    replace: 'return view.getFull(refOf(cluster)) === undefined ? [] : [];',
    caughtBy: 'delivery-two-leaders',
    alone: true,
  },
  // ---- status
  {
    name: 'reports progress while the placement as a whole is held',
    danger: 'A wait for a condition passes although nothing of the new revision has moved.',
    file: 'src/hub/placement/status.ts',
    find: 'const [first] = input.holds;',
    replace: 'const [first] = input.holds.slice(1);',
    caughtBy: 'delivery',
  },
  // ---- health and budget
  {
    name: 'believes what a binding said of an earlier order',
    danger: 'The next cluster is moved while the last one has not even begun.',
    file: 'src/hub/planners/health.ts',
    find: 'return condition?.observedGeneration === metadata.generation ? condition : undefined;',
    replace: 'return condition;',
    caughtBy: 'delivery',
  },
  {
    name: 'believes what a member said of an earlier Work',
    danger: 'A revision counts as healthy that no cluster has seen.',
    file: 'src/hub/work-generator/summary.ts',
    find: 'return condition?.observedGeneration === metadata.generation ? condition : undefined;',
    replace: 'return condition;',
    caughtBy: 'delivery',
  },
  {
    name: 'moves all that are behind at once',
    danger: 'A bad release reaches the whole fleet.',
    file: 'src/hub/planners/rolling.ts',
    find: 'toUpdate.slice(0, Math.max(0, forUpdates))',
    replace: 'toUpdate.slice(0, Math.max(0, forUpdates) + 1)',
    caughtBy: 'delivery',
  },
  {
    name: 'takes what was true of an order for true of the next when the member is busy',
    danger: 'A member has no time to be asked, and the new image counts as available where the old one runs.',
    file: 'src/member/apply/one.ts',
    find: '  before.desiredHash === desiredHash &&\n  before.outcome.refusal === undefined &&\n  (before.transientErrors',
    replace: "  desiredHash !== '' &&\n  before.outcome.refusal === undefined &&\n  (before.transientErrors",
    caughtBy: 'delivery',
    alone: true,
  },
  // ---- placed objects
  {
    name: 'does not find a Work that has lost its labels',
    danger: 'Somebody takes a label away, and what was placed stays for ever.',
    file: 'src/hub/work-generator/whose-work.ts',
    find: '  isOf(binding, each) || (each.metadata.labels?.[labels.parentBinding] === undefined && !isForeign(binding, each));',
    replace: '  isOf(binding, each);',
    caughtBy: 'delivery',
  },
  {
    name: 'removes nothing that an order no longer names',
    danger: 'What was taken out of the hub stays on the members.',
    file: 'src/member/apply/left-overs.ts',
    find: 'if (identifier.name !== undefined && !inSpec.has(text) && !found.has(text))',
    replace: 'if (identifier.name === undefined && !inSpec.has(text) && !found.has(text))',
    caughtBy: 'delivery',
  },
  {
    name: 'lets a binding go while the member still cleans up',
    danger: 'A successor is placed into what is being deleted.',
    file: 'src/hub/work-generator/clean-up.ts',
    find: 'if (own.length > 0) {',
    replace: 'if (live.length > 0) {',
    caughtBy: 'delivery',
  },
  // ---- members that leave
  {
    name: 'takes the Works of a member that leaves away',
    danger: 'A member leaves the fleet, and what runs on it is deleted with the bindings.',
    file: 'src/hub/work-generator/clean-up.ts',
    find: 'const own = survivor === undefined && !isMemberLeaving ?',
    replace: 'const own = survivor === undefined ?',
    caughtBy: 'delivery',
  },
];
