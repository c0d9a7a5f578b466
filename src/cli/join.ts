// `flotilla join NAME`: gives a cluster an identity on the hub and writes what its agent needs. Works with the caller's rights alone, on every
// API server.
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { joinObjects } from '../api/join.ts';
import type { KubeObject, Labels } from '../api/object.ts';
import type { Target } from '../api/transport.ts';
import { messageOf, UserError } from '../base/errors.ts';
import type { Connection } from '../client/connection.ts';
import type { Connected } from './connect.ts';
import { createIfAbsent } from './create-if-absent.ts';
import { type Print, refer, targetOf } from './target.ts';

export interface JoinCommandOptions {
  readonly labels: Labels;
  readonly heartbeatPeriodSeconds?: number;
  /** Where the agent's kubeconfig goes. */
  readonly output: string;
}

const NAME = /^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/;
const PATIENCE_SECONDS = 30;

export async function join(
  server: Connected,
  hub: Connection,
  name: string,
  options: JoinCommandOptions,
  print: Print,
): Promise<void> {
  if (!NAME.test(name)) {
    throw new UserError(
      'BadName',
      `"${name}" cannot be a member's name: at most 50 lower-case letters, digits and dashes, no dots`,
    );
  }
  const { labels, heartbeatPeriodSeconds } = options;
  const objects = joinObjects({
    name,
    labels,
    ...(heartbeatPeriodSeconds === undefined ? {} : { heartbeatPeriodSeconds }),
  });
  for (const object of [objects.namespace, objects.serviceAccount, objects.tokenSecret, objects.memberCluster]) {
    const isNew = await createIfAbsent(server, object);
    print.line(`${refer(targetOf(server, object))} ${isNew ? 'created' : 'exists'}`);
  }
  const token = await tokenIn(server, targetOf(server, objects.tokenSecret));
  writePrivate(options.output, agentKubeconfig(name, hub, token));
  print.line(`wrote ${options.output}; on a machine that reaches both clusters, run:`);
  print.line(
    `  flotilla member --name ${name} --hub-kubeconfig ${options.output} --kubeconfig <kubeconfig of the member>`,
  );
}

/** The API server fills the Secret in; until then it is watched. */
async function tokenIn(
  server: Connected,
  at: Target & { readonly name: string },
): Promise<{ readonly token: string; readonly ca: string }> {
  const { name, ...collection } = at;
  const signal = AbortSignal.timeout((PATIENCE_SECONDS + 5) * 1000);
  const watching = server.transport.watch(
    { at: collection, fields: `metadata.name=${name}`, timeoutSeconds: PATIENCE_SECONDS },
    signal,
  );
  for await (const batch of watching) {
    for (const { object } of batch) {
      const found = tokenOf(object);
      if (found) return found;
    }
  }
  throw new UserError(
    'NoToken',
    `the Secret "${name}" got no token within ${PATIENCE_SECONDS} s: does the hub run its token controller?`,
  );
}

function tokenOf(secret: KubeObject): { readonly token: string; readonly ca: string } | undefined {
  const data = secret['data'] as Readonly<Record<string, string>> | undefined;
  const [token, ca] = [data?.['token'], data?.['ca.crt']];
  return token && ca ? { token: Buffer.from(token, 'base64').toString(), ca } : undefined;
}

const agentKubeconfig = (
  name: string,
  hub: Connection,
  { token, ca }: { readonly token: string; readonly ca: string },
): string =>
  stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'hub', cluster: { server: hub.server, 'certificate-authority-data': ca } }],
      users: [{ name, user: { token } }],
      contexts: [{ name: 'hub', context: { cluster: 'hub', user: name } }],
      'current-context': 'hub',
    },
    { lineWidth: 0 },
  );

function writePrivate(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new UserError('Unwritable', `cannot write ${file}: ${messageOf(cause)}`, { cause });
  }
}
