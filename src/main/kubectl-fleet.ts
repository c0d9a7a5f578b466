#!/usr/bin/env node
// The same commands as a kubectl plugin: `kubectl fleet …` finds this program on PATH.
import { program } from './program.ts';
import { run } from './run.ts';

await run(program('kubectl fleet'));
