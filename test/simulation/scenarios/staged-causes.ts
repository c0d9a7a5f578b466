// Checks the reasons of failed runs against the true state. A failed run is final, so the hub must have read the
// server: a check fails if the cause was not true when the status was sent, and the hub had no response since it
// stopped being true. Only causes that a stale cache could get wrong are checked.
import type { Resource } from '../../../src/api/kind.ts';
import { memberCluster } from '../../../src/api/member-cluster.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { StagedUpdateRun, StageStatus } from '../../../src/api/staged-update-run.ts';
import type { Request } from '../../../src/api/transport.ts';
import { byText } from '../../../src/base/compare.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import type { Happening, Sight } from '../../../src/sim/check.ts';
import { type Chronicle, planOf, requestsOf, stagesOf, type Told } from './staged-chronicle.ts';

/** How long a response may be in flight, or others that are awaited with it. */
const ANSWER_MS = 120_000;

/** The message of a run that has failed, or could not start. */
export const endOf = (run: StagedUpdateRun | undefined): string | undefined =>
  ['Initialized', 'Succeeded']
    .map((type) => conditionOf(run?.status?.conditions, type))
    .find((said) => said?.status === 'False')?.message;

/** Records which hub has read what, and which hub last wrote about which run. */
export class Causes {
  readonly #family: PlacementFamily;
  readonly #hubs: readonly string[];
  readonly #chronicle: Chronicle;
  /** By hub and object: when it was read from the server. */
  readonly #asked = new Map<string, number[]>();
  readonly #sent = new Map<Request, number>();
  /** By run: the author of the last write that arrived, and when it was sent. */
  readonly #authors = new Map<string, { readonly who: string; readonly at: number }>();

  constructor(family: PlacementFamily, hubs: readonly string[], chronicle: Chronicle) {
    this.#family = family;
    this.#hubs = hubs;
    this.#chronicle = chronicle;
  }

  hear(happening: Happening, { now }: Sight): void {
    if (!('request' in happening) || !this.#hubs.includes(happening.who)) return;
    const { who, request, what } = happening;
    const { resource, name = '' } = request.at;
    if (request.verb === 'get' && what === 'executed') {
      const key = askedText(who, resource, name);
      this.#asked.set(key, [...(this.#asked.get(key) ?? []), now]);
    }
    if (request.verb !== 'patch' || resource.kind !== this.#family.run.kind) return;
    if (what === 'sent') this.#sent.set(request, now);
    if (what === 'executed') this.#authors.set(name, { who, at: this.#sent.get(request) ?? now });
    if (what !== 'sent' && what !== 'executed') this.#sent.delete(request);
  }

  /** What is wrong about the reason; undefined = nothing is known to be wrong. */
  untruthIn(end: string, told: Told): string | undefined {
    return (
      this.#aboutRequest(end, told) ?? aboutPolicy(end) ?? this.#aboutFleet(end, told) ?? this.#aboutStages(end, told)
    );
  }

  /** Whether the cause has been false since then, and the author has not read it from the server since. */
  #isLate(told: Told, resource: Resource, name: string, since: number): boolean {
    const author = this.#authors.get(told.name);
    if (author === undefined || since >= author.at) return false;
    const asked = this.#asked.get(askedText(author.who, resource, name)) ?? [];
    return !asked.some((at) => at <= since && at >= author.at - ANSWER_MS);
  }

  #aboutRequest(end: string, told: Told): string | undefined {
    const name = / "([^"]*)" exists and is about something else/.exec(end)?.[1];
    const stage = stagesOf(told.run).find((each) => gatesOf(each).includes(name ?? ''))?.stageName;
    if (name === undefined || stage === undefined) return undefined;
    const until = this.#chronicle.foreignUntil(told, name, stage);
    return this.#isLate(told, this.#family.approvalRequest, name, until)
      ? `there is no ${name} about something else`
      : undefined;
  }

  #aboutFleet(end: string, told: Told): string | undefined {
    const there = namesIn(/left the fleet: ([^;)]*)/.exec(end)?.[1]).find((cluster) => {
      const known = this.#chronicle.labelled(cluster);
      return known?.labels !== undefined && this.#isLate(told, memberCluster, cluster, known.since);
    });
    return there && `${there} is there`;
  }

  #aboutStages(end: string, told: Told): string | undefined {
    const names = new Set(stagesOf(told.run).map(({ stageName }) => stageName));
    const isLate = (cluster: string): boolean =>
      this.#isLate(told, memberCluster, cluster, this.#chronicle.labelled(cluster)?.since ?? Number.POSITIVE_INFINITY);
    const kept = namesIn(/belongs? to no stage: ([^:]*)/.exec(end)?.[1]).find(
      (cluster) => names.has(this.#chronicle.labelled(cluster)?.labels?.['ring'] ?? '') && isLate(cluster),
    );
    if (kept !== undefined) return `${kept} belongs to one`;
    const moved = namesIn(/now in another position: ([^;)]*)/.exec(end)?.[1]);
    return moved.length > 0 && moved.every(isLate) && this.#isInPlace(told) ? 'all are where they were' : undefined;
  }

  #isInPlace({ run }: Told): boolean {
    return stagesOf(run).every(({ stageName, clusters }, at) => {
      const key = planOf(run, at)?.sortingLabelKey;
      const known = clusters.map(({ clusterName }) => this.#chronicle.labelled(clusterName)?.labels);
      if (known.some((labels) => labels?.['ring'] !== stageName)) return false;
      const ranks = known.map((labels) => (key === undefined ? 0 : Number(labels?.[key])));
      return clusters.every(({ clusterName }, place) => {
        const [before, rank] = [ranks[place - 1] ?? Number.NEGATIVE_INFINITY, ranks[place] as number];
        return before < rank || (before === rank && byText(clusters[place - 1]?.clusterName ?? '', clusterName) < 0);
      });
    });
  }
}

const askedText = (who: string, { kind }: Resource, name: string): string => [who, kind, name].join(' ');

const gatesOf = ({ beforeStageTaskStatus, afterStageTaskStatus }: StageStatus): readonly string[] => [
  ...requestsOf(beforeStageTaskStatus),
  ...requestsOf(afterStageTaskStatus),
];

/** Indexes only grow. */
function aboutPolicy(end: string): string | undefined {
  const [, now, before] = /policy snapshot (\d+) has replaced (\d+)/.exec(end) ?? [];
  return Number(now) < Number(before) ? `${before} came after ${now}` : undefined;
}

const namesIn = (list: string | undefined): readonly string[] =>
  (list ?? '')
    .replace(/ and \d+ more$/, '')
    .split(', ')
    .map((name) => name.replaceAll('"', ''))
    .filter((name) => name !== '');
