// The control planes that setup.ts started, as the tests see them.
import { inject } from 'vitest';
import type { Provided } from './setup.ts';

const planes = inject('planes');

export const skipsPlanes: boolean = planes === undefined;
export const hubPlane: Provided = planes?.hub as Provided;
export const memberPlanes: readonly Provided[] = planes?.members ?? [];
