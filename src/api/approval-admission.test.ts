// The rules as a table, then both scopes on the real API server.
import { describe, expect, test } from 'vitest';
import { aCluster, admin, theHub } from '../../test/cluster.ts';
import { families } from '../hub/families.ts';
import { admitApproval } from './approval-admission.ts';
import type { ApprovalRequest, ApprovalRequestStatus } from './approval-request.ts';
import type { Condition } from './conditions.ts';
import { hubKinds } from './kinds.ts';
import type { User } from './object.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const ann: User = { name: 'ann', groups: ['team', 'system:authenticated'] };
const bob: User = { name: 'bob', groups: [] };

const condition = (type: string, status: string, observedGeneration?: number): Condition =>
  ({
    type,
    status,
    reason: 'R',
    message: '',
    lastTransitionTime: '2025-12-31T00:00:00Z',
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  }) as Condition;
const YES = condition('Approved', 'True', 1);
const NO = condition('Approved', 'False', 1);
const WRONG = condition('Approved', 'True', 7);
const ACCEPTED = condition('ApprovalAccepted', 'True', 1);
const HINT = condition('ApprovalAccepted', 'False', 1);
const by = (user: User, time = '2026-01-01T00:00:00Z') => ({
  user: user.name,
  ...(user.groups.length === 0 ? {} : { groups: user.groups }),
  time,
  generation: 1,
});
const EARLIER = by(bob, '2025-12-31T00:00:00Z');

const request = (status: ApprovalRequestStatus | undefined): ApprovalRequest => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterApprovalRequest',
  metadata: { name: 'r-before-prod', generation: 1 },
  spec: { parentStageRollout: 'r', targetStage: 'prod' },
  ...(status === undefined ? {} : { status }),
});

const admit = (old: ApprovalRequestStatus | undefined, written: ApprovalRequestStatus | undefined, user: User = ann) =>
  admitApproval({
    verb: 'update',
    subresource: 'status',
    dryRun: false,
    now: NOW,
    user,
    object: request(written),
    old: request(old),
    lookup: { get: () => undefined, list: () => [] },
  });

describe('a write to the status of an approval request', () => {
  test.each<{
    it: string;
    old?: ApprovalRequestStatus;
    written?: ApprovalRequestStatus;
    as?: User;
    stored: ApprovalRequestStatus | undefined;
  }>([
    {
      it: 'that approves is signed by the server',
      written: { conditions: [YES] },
      stored: { conditions: [YES], approval: by(ann) },
    },
    {
      it: 'by a user without groups has none in its signature',
      written: { conditions: [YES] },
      as: bob,
      stored: { conditions: [YES], approval: by(bob) },
    },
    {
      it: 'cannot sign in the name of another',
      written: { conditions: [YES], approval: EARLIER },
      stored: { conditions: [YES], approval: by(ann) },
    },
    {
      it: 'cannot sign without approving',
      written: { conditions: [NO], approval: EARLIER },
      stored: { conditions: [NO] },
    },
    { it: 'that says nothing at all stays as it is', stored: undefined },
    { it: 'with an empty list stays as it is', written: { conditions: [] }, stored: { conditions: [] } },
    {
      it: 'that approves once more leaves the first signature',
      old: { conditions: [YES], approval: EARLIER },
      written: { conditions: [{ ...YES, message: 'me too' }] },
      stored: { conditions: [{ ...YES, message: 'me too' }], approval: EARLIER },
    },
    {
      it: 'cannot change a signature',
      old: { conditions: [YES], approval: EARLIER },
      written: { conditions: [YES], approval: by(ann) },
      stored: { conditions: [YES], approval: EARLIER },
    },
    {
      it: 'does not sign what was approved before signatures were kept',
      old: { conditions: [YES] },
      written: { conditions: [YES], approval: by(ann) },
      stored: { conditions: [YES] },
    },
    {
      it: 'that takes an approval back before it was accepted takes the signature back',
      old: { conditions: [YES], approval: EARLIER },
      written: { conditions: [NO], approval: EARLIER },
      stored: { conditions: [NO] },
    },
    {
      it: 'that approves anew signs anew',
      old: { conditions: [NO] },
      written: { conditions: [YES] },
      stored: { conditions: [YES], approval: by(ann) },
    },
    {
      it: 'that makes an approval of another generation count is the one that signs',
      old: { conditions: [WRONG, HINT], approval: EARLIER },
      written: { conditions: [YES] },
      stored: { conditions: [YES, HINT], approval: by(ann) },
    },
    {
      it: 'that leaves out what the hub said does not take it away',
      old: { conditions: [YES, ACCEPTED], approval: EARLIER },
      written: { conditions: [YES] },
      stored: { conditions: [YES, ACCEPTED], approval: EARLIER },
    },
    {
      it: 'that removes the whole status after acceptance leaves what the hub said and who approved',
      old: { conditions: [YES, ACCEPTED], approval: EARLIER },
      stored: { conditions: [ACCEPTED], approval: EARLIER },
    },
    {
      it: 'that takes an accepted approval back leaves the signature: that gate was opened',
      old: { conditions: [YES, ACCEPTED], approval: EARLIER },
      written: { conditions: [NO, ACCEPTED] },
      stored: { conditions: [NO, ACCEPTED], approval: EARLIER },
    },
    {
      it: 'of an administrator cannot take away what the hub said either',
      old: { conditions: [YES, ACCEPTED], approval: EARLIER },
      written: { conditions: [YES] },
      as: admin,
      stored: { conditions: [YES, ACCEPTED], approval: EARLIER },
    },
    {
      it: 'of the hub accepts, and leaves the signature',
      old: { conditions: [YES], approval: EARLIER },
      written: { conditions: [YES, ACCEPTED], approval: EARLIER },
      as: theHub,
      stored: { conditions: [YES, ACCEPTED], approval: EARLIER },
    },
    {
      it: 'of the hub takes a hint back',
      old: { conditions: [NO, HINT] },
      written: { conditions: [NO] },
      as: theHub,
      stored: { conditions: [NO] },
    },
    {
      it: 'of the hub that approves is signed by the hub',
      written: { conditions: [YES] },
      as: theHub,
      stored: { conditions: [YES], approval: by(theHub) },
    },
  ])('$it', ({ old, written, as, stored }) => {
    expect(admit(old, written, as)).toEqual({ ok: true, object: request(stored), warnings: [] });
  });

  test.each<{ it: string; old?: ApprovalRequestStatus; written: readonly Condition[]; as?: User }>([
    { it: 'a person says that it is accepted', written: [YES, ACCEPTED] },
    { it: 'an administrator does', written: [YES, ACCEPTED], as: admin },
    { it: 'somebody turns a hint into an acceptance', old: { conditions: [WRONG, HINT] }, written: [WRONG, ACCEPTED] },
    { it: 'somebody turns an acceptance into a refusal', old: { conditions: [YES, ACCEPTED] }, written: [YES, HINT] },
  ])('is refused when $it', ({ old, written, as }) => {
    expect(admit(old, { conditions: [...written] }, as)).toEqual({
      ok: false,
      causes: [
        {
          reason: 'FieldValueForbidden',
          field: 'status.conditions',
          message:
            'Forbidden: ApprovalAccepted is written by the hub alone (system:serviceaccount:fleet-system:flotilla-hub), when it sees Approved',
        },
      ],
    });
  });
});

describe.each(families)('on a server, a $approvalRequest.kind', ({ approvalRequest }) => {
  const namespace = approvalRequest.namespaced ? 'team' : undefined;
  const NAME = 'r-before-prod';

  async function asked() {
    const cluster = await aCluster({ kinds: hubKinds });
    if (namespace !== undefined) await cluster.create('namespaces', undefined, { metadata: { name: namespace } });
    await cluster.create(approvalRequest.plural, namespace, {
      metadata: { name: NAME },
      spec: { parentStageRollout: 'r', targetStage: 'prod' },
      status: { conditions: [YES], approval: EARLIER },
    });
    return {
      cluster,
      read: async () => (await cluster.get(approvalRequest.plural, namespace, NAME)) as ApprovalRequest,
      patch: (status: object, as: User = admin, endpoint: 'status' | 'main' = 'status') =>
        cluster.as(as).call({
          verb: 'patch',
          at: {
            ...cluster.at(approvalRequest.plural, namespace, NAME),
            ...(endpoint === 'main' ? {} : { subresource: endpoint }),
          },
          patch: { type: 'merge', body: { status } as never },
          manager: 'test',
        }),
    };
  }

  test('is created without an answer, and its main endpoint takes none', async () => {
    const { cluster, read, patch } = await asked();
    await using _cluster = cluster;
    expect((await read()).status).toBeUndefined();
    await patch({ conditions: [YES] }, admin, 'main');
    expect((await read()).status).toBeUndefined();
  });

  test('keeps who approved and what the hub said, whoever patches, and a patch that only leaves them out changes nothing', async () => {
    const { cluster, read, patch } = await asked();
    await using _cluster = cluster;
    await patch({ conditions: [YES], approval: { ...EARLIER, user: 'mallory' } });
    const signed = { ...by(admin), groups: [...admin.groups] };
    expect((await read()).status).toEqual({ conditions: [YES], approval: signed });
    await expect(patch({ conditions: [YES, ACCEPTED] })).rejects.toMatchObject({ code: 422 });
    await patch({ conditions: [YES, ACCEPTED] }, theHub);
    const accepted = await read();
    await patch({ conditions: [YES] });
    await patch({ approval: null });
    expect(await read()).toEqual(accepted);
    expect(accepted.status).toEqual({ conditions: [YES, ACCEPTED], approval: signed });
  });
});
