// Which verbs a run accepts in which state.
import { describe, expect, test } from 'vitest';
import { aRun, INITIALIZED } from '../../insight/staged-run.testing.ts';
import { whichRun } from '../../insight/which-run.ts';
import { checkMayChange, type RunVerb } from './run-state.ts';

describe('a run', () => {
  test.each<{ state: 'Initialize' | 'Run' | 'Stop'; verb: RunVerb; says?: string; refused?: RegExp }>([
    { state: 'Initialize', verb: 'start' },
    { state: 'Initialize', verb: 'stop', refused: /nothing to stop/ },
    { state: 'Initialize', verb: 'resume', refused: /flotilla run start r/ },
    { state: 'Run', verb: 'start', refused: /started already/ },
    { state: 'Run', verb: 'stop' },
    { state: 'Stop', verb: 'stop', refused: /stopped already/ },
    { state: 'Stop', verb: 'start', refused: /flotilla run resume r/ },
    { state: 'Stop', verb: 'resume' },
    {
      state: 'Run',
      verb: 'stop',
      says: 'Succeeded:True:UpdateRunSucceeded',
      refused: /it has ended.*create a new run/,
    },
  ])('in state $state takes $verb, or says why not', ({ state, verb, says = '', refused }) => {
    const run = aRun({ says: `${INITIALIZED} Progressing:True:X ${says}`.trim(), stages: [] });
    const check = () => checkMayChange({ ...run, spec: { ...run.spec, state } }, whichRun('r'), verb);
    if (refused === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(refused);
  });
});
