// The result of a provider without what the hub would reject, because one bad name must not block the heartbeat.
import { MAX_PROPERTIES, MAX_PROPERTY_LENGTH, MAX_RESOURCES } from '../../api/member-status.ts';
import { QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from '../../api/patterns.ts';
import { parseQuantity } from '../../base/quantity.ts';
import type { Collected, ProviderCondition } from './provider.ts';

export interface Checked {
  readonly collected: Collected;
  /** Names that were dropped. */
  readonly refused: readonly string[];
}

const NAME = new RegExp(QUALIFIED_NAME);
const CONDITION = /^[A-Za-z][A-Za-z0-9]{0,62}$/;
const MAX_CONDITIONS = 20;
const MAX_MESSAGE = 1024;
/** Condition types that only the agent and the hub write. */
const RESERVED = new Set([
  ...['Joined', 'Healthy', 'ReadyToJoin', 'SoleAgent', 'StatusTrimmed', 'NamespaceCollectionSucceeded'],
  ...['ClusterPropertyProviderStarted', 'ClusterPropertyCollectionSucceeded'],
]);

const isName = (name: string): boolean => name.length <= QUALIFIED_NAME_LENGTH && NAME.test(name);
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function checked(given: unknown): Checked {
  const refused: string[] = [];
  if (!isRecord(given)) return { collected: {}, refused: ['the whole answer, which is no object'] };
  const { properties, resources, conditions } = given;
  const kept = (of: unknown, max: number, isValue: (value: string) => boolean): Readonly<Record<string, string>> => {
    if (of === undefined) return {};
    if (!isRecord(of)) {
      refused.push('a list that is no object');
      return {};
    }
    const good = Object.entries(of).filter(([name, value]) => {
      const isGood = isName(name) && typeof value === 'string' && isValue(value);
      if (!isGood) refused.push(name);
      return isGood;
    }) as [string, string][];
    for (const [name] of good.slice(max)) refused.push(name);
    return Object.fromEntries(good.slice(0, max));
  };
  const amounts = (of: unknown) => kept(of, MAX_RESOURCES, (value) => parseQuantity(value) !== undefined);
  const isCondition = (each: unknown): each is ProviderCondition => {
    if (!isRecord(each)) return false;
    const { type, status, reason, message = '' } = each;
    const isGood =
      CONDITION.test(String(type)) &&
      !RESERVED.has(String(type)) &&
      ['True', 'False', 'Unknown'].includes(String(status)) &&
      CONDITION.test(String(reason)) &&
      typeof message === 'string';
    if (!isGood) refused.push(`condition ${String(type)}`);
    return isGood;
  };
  return {
    collected: {
      properties: kept(properties, MAX_PROPERTIES, (value) => value.length <= MAX_PROPERTY_LENGTH),
      ...(isRecord(resources)
        ? {
            resources: {
              capacity: amounts(resources['capacity']),
              allocatable: amounts(resources['allocatable']),
              available: amounts(resources['available']),
            },
          }
        : {}),
      conditions: (Array.isArray(conditions) ? conditions : [])
        .filter(isCondition)
        .slice(0, MAX_CONDITIONS)
        .map(({ type, status, reason, message = '' }) => ({
          type,
          status,
          reason,
          message: message.slice(0, MAX_MESSAGE),
        })),
    },
    refused,
  };
}
