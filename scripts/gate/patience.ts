// Limits for tests that wait on real processes. A limit only tells a hang from progress, so it scales with the speed of the machine,
// which is measured once at the start of a run and handed down to all processes of the run.
export const SLOWNESS = 'FLOTILLA_SLOWNESS';

/** The time the work below takes on one idle core of a small cloud machine. */
const USUAL_MS = 250;
const ROUNDS = 1_500;
const MAX_SLOWNESS = 20;

function measured(): number {
  const text = JSON.stringify(Array.from({ length: 200 }, (_, at) => ({ name: `object-${at}`, labels: { at } })));
  const began = performance.now();
  for (let round = 0; round < ROUNDS; round++) JSON.stringify(JSON.parse(text));
  return performance.now() - began;
}

/** 1 on an idle machine of the usual speed, more on a slow or busy one. */
export function slowness(): number {
  const known = Number(process.env[SLOWNESS]);
  if (known >= 1) return known;
  const factor = Math.min(MAX_SLOWNESS, Math.max(1, measured() / USUAL_MS));
  process.env[SLOWNESS] = factor.toFixed(1);
  return factor;
}

/** A generous limit: three times as long as the usual machine needs at the worst, and more where the machine is slower. */
export const patience = (ms: number): number => Math.ceil(ms * 3 * slowness());
