#!/usr/bin/env node
// The program. Commands that start servers live beside this file, the others in cli/.
import { program } from './program.ts';
import { run } from './run.ts';

await run(program('flotilla'));
