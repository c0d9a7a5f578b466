// A CustomResourceDefinition is available when its kind is served.
import { available, conditionIn, notYet, type Rule } from './verdict.ts';

export const definition: Rule = (live) => {
  const names = conditionIn(live, 'NamesAccepted');
  if (names?.status === 'True' && conditionIn(live, 'Established')?.status === 'True') return available;
  return notYet(
    names?.status === 'False' ? `its names are not accepted: ${names.message}` : 'it is not established yet',
  );
};
