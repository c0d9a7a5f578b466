// The real Kubernetes that judges ours: setup.ts says which. It gets our kinds, as anybody would install them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseYaml } from '../../src/base/yaml.ts';
import { type Endpoint, endpointOf } from './server.ts';

const CRDS = resolve(import.meta.dirname, '../../config/crd');
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const LOOK_AGAIN_MS = 50;

/** Where it is. */
export interface Judge {
  readonly kubeconfig: string;
  readonly context?: string;
}

export async function connectReal({ kubeconfig, context }: Judge): Promise<Endpoint> {
  const endpoint = endpointOf(kubeconfig, context);
  await install(endpoint);
  return endpoint;
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function install(endpoint: Endpoint): Promise<void> {
  const files = readdirSync(CRDS).filter((file) => file.endsWith('.yaml'));
  for (const file of files) {
    const crd = parseYaml(readFileSync(join(CRDS, file), 'utf8')) as Definition;
    const { code, text } = await endpoint.ask({ path: DEFINITIONS, body: crd });
    if (code !== 201 && code !== 409) throw new Error(`the real server refuses ${file}: ${text}`);
    const isEstablished = async () => {
      const reply = await endpoint.ask({ path: `${DEFINITIONS}/${crd.metadata.name}` });
      const { status } = JSON.parse(reply.text) as Definition;
      return status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True');
    };
    while (!(await isEstablished())) await sleep(LOOK_AGAIN_MS);
  }
}
