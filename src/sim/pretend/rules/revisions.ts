// The history of a StatefulSet or DaemonSet: one numbered ControllerRevision per template; a template that is used
// again gets the highest number.

import type { ControllerRevision, PodTemplate } from '../../../api/builtin/shapes.ts';
import type { Resource } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { by } from '../../../base/compare.ts';
import { deepEqual } from '../../../base/json.ts';
import { templateHash } from '../names.ts';
import { isDeleting } from '../reading.ts';
import { controllerRevisions } from '../resources.ts';
import { managedBy, type Write } from '../rule.ts';

export interface History {
  /** Name of the revision of the current template. */
  readonly name: string;
  readonly hash: string;
  /** Writes that must precede the creation of Pods of this revision. */
  readonly writes: readonly Write[];
}

interface Owner {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly template: PodTemplate;
  readonly hashLabel: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function historyOf(
  { resource, object, template, hashLabel, annotations }: Owner,
  revisions: readonly ControllerRevision[],
): History {
  const highest = Math.max(0, ...revisions.map((each) => each.revision));
  const { name: owner = '', namespace = '' } = object.metadata;
  const known = revisions.find((each) => deepEqual(templateIn(each), template));
  if (known !== undefined) {
    const name = known.metadata.name ?? '';
    const hash = known.metadata.labels?.[hashLabel] ?? name.slice(owner.length + 1);
    if (known.revision === highest) return { name, hash, writes: [] };
    const merge = { revision: highest + 1 };
    return {
      name,
      hash,
      writes: [{ do: 'patch', resource: controllerRevisions, of: known, merge, because: 'this template is back' }],
    };
  }
  const hash = templateHash(template);
  const name = `${owner}-${hash}`;
  const created: ControllerRevision = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [managedBy(resource, object)],
    },
    data: { spec: { template: { ...template, $patch: 'replace' } as PodTemplate } },
    revision: highest + 1,
  };
  return {
    name,
    hash,
    writes: [{ do: 'create', resource: controllerRevisions, object: created, because: `revision ${highest + 1}` }],
  };
}

/** The template of a revision. */
export function templateIn({ data }: ControllerRevision): PodTemplate | undefined {
  const { $patch: _patch, ...template } = (data?.spec?.template ?? {}) as PodTemplate & { readonly $patch?: string };
  return template.spec === undefined ? undefined : template;
}

/** Revisions beyond the limit that no Pod and no status references, oldest first. */
export function trimHistory(
  revisions: readonly ControllerRevision[],
  used: ReadonlySet<string>,
  limit = 10,
): readonly Write[] {
  const unused = revisions.filter((each) => !used.has(each.metadata.name ?? '') && !isDeleting(each));
  return unused
    .toSorted((a, b) => a.revision - b.revision || by((each: ControllerRevision) => each.metadata.name ?? '')(a, b))
    .slice(0, Math.max(0, unused.length - limit))
    .map((of): Write => ({ do: 'delete', resource: controllerRevisions, of, because: 'beyond revisionHistoryLimit' }));
}
