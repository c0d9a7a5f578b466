// A Job does not block a rollout, unless an annotation asks for it: then it is available with the first Pod that is
// ready or has succeeded.
import { annotations } from '../../api/names.ts';
import { available, conditionIn, count, failed, fieldsOf, notYet, type Rule, untracked } from './verdict.ts';

export const job: Rule = (live) => {
  if (live.metadata.annotations?.[annotations.trackAvailability] !== 'true') return untracked;
  const failure = conditionIn(live, 'Failed');
  if (failure?.status === 'True') return failed(`it has failed: ${failure.reason ?? 'no reason given'}`);
  const status = fieldsOf(live.status);
  const hasPod = count(status, 'succeeded') > 0 || count(status, 'ready') > 0;
  return hasPod ? available : notYet('none of its Pods is ready or has succeeded yet');
};
