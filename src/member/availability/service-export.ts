// A ServiceExport with a weight is available when it is valid and has no conflict; with weight 0 it takes no traffic,
// so being valid is enough.
import type { KubeObject } from '../../api/object.ts';
import { available, conditionIn, notYet, type Rule } from './verdict.ts';

const WEIGHT = 'networking.fleet.azure.com/weight';
const HEAVIEST = 1000;

export const serviceExport: Rule = (live, ignored) => {
  const weight = weightOf(live.metadata.annotations?.[WEIGHT]);
  if (weight === undefined) return notYet(`its annotation ${WEIGHT} is no whole number from 0 to ${HEAVIEST}`);
  const isFresh = (type: string, status: 'True' | 'False') => ignored.has(type) || hasFresh(live, type, status);
  if (!isFresh('Valid', 'True')) return notYet('it is not valid yet');
  if (weight > 0 && !isFresh('Conflict', 'False')) return notYet('its conflict is not resolved yet');
  return available;
};

const weightOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return 1;
  if (!/^\d{1,4}$/.test(text)) return undefined;
  const weight = Number(text);
  return weight <= HEAVIEST ? weight : undefined;
};

const hasFresh = (live: KubeObject, type: string, status: 'True' | 'False'): boolean => {
  const condition = conditionIn(live, type);
  return condition?.status === status && condition.observedGeneration === live.metadata.generation;
};
