// Completes package-lock.json with the optional packages of other platforms.
//   node scripts/complete-lock.mjs        after every npm install that changes the lock file
// npm leaves them out when the registry at hand does not have them, and `npm ci` then refuses the lock file. On the platforms that they are
// for they are installed from any full registry; elsewhere npm skips them by `os` and `cpu` without looking for them.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'wasi',
  'win32',
];
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const parts = (name) => name.split(/[/-]/);
const systemOf = (name) => SYSTEMS.find((system) => parts(name).includes(system));
const processorOf = (name) => PROCESSORS.find((processor) => parts(name).includes(processor));

let added = 0;
for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  if (path === '') continue;
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const places = [`${path}/node_modules/${name}`, `node_modules/${name}`];
    const [os, cpu] = [systemOf(name), processorOf(name)];
    if (places.some((place) => lock.packages[place]) || os === undefined || cpu === undefined) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(dev ? { dev: true } : {}),
      ...(name.endsWith('-musl') || name.includes('-musl') ? { libc: ['musl'] } : {}),
      optional: true,
      ...(os === 'wasi' ? {} : { os: [os] }),
    };
    added += 1;
  }
}
const [root, ...rest] = Object.entries(lock.packages);
lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => (a < b ? -1 : 1))]);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages added`);
