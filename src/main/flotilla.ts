#!/usr/bin/env node
// The main program. Commands that start servers are in this folder, the others in cli/.
import { program } from './program.ts';
import { run } from './run.ts';

await run(program('flotilla'));
