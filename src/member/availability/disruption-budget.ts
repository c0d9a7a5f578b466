// A PodDisruptionBudget is available when its status describes its newest generation and is consistent.
import { available, conditionIn, count, fieldsOf, isObserved, notYet, type Rule } from './verdict.ts';

export const disruptionBudget: Rule = (live, ignored) => {
  const allowed = conditionIn(live, 'DisruptionAllowed');
  const mayDisrupt = count(fieldsOf(live.status), 'disruptionsAllowed') > 0;
  const agrees = mayDisrupt
    ? allowed?.status === 'True' && allowed.reason === 'SufficientPods'
    : allowed?.status === 'False' && allowed.reason === 'InsufficientPods';
  const isConsistent = agrees || ignored.has('DisruptionAllowed');
  return isObserved(live) && isConsistent
    ? available
    : notYet('its status does not describe its newest generation yet');
};
