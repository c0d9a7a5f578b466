// Writes config/crd from the kinds in src/api. Run it with `npx tsx scripts/write-crds.ts`; src/api/crd.test.ts compares.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crdFile, crdYaml } from '../src/api/crd.ts';
import { hubKinds, memberKinds, nextKinds } from '../src/api/kinds.ts';

const folder = fileURLToPath(new URL('../config/crd/', import.meta.url));

for (const [subfolder, kinds] of [
  ['', [...hubKinds, ...memberKinds]],
  ['next/', nextKinds],
] as const) {
  const target = `${folder}${subfolder}`;
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(target)) if (name.endsWith('.yaml')) rmSync(`${target}${name}`);
  for (const kind of kinds) writeFileSync(`${target}${crdFile(kind)}`, crdYaml(kind));
  process.stdout.write(`${kinds.length} definitions in config/crd/${subfolder}\n`);
}
