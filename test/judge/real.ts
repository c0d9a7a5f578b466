// The real Kubernetes that judges ours: setup.ts says which. It gets our kinds, as anybody would install them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseYaml } from '../../src/base/yaml.ts';
import { askUntil, type Endpoint, endpointOf, type Reply } from './server.ts';

const CRDS = resolve(import.meta.dirname, '../../config/crd');
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

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
    const reply = await askUntil(endpoint, { path: `${DEFINITIONS}/${crd.metadata.name}` }, isEstablished);
    if (!isEstablished(reply)) throw new Error(`the real server does not establish ${file}: ${reply.text}`);
  }
}

function isEstablished({ text }: Reply): boolean {
  const { status } = JSON.parse(text) as Definition;
  return status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') ?? false;
}
