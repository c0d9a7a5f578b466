// The permissions of a member's identity on a hub: every verb on every resource that the hub serves, in its own
// namespace, in another member's, in an unrelated one, and cluster-wide. Only the permissions listed here are allowed.
import { describe, expect, test } from 'vitest';
import type { Resource } from '../../src/api/kind.ts';
import { ApiError } from '../../src/base/errors.ts';
import { aFleet, type Fleet, identityOf } from '../fleet.ts';

const VERBS = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['bind', 'escalate', 'impersonate', 'approve', 'sign', 'use', '*'],
];

/** `group/resource[/subresource]: verbs`, in its own namespace. */
const OWN = {
  'cluster.kubernetes-fleet.io/internalmemberclusters': ['get', 'list', 'watch'],
  'cluster.kubernetes-fleet.io/internalmemberclusters/status': ['get', 'update', 'patch'],
  'placement.kubernetes-fleet.io/works': ['get', 'list', 'watch', 'update', 'patch'],
  'placement.kubernetes-fleet.io/works/status': ['get', 'update', 'patch'],
  '/events': ['create', 'patch'],
} as const;

/** The permissions of every authenticated user: review its own identity and permissions. */
const EVERYBODY = {
  'authentication.k8s.io/selfsubjectreviews': ['create'],
  'authorization.k8s.io/selfsubjectaccessreviews': ['create'],
  'authorization.k8s.io/selfsubjectrulesreviews': ['create'],
} as const;

const listed = (table: Readonly<Record<string, readonly string[]>>, place: string) =>
  Object.entries(table).flatMap(([resource, verbs]) => verbs.map((verb) => `${verb} ${resource} in ${place}`));

async function twoMembers(): Promise<Fleet> {
  const fleet = await aFleet();
  await fleet.join('east');
  await fleet.join('west');
  await fleet.hub.create('namespaces', undefined, { metadata: { name: 'shop' } });
  await fleet.pass(5000);
  return fleet;
}

const PLACES = ['fleet-member-east', 'fleet-member-west', 'fleet-system', 'kube-system', 'default', 'shop', ''];

describe('a member identity on the hub', () => {
  test('may do what is listed and nothing else, on every resource that is served', async () => {
    await using fleet = await twoMembers();
    const { registry, authorizer } = fleet.hub.running.cluster;
    const targets = registry.all().flatMap(({ group, plural, subresources, hasStatus, verbs }) => {
      expect(verbs.filter((verb) => !VERBS.includes(verb))).toEqual([]);
      const names = [...(hasStatus ? ['status'] : []), 'scale', ...subresources.map(({ name }) => name)];
      return [{ group, resource: plural }, ...names.map((subresource) => ({ group, resource: plural, subresource }))];
    });
    expect(targets.length).toBeGreaterThan(150);
    const allowed = PLACES.flatMap((namespace) =>
      targets.flatMap((target) =>
        VERBS.filter((verb) => authorizer.allows(identityOf('east'), { verb, namespace, ...target }).allowed).map(
          (verb) =>
            `${verb} ${target.group}/${target.resource}${'subresource' in target ? `/${target.subresource}` : ''} in ${namespace || 'the cluster'}`,
        ),
      ),
    );
    expect(allowed.toSorted()).toEqual(
      [
        ...listed(OWN, 'fleet-member-east'),
        ...PLACES.flatMap((place) => listed(EVERYBODY, place || 'the cluster')),
      ].toSorted(),
    );
  });

  test('may renew its own token, and no other', async () => {
    await using fleet = await twoMembers();
    const { registry, authorizer } = fleet.hub.running.cluster;
    const names = ['east', 'west'].map((each) => `${each}-hub-cluster-access`);
    const allowed = registry.all().flatMap(({ group, plural: resource, subresources }) =>
      [undefined, ...subresources.map(({ name }) => name)].flatMap((subresource) =>
        names.flatMap((name) =>
          VERBS.filter(
            (verb) =>
              authorizer.allows(identityOf('east'), {
                ...{ verb, group, resource, name, namespace: 'fleet-system' },
                ...(subresource === undefined ? {} : { subresource }),
              }).allowed,
          ).map((verb) => `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`} ${name}`),
        ),
      ),
    );
    const everybody = Object.keys(EVERYBODY).map((each) => each.split('/')[1] as string);
    expect(allowed.filter((each) => !everybody.some((resource) => each.includes(` ${resource} `)))).toEqual([
      'create serviceaccounts/token east-hub-cluster-access',
    ]);
  });

  test('is held to it by the API server itself, not only by the book', async () => {
    await using fleet = await twoMembers();
    const { registry } = fleet.hub.running.cluster;
    const transport = fleet.hub.as(identityOf('east'));
    const readable: string[] = [];
    for (const { group, plural, kind, namespaced, versions, verbs } of registry.all()) {
      if (!verbs.includes('list')) continue;
      const resource: Resource = { group, version: versions[0]?.version ?? '', kind, plural, namespaced };
      for (const namespace of namespaced ? [...PLACES.filter((each) => each !== ''), undefined] : [undefined]) {
        const at = { resource, ...(namespace === undefined ? {} : { namespace }) };
        const answer = await transport.call({ verb: 'list', at }).catch((error: ApiError) => error);
        if (!(answer instanceof ApiError)) readable.push(`${plural} in ${namespace ?? 'the cluster'}`);
        else expect(answer.reason).toBe('Forbidden');
      }
    }
    expect(readable.sort()).toEqual(['internalmemberclusters in fleet-member-east', 'works in fleet-member-east']);
  });

  test('cannot order itself about: spec, deletion and new Works are not its to write', async () => {
    await using fleet = await twoMembers();
    await fleet.hub.create('works', 'fleet-member-east', { metadata: { name: 'a' }, spec: {} });
    const transport = fleet.hub.as(identityOf('east'));
    const internal = fleet.hub.at('internalmemberclusters', 'fleet-member-east', 'east');
    const work = fleet.hub.at('works', 'fleet-member-east', 'a');
    const { resource } = work;
    const refused = (call: Promise<unknown>) => expect(call).rejects.toMatchObject({ reason: 'Forbidden' });
    const merge = (body: object) => ({ type: 'merge' as const, body: body as never });
    await refused(
      transport.call({ verb: 'patch', at: internal, patch: merge({ spec: { state: 'Leave' } }), manager: 'm' }),
    );
    await refused(transport.call({ verb: 'delete', at: internal }));
    await refused(transport.call({ verb: 'delete', at: work }));
    const object = { apiVersion: 'placement.kubernetes-fleet.io/v1', kind: 'Work', metadata: { name: 'b' }, spec: {} };
    const at = { resource, namespace: 'fleet-member-east' };
    await refused(transport.call({ verb: 'create', at, object, manager: 'm' }));
    // A write to the status of its own InternalMemberCluster cannot change the spec.
    const patch = merge({ spec: { state: 'Leave' }, status: { namespaces: { a: '' } } });
    await transport.call({ verb: 'patch', at: { ...internal, subresource: 'status' }, patch, manager: 'm' });
    expect((await fleet.hub.get('internalmemberclusters', 'fleet-member-east', 'east')).spec).toMatchObject({
      state: 'Join',
    });
  });
});
