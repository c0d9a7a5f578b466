// The real Kubernetes that judges ours. Taken from KUBE_JUDGE_KUBECONFIG (and KUBE_JUDGE_CONTEXT), if that is set: a 1.34 server whose only
// controllers are those that keep house, so that nothing moves but what the scripts move. Otherwise a control plane is started for the
// occasion. In CI it is a failure if none can be had; elsewhere what needs one is skipped, visibly.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseYaml } from '../../src/base/yaml.ts';
import { type Endpoint, endpointOf } from './server.ts';

const CRDS = resolve(import.meta.dirname, '../../config/crd');
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const LOOK_AGAIN_MS = 50;

export interface RealServer extends AsyncDisposable {
  readonly endpoint: Endpoint;
}

const given = process.env['KUBE_JUDGE_KUBECONFIG'];

export const skipsReal: boolean = given === undefined && process.env['CI'] === undefined;

export async function realServer(): Promise<RealServer> {
  const kubeconfig = given;
  if (kubeconfig === undefined) throw new Error('no real Kubernetes to judge by: set KUBE_JUDGE_KUBECONFIG');
  const endpoint = endpointOf(kubeconfig, process.env['KUBE_JUDGE_CONTEXT']);
  await install(endpoint);
  return { endpoint, [Symbol.asyncDispose]: async () => endpoint.close() };
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Our kinds, and room to ask about all of them. */
async function install(endpoint: Endpoint): Promise<void> {
  const files = readdirSync(CRDS).filter((file) => file.endsWith('.yaml'));
  for (const file of files) {
    const crd = parseYaml(readFileSync(join(CRDS, file), 'utf8')) as Definition;
    const { code, text } = await endpoint.ask({ path: DEFINITIONS, body: crd });
    if (code !== 201 && code !== 409) throw new Error(`the real server refuses ${file}: ${text}`);
    const isEstablished = async () => {
      const found = JSON.parse(
        (await endpoint.ask({ path: `${DEFINITIONS}/${crd.metadata.name}` })).text,
      ) as Definition;
      return found.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
    };
    while (!(await isEstablished())) await sleep(LOOK_AGAIN_MS);
  }
}
