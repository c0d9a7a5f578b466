// One real control plane on loopback: etcd, kube-apiserver and kube-controller-manager, all that they know in one folder. Started again on the same
// folder it has its data and its address. Pods do not run there: `flotilla pretend` gives them nodes.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '../../src/api/object.ts';
import type { Kubeconfig } from '../../src/apiserver/auth/kubeconfig.ts';
import type { Connection } from '../../src/client/connection.ts';
import { patience } from '../gate/patience.ts';
import { authorityIn, clientIn, issueClient, makeCredentials, ownKubeconfig } from './credentials.ts';
import { withLock } from './lock.ts';
import { freePorts } from './ports.ts';
import type { Programs } from './programs.ts';
import { end, launch, logFile, runningPid } from './servers.ts';

export interface Plane {
  readonly name: string;
  readonly folder: string;
  /** No workloads move: of the controllers only those run that clean up. For comparing API servers. */
  readonly onlyKeepsHouse?: true;
}

interface Ports {
  readonly api: number;
  readonly etcd: number;
  readonly peer: number;
}

const SERVERS = ['kube-controller-manager', 'kube-apiserver', 'etcd'] as const;
export type ServerName = (typeof SERVERS)[number];

const READY_WITHIN_MS = patience(120_000);
const LOOK_AGAIN_MS = 100;

/** What makes Pods of workloads, tokens for accounts, and cleans up. Nodes, clouds and volumes have nobody to look after them here. */
const CONTROLLERS = [
  'namespace',
  'garbage-collector',
  'serviceaccount',
  'serviceaccount-token',
  'root-ca-certificate-publisher',
  'deployment',
  'replicaset',
  'statefulset',
  'daemonset',
  'job',
  'cronjob',
  'disruption',
  'endpoints',
  'endpointslice',
  'clusterrole-aggregation',
  'resourcequota',
  'persistentvolume-binder',
  'persistentvolumeclaim-protection',
  'pod-garbage-collector',
  'ttl-after-finished',
  'validatingadmissionpolicy-status',
].map((name) => `${name}-controller`);

const HOUSEKEEPING = [
  'namespace',
  'garbage-collector',
  'serviceaccount',
  'serviceaccount-token',
  'root-ca-certificate-publisher',
  'clusterrole-aggregation',
  'persistentvolumeclaim-protection',
  'persistentvolume-protection',
].map((name) => `${name}-controller`);

/** Whether it was ever started. */
export const isThere = (plane: Plane): boolean => existsSync(join(plane.folder, 'ports.json'));
const portsOf = (plane: Plane): Ports => JSON.parse(readFileSync(join(plane.folder, 'ports.json'), 'utf8'));
const keysOf = (plane: Plane): string => join(plane.folder, 'pki');

export const urlOf = (plane: Plane): string => `https://127.0.0.1:${portsOf(plane).api}`;

/** One at a time starts or removes it. Beside its folder, which may be removed meanwhile. */
function alone(plane: Plane, run: () => Promise<void>): Promise<void> {
  mkdirSync(dirname(plane.folder), { recursive: true, mode: 0o700 });
  return withLock(`${plane.folder}.lock`, run);
}

/** Starts what does not run, and waits until the API server is ready. */
export const startPlane = (plane: Plane, programs: Programs, durability: Durability = {}): Promise<void> =>
  alone(plane, async () => {
    await prepareServers(plane);
    await startServers(plane, programs, durability);
    launchControllers(plane, programs);
  });

/** Keys and addresses. */
export async function prepareServers(plane: Plane): Promise<void> {
  mkdirSync(plane.folder, { recursive: true, mode: 0o700 });
  makeCredentials(keysOf(plane));
  if (!isThere(plane)) await choosePorts(plane);
}

export interface Durability {
  /** Every write is on disk before it is answered. */
  readonly isDurable?: boolean;
}

/** Only what stores and serves: nobody acts on what is asked for. */
export async function startServers(plane: Plane, programs: Programs, durability: Durability = {}): Promise<void> {
  launchEtcd(plane, programs, durability);
  await startApiServer(plane, programs);
}

async function choosePorts(plane: Plane): Promise<void> {
  const [api, etcd, peer] = await freePorts(3);
  const file = join(plane.folder, 'ports.json');
  writeFileSync(`${file}.new`, JSON.stringify({ api, etcd, peer }));
  renameSync(`${file}.new`, file);
}

function launchEtcd(plane: Plane, programs: Programs, { isDurable = false }: Durability): void {
  const { etcd, peer } = portsOf(plane);
  const [client, peers] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`];
  launch({ folder: plane.folder, name: 'etcd' }, programs.etcd, [
    `--name=${plane.name}`,
    `--data-dir=${join(plane.folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=${plane.name}=${peers}`,
    '--log-level=error',
    // Nobody's only copy is here.
    ...(isDurable ? [] : ['--unsafe-no-fsync']),
  ]);
}

export async function startApiServer(plane: Plane, programs: Programs): Promise<void> {
  const { api, etcd } = portsOf(plane);
  const key = (name: string) => join(keysOf(plane), name);
  launch({ folder: plane.folder, name: 'kube-apiserver' }, programs['kube-apiserver'], [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${api}`,
    // A loopback address may not be an endpoint.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--tls-cert-file=${key('apiserver.crt')}`,
    `--tls-private-key-file=${key('apiserver.key')}`,
    `--client-ca-file=${key('ca.crt')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${key('accounts.key')}`,
    `--service-account-key-file=${key('accounts.pub')}`,
    '--service-cluster-ip-range=10.0.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
    '--enable-aggregator-routing=true',
    '--profiling=false',
  ]);
  await untilReady(plane);
}

function launchControllers(plane: Plane, programs: Programs): void {
  const key = (name: string) => join(keysOf(plane), name);
  const kubeconfig = join(plane.folder, 'controller-manager.kubeconfig');
  writeFileSync(kubeconfig, ownKubeconfig(keysOf(plane), 'controller-manager', urlOf(plane)), { mode: 0o600 });
  launch({ folder: plane.folder, name: 'kube-controller-manager' }, programs['kube-controller-manager'], [
    `--kubeconfig=${kubeconfig}`,
    // Without it, it starts, is forbidden everything, and makes no Pods.
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${key('accounts.key')}`,
    `--root-ca-file=${key('ca.crt')}`,
    `--controllers=${(plane.onlyKeepsHouse ? HOUSEKEEPING : CONTROLLERS).join(',')}`,
    '--kube-api-qps=100',
    '--kube-api-burst=200',
    '--secure-port=0',
    '--leader-elect=false',
    '--profiling=false',
  ]);
}

async function untilReady(plane: Plane): Promise<void> {
  const givenUp = Date.now() + READY_WITHIN_MS;
  while (!(await isReady(plane))) {
    for (const name of ['etcd', 'kube-apiserver'] as const)
      if (!runs(plane, name)) throw new Error(`plane "${plane.name}": ${name} ended:\n${lastWords(plane, name)}`);
    if (Date.now() > givenUp)
      throw new Error(
        `plane "${plane.name}" is not ready after ${READY_WITHIN_MS / 1000} s:\n${lastWords(plane, 'kube-apiserver')}`,
      );
    await sleep(LOOK_AGAIN_MS);
  }
}

export function isReady(plane: Plane): Promise<boolean> {
  if (!isThere(plane)) return Promise.resolve(false);
  const { certificate, privateKey } = clientIn(keysOf(plane), 'admin');
  const credentials = { ca: authorityIn(keysOf(plane)), cert: certificate, key: privateKey };
  return new Promise((resolve) => {
    const asking = request(`${urlOf(plane)}/readyz`, { ...credentials, agent: false, timeout: 2000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asking.once('timeout', () => asking.destroy());
    asking.once('error', () => resolve(false));
    asking.end();
  });
}

const runs = (plane: Plane, name: ServerName): boolean => runningPid({ folder: plane.folder, name }) !== undefined;

/** Which of its servers run. */
export const runningServers = (plane: Plane): readonly ServerName[] => SERVERS.filter((name) => runs(plane, name));

const LAST_LINES = 15;

function lastWords(plane: Plane, name: ServerName): string {
  const file = logFile({ folder: plane.folder, name });
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return `${text.trimEnd().split('\n').slice(-LAST_LINES).join('\n')}\n(all of it: ${file})`;
}

/** Only its API server, as in an outage; `startApiServer` brings it back. */
export const stopApiServer = (plane: Plane, signal?: 'SIGTERM' | 'SIGKILL'): Promise<void> =>
  end({ folder: plane.folder, name: 'kube-apiserver' }, signal);

/** Ends its servers and removes what they knew. */
export const removePlane = (plane: Plane): Promise<void> =>
  alone(plane, async () => {
    // Nothing is to be kept, so nobody is asked to finish.
    for (const name of SERVERS) await end({ folder: plane.folder, name }, 'SIGKILL');
    rmSync(plane.folder, { recursive: true, force: true });
  });

/** A way to its API server as anybody whose name and groups a certificate can hold. */
export function connectionAs(plane: Plane, user: User): Connection {
  const { certificate, privateKey } = issueClient(keysOf(plane), user);
  return {
    server: urlOf(plane),
    ca: authorityIn(keysOf(plane)),
    insecure: false,
    certificate,
    key: privateKey,
    namespace: 'default',
  };
}

/** A context for each plane, as its administrator; the first is the current one. */
export function kubeconfigOf(planes: readonly Plane[]): Kubeconfig {
  const entries = <T>(make: (plane: Plane) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(planes.map((plane) => [plane.name, make(plane)]));
  return {
    clusters: entries((plane) => ({ server: urlOf(plane), caCertificate: authorityIn(keysOf(plane)) })),
    users: entries((plane) => clientIn(keysOf(plane), 'admin')),
    contexts: entries(({ name }) => ({ cluster: name, user: name })),
    current: planes[0]?.name ?? '',
  };
}
