// Measures simulated worlds from the sources: node --import tsx sim-worker.mjs ticking ACTORS STEPS | scenario NAME RUNS | new-world COUNT
import { hubKinds } from '../src/api/kinds.ts';
import { play } from '../src/sim/scenario.ts';
import { createWorld } from '../src/sim/world.ts';
import { administrator, apiServer } from '../test/simulation/scenarios/api-server.ts';
import { scenarios } from '../test/simulation/scenarios/scenarios.ts';

const [what, ...args] = process.argv.slice(2);

/** Processor time, not the wall's: others use the machine, too. */
function cpuMs(since) {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

/** Actors that do nothing but wake up. */
async function ticking(actors, steps) {
  const world = createWorld({ seed: 1 });
  for (let i = 0; i < actors; i++) {
    world.actor(`actor-${i}`, ({ clock, random }) => {
      const tick = () => {
        clock.at(clock.now() + Math.ceil(random.next() * 1000), 'tick', () => void Promise.resolve().then(tick));
      };
      tick();
    });
  }
  await world.run(() => false, { steps: 2 * actors, simulatedMs: Number.MAX_SAFE_INTEGER });
  const began = process.cpuUsage();
  await world.run(() => false, { steps, simulatedMs: Number.MAX_SAFE_INTEGER });
  return { perSecond: (steps / cpuMs(began)) * 1000 };
}

async function scenario(name, runs) {
  const chosen = scenarios.find((each) => each.name === name);
  await play(chosen, { seed: 1 });
  const began = process.cpuUsage();
  let steps = 0;
  for (let seed = 2; seed < 2 + runs; seed++) {
    const played = await play(chosen, { seed });
    if (played.failure) throw new Error(`seed ${seed}: ${played.failure.message}`);
    steps += played.steps;
  }
  const seconds = cpuMs(began) / 1000;
  return { steps: steps / seconds, runs: runs / seconds };
}

/** A world with a hub that has started and somebody who may talk to it. */
async function newWorlds(count) {
  let began = process.cpuUsage();
  for (let seed = 0; seed < 2 * count; seed++) {
    if (seed === count) began = process.cpuUsage();
    const world = createWorld({ seed });
    world.server('hub', apiServer({ kinds: hubKinds }));
    world.actor('user', () => undefined, { servers: { hub: { server: 'hub', as: administrator } } });
    await world.run(() => world.isUp('hub') && world.isUp('user'), { steps: 100, simulatedMs: 60_000 });
  }
  return { ms: cpuMs(began) / count };
}

const numbers = args.map(Number);
const result =
  what === 'ticking'
    ? await ticking(...numbers)
    : what === 'scenario'
      ? await scenario(args[0], numbers[1])
      : await newWorlds(...numbers);
process.send({ result });
