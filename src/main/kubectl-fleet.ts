#!/usr/bin/env node
// The same commands as a kubectl plugin, except `approve`: `kubectl fleet …` finds this program on PATH.
import { PLUGIN, program } from './program.ts';
import { run } from './run.ts';

await run(program(PLUGIN));
