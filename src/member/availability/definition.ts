// A CustomResourceDefinition is available when its kind is served.
import { available, conditionIn, notYet, type Rule } from './verdict.ts';

export const definition: Rule = (live, ignored) => {
  const names = conditionIn(live, 'NamesAccepted');
  const isTrue = (type: string) => ignored.has(type) || conditionIn(live, type)?.status === 'True';
  if (isTrue('NamesAccepted') && isTrue('Established')) return available;
  return notYet(
    names?.status === 'False' ? `its names are not accepted: ${names.message}` : 'it is not established yet',
  );
};
