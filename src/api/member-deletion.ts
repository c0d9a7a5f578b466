// Rejects the deletion of a member whose exported Services are still in use, on a hub that expects networking agents.
// Pure.
import type { AdmitQuestion, AdmitRead, AdmitRequest, Admitted, Kind, Resource } from './kind.ts';
import { type MemberClusterSpec, memberCluster } from './member-cluster.ts';
import type { MemberStatus } from './member-status.ts';
import { memberNamespace } from './names.ts';
import type { KubeObject } from './object.ts';
import { forbiddenField } from './status.ts';

/** A kind of KubeFleet's networking agents; a hub without its CRD has none of its objects. */
const EXPORTS: Resource = {
  group: 'networking.fleet.azure.com',
  version: 'v1beta1',
  kind: 'InternalServiceExport',
  plural: 'internalserviceexports',
  namespaced: true,
};

type Question = AdmitQuestion<MemberClusterSpec, MemberStatus>;

/** A deletion that has begun, or that has validationMode Skip, is not checked. */
const isJudged = ({ verb, old }: Question): boolean =>
  verb === 'delete' &&
  old?.metadata.deletionTimestamp === undefined &&
  old?.spec?.deleteOptions?.validationMode !== 'Skip';

const placeOf = ({ old }: Question): string => memberNamespace(old?.metadata.name ?? '');

const reads = (question: Question): readonly AdmitRead[] =>
  isJudged(question) ? [{ resource: EXPORTS, namespace: placeOf(question) }] : [];

function refusal(request: AdmitRequest<MemberClusterSpec, MemberStatus>): Admitted | undefined {
  if (!isJudged(request)) return undefined;
  const exported = request.lookup
    .list(EXPORTS, placeOf(request))
    .find(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (exported === undefined) return undefined;
  const why = `ServiceExport "${nameOf(exported)}" of this member is still there: delete it on the member first, or set Skip`;
  return { ok: false, causes: [forbiddenField('spec.deleteOptions.validationMode', why)] };
}

/** The name on the member. */
function nameOf({ metadata, spec }: KubeObject): string {
  const { serviceReference } = (spec ?? {}) as { readonly serviceReference?: { readonly namespacedName?: string } };
  return serviceReference?.namespacedName ?? metadata.name ?? '';
}

/** The MemberCluster kind of a hub that expects networking agents. */
export const networkedMemberCluster: Kind<MemberClusterSpec, MemberStatus> = Object.freeze({
  ...memberCluster,
  reads,
  admit: (request: AdmitRequest<MemberClusterSpec, MemberStatus>): Admitted =>
    refusal(request) ??
    memberCluster.admit?.(request) ?? { ok: true, object: (request.object ?? request.old) as KubeObject, warnings: [] },
});
