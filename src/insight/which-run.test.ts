import { describe, expect, test } from 'vitest';
import { approveCommand, namesRun, titleOfRun, typed, whichRun } from './which-run.ts';

describe('a run', () => {
  test.each([
    { argument: 'r', namespace: undefined, title: 'ClusterStagedUpdateRun "r"' },
    { argument: 'run/r', namespace: undefined, title: 'ClusterStagedUpdateRun "r"' },
    { argument: 'csur/r', namespace: undefined, title: 'ClusterStagedUpdateRun "r"' },
    {
      argument: 'clusterstagedupdateruns.placement.kubernetes-fleet.io/r',
      namespace: undefined,
      title: 'ClusterStagedUpdateRun "r"',
    },
    { argument: 'r', namespace: 'team', title: 'StagedUpdateRun "team/r"' },
    { argument: 'sur/r', namespace: 'team', title: 'StagedUpdateRun "team/r"' },
    { argument: 'StagedUpdateRun/r', namespace: 'team', title: 'StagedUpdateRun "team/r"' },
  ])('is meant by $argument in $namespace', ({ argument, namespace, title }) => {
    expect(titleOfRun(whichRun(argument, namespace))).toBe(title);
  });

  test.each([
    { argument: 'placement/r', namespace: undefined, says: '"placement/r" cannot be the name of a run' },
    { argument: '../x', namespace: undefined, says: '"../x" cannot be the name of a run' },
    { argument: 'run/', namespace: undefined, says: 'write its NAME or run/NAME' },
    { argument: 'run/a/b', namespace: undefined, says: 'cannot be the name of a run' },
    { argument: '', namespace: undefined, says: 'cannot be the name of a run' },
    { argument: '__proto__/r', namespace: undefined, says: 'cannot be the name of a run' },
    { argument: 'r', namespace: '..', says: '".." cannot be the name of a namespace' },
    { argument: 'csur/r', namespace: 'team', says: 'a ClusterStagedUpdateRun is in no namespace: omit -n' },
    { argument: 'sur/r', namespace: undefined, says: 'a StagedUpdateRun is in a namespace: name it with -n' },
  ])('is not meant by "$argument" in $namespace', ({ argument, namespace, says }) => {
    expect(() => whichRun(argument, namespace)).toThrow(says);
  });

  test.each([
    { argument: 'run/r', is: true },
    { argument: 'SUR/r', is: true },
    { argument: 'placement/run', is: false },
    { argument: 'run', is: false },
  ])('is named by $argument: $is', ({ argument, is }) => {
    expect(namesRun(argument)).toBe(is);
  });

  test('is typed as it is meant', () => {
    expect(typed(whichRun('r'))).toBe('r');
    expect(approveCommand(whichRun('r', 'team'), 'prod', 'before')).toBe(
      'flotilla approve r -n team --stage prod --before',
    );
    expect(approveCommand(whichRun('r'), "a'; rm -rf ~", 'after')).toBe(
      `flotilla approve r --stage 'a'\\''; rm -rf ~' --after`,
    );
  });
});
