import { expect, test } from 'vitest';
import { decodeFields } from './fields-v1.ts';
import { encodeOwners, identityOf, type Owner, type Owners } from './managers.ts';
import { ownersOfScale, ownersWithScale, type ScaledField } from './scale-owners.ts';

const APPS = 'apps/v1';
const FIELD: ScaledField = { path: ['f:spec', 'f:replicas'], isVersion: (apiVersion) => apiVersion === APPS };
const owner = (manager: string, operation: Owner['operation'], fields: object, more: Partial<Owner> = {}): Owner => ({
  manager,
  operation,
  apiVersion: APPS,
  subresource: '',
  time: '2026-01-01T00:00:00Z',
  fields: decodeFields(fields),
  ...more,
});
const ownersFrom = (...list: readonly Owner[]): Owners => new Map(list.map((each) => [identityOf(each), each]));
const REPLICAS = { 'f:spec': { 'f:replicas': {} } };
const BOTH = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } };
const shown = (owners: Owners) =>
  (encodeOwners(owners) as readonly { manager: string; operation: string; time?: string; fieldsV1: object }[]).map(
    ({ manager, operation, time, fieldsV1 }) => ({ manager, operation, hasTime: time !== undefined, fieldsV1 }),
  );

test('a Scale is owned by those who own the number of replicas', () => {
  const owners = ownersFrom(
    owner('a', 'Apply', BOTH),
    owner('b', 'Update', REPLICAS),
    owner('c', 'Update', { 'f:spec': { 'f:paused': {} } }),
    owner('d', 'Update', REPLICAS, { apiVersion: 'apps/v0' }),
  );
  expect([...ownersOfScale(owners, FIELD).values()].map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
    ['a', 'autoscaling/v1'],
    ['b', 'autoscaling/v1'],
  ]);
});

test('an update that owned the number with other fields has an entry of its own for it afterwards, without a time', () => {
  const owners = ownersFrom(owner('a', 'Apply', BOTH), owner('b', 'Update', BOTH));
  expect(shown(ownersWithScale(owners, ownersOfScale(owners, FIELD), FIELD, APPS))).toEqual([
    { manager: 'a', operation: 'Apply', hasTime: true, fieldsV1: BOTH },
    { manager: 'b', operation: 'Update', hasTime: false, fieldsV1: REPLICAS },
    { manager: 'b', operation: 'Update', hasTime: true, fieldsV1: { 'f:spec': { 'f:paused': {} } } },
  ]);
});

test('who writes the Scale takes the number from all others', () => {
  const owners = ownersFrom(owner('a', 'Apply', BOTH), owner('b', 'Update', REPLICAS));
  const scaler = owner('c', 'Update', REPLICAS, {
    apiVersion: 'autoscaling/v1',
    subresource: 'scale',
    time: undefined,
  });
  expect(shown(ownersWithScale(owners, ownersFrom(scaler), FIELD, APPS))).toEqual([
    { manager: 'a', operation: 'Apply', hasTime: true, fieldsV1: { 'f:spec': { 'f:paused': {} } } },
    { manager: 'c', operation: 'Update', hasTime: false, fieldsV1: REPLICAS },
  ]);
});

test('owners in versions that are not served are lost', () => {
  const owners = ownersFrom(owner('a', 'Update', BOTH, { apiVersion: 'apps/v0' }));
  expect(ownersWithScale(owners, new Map(), FIELD, APPS).size).toBe(0);
});
