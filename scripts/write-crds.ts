// Writes config/crd from the kinds in src/api. Run it with `npx tsx scripts/write-crds.ts`; src/api/crd.test.ts compares.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crdFile, crdYaml } from '../src/api/crd.ts';
import { hubKinds, memberKinds } from '../src/api/kinds.ts';

const folder = fileURLToPath(new URL('../config/crd/', import.meta.url));

const kinds = [...hubKinds, ...memberKinds];

mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (name.endsWith('.yaml')) rmSync(`${folder}${name}`);
for (const kind of kinds) writeFileSync(`${folder}${crdFile(kind)}`, crdYaml(kind));
process.stdout.write(`${kinds.length} definitions in config/crd/\n`);
