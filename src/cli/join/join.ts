// `flotilla join NAME`: gives a cluster an identity on the hub and writes the kubeconfig of its agent. Needs only the
// caller's permissions and works on every API server. All checks run before anything is created.
import { joinObjects } from '../../api/join.ts';
import { memberNameProblem } from '../../api/member-name.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import { configMapResource } from '../../api/resources.ts';
import { issuedToken, tokenRequest } from '../../api/token-request.ts';
import type { Target } from '../../api/transport.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { deepEqual } from '../../base/json.ts';
import type { Connection } from '../../client/connection.ts';
import type { Connected } from '../server/connect.ts';
import { createIfAbsent } from '../server/create-if-absent.ts';
import { isThere } from '../server/not-found.ts';
import { type Print, refer, targetOf } from '../server/target.ts';
import { type AgentToken, agentKubeconfig, checkAgentFile, writeAgentFile } from './agent-kubeconfig.ts';

export interface JoinCommandOptions {
  readonly labels: Labels;
  readonly heartbeatPeriodSeconds?: number;
  /** The file for the agent's kubeconfig. */
  readonly output: string;
  /** The lifetime of the first token; the agent requests the same when it renews it. */
  readonly tokenLifetimeMs?: number;
  /** Creates a token Secret instead, for agents that cannot renew their token. */
  readonly longLivedToken?: boolean;
}

/** An agent that was off for a week has to join again; a running one renews its token after half of this. */
const USUAL_LIFETIME_MS = 7 * 24 * 3_600_000;

const PATIENCE_SECONDS = 30;

export async function join(
  server: Connected,
  hub: Connection,
  name: string,
  options: JoinCommandOptions,
  print: Print,
): Promise<void> {
  const problem = memberNameProblem(name);
  if (problem !== undefined) throw new UserError('BadName', problem);
  checkAgentFile(options.output, name);
  const { labels, heartbeatPeriodSeconds } = options;
  const objects = joinObjects({
    name,
    labels,
    heartbeatPeriodSeconds,
  });
  await checkMember(server, objects.memberCluster);
  const isLasting = options.longLivedToken === true;
  const rights = [objects.renewalRole, objects.renewalRoleBinding];
  const identity = [objects.serviceAccount, ...(isLasting ? [objects.tokenSecret] : rights)];
  for (const object of [objects.namespace, ...identity]) {
    const isNew = await createIfAbsent(server, object);
    print.line(`${refer(targetOf(server, object))} ${isNew ? 'created' : 'exists'}`);
  }
  const { memberCluster } = objects;
  const outcome = (await createIfAbsent(server, memberCluster)) ? 'created' : await brought(server, memberCluster);
  print.line(`${refer(targetOf(server, memberCluster))} ${outcome}`);
  const secret = targetOf(server, objects.tokenSecret);
  const token = isLasting
    ? await tokenIn(server, secret)
    : await issueToken(server, targetOf(server, objects.serviceAccount), options.tokenLifetimeMs ?? USUAL_LIFETIME_MS);
  writeAgentFile(options.output, agentKubeconfig(name, hub, token));
  if (!isLasting && (await isThere(server, secret)))
    print.warning(
      `${refer(secret)} is from an earlier join and its token does not expire: delete it when no agent uses it`,
    );
  if ('expires' in token && token.expires !== undefined)
    print.line(`its token is valid until ${token.expires}; the agent renews it`);
  print.line(`wrote ${options.output}; on a machine that reaches both clusters, run:`);
  print.line(
    `  flotilla member --name ${name} --hub-kubeconfig ${options.output} --kubeconfig <kubeconfig of the member>`,
  );
}

/** Updates the labels and the heartbeat of an existing member; other labels stay. */
async function brought(server: Connected, wanted: KubeObject): Promise<string> {
  const at = targetOf(server, wanted);
  const { object } = await server.transport.call({ verb: 'get', at });
  const has = object?.metadata.labels ?? {};
  const labels = Object.fromEntries(
    Object.entries(wanted.metadata.labels ?? {}).filter(([key, value]) => has[key] !== value),
  );
  const { heartbeatPeriodSeconds: seconds } = wanted.spec as { readonly heartbeatPeriodSeconds?: number };
  const beats = (object?.spec as { readonly heartbeatPeriodSeconds?: number } | undefined)?.heartbeatPeriodSeconds;
  const isSlower = seconds !== undefined && seconds !== beats;
  const changes = [
    ...Object.entries(labels).map(([key, value]) => `label ${key}=${value}`),
    ...(isSlower ? [`heartbeatPeriodSeconds ${seconds}`] : []),
  ];
  if (changes.length === 0) return 'exists';
  const body = { metadata: { labels }, ...(isSlower ? { spec: { heartbeatPeriodSeconds: seconds } } : {}) };
  await server.transport.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'flotilla' });
  return `configured: ${changes.join(', ')}`;
}

/** Either the hub accepts this MemberCluster, or it has one of that name with this identity. */
async function checkMember(server: Connected, wanted: KubeObject): Promise<void> {
  const { name, ...at } = hubTarget(server, wanted);
  try {
    await server.transport.call({ verb: 'create', at, object: wanted, manager: 'flotilla', dryRun: true });
    return;
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
  const { object } = await server.transport.call({ verb: 'get', at: { ...at, name } });
  if (object?.metadata.deletionTimestamp !== undefined) {
    throw new UserError('MemberLeaving', `member "${name}" is leaving: join it again when it has left`);
  }
  const [has, wants] = [object, wanted].map((each) => (each?.spec as { identity?: object } | undefined)?.identity);
  if (!isSubset(wants, has)) {
    const message = `there is a member "${name}" with another identity, ${JSON.stringify(has)}: choose another name, or delete that MemberCluster first`;
    throw new UserError('MemberTaken', message);
  }
}

const isSubset = (wants: object | undefined, has: object | undefined): boolean =>
  Object.entries(wants ?? {}).every(([key, value]) => deepEqual(value, (has as Record<string, unknown>)?.[key]));

function hubTarget(server: Connected, wanted: KubeObject): Target & { readonly name: string } {
  try {
    return targetOf(server, wanted);
  } catch (cause) {
    if (!(cause instanceof UserError && cause.reason === 'UnknownKind')) throw cause;
    const message = `${cause.message}: is this the hub? Its kinds come with "flotilla crds"`;
    throw new UserError('NoHub', message, { cause });
  }
}

/** The CA is the one that the hub publishes for Pods, for a caller whose kubeconfig has none. */
async function issueToken(
  server: Connected,
  at: Target & { readonly name: string },
  lifetimeMs: number,
): Promise<AgentToken & { readonly expires?: string }> {
  const { object } = await server.transport.call({
    verb: 'create',
    at: { ...at, subresource: 'token' },
    object: tokenRequest(lifetimeMs),
    manager: 'flotilla',
  });
  const { token, expirationTimestamp } = issuedToken(object);
  const ca = await publishedCertificates(server, at.namespace ?? '');
  return { token, ca, expires: expirationTimestamp };
}

async function publishedCertificates({ transport }: Connected, namespace: string): Promise<string | undefined> {
  const at = { resource: configMapResource, namespace, name: 'kube-root-ca.crt' };
  try {
    const { object } = await transport.call({ verb: 'get', at });
    const text = (object?.['data'] as Readonly<Record<string, string>> | undefined)?.['ca.crt'];
    return text === undefined ? undefined : Buffer.from(text).toString('base64');
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Watches the Secret until the API server has added the token. */
async function tokenIn(server: Connected, at: Target & { readonly name: string }): Promise<AgentToken> {
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

function tokenOf(secret: KubeObject): AgentToken | undefined {
  const data = secret['data'] as Readonly<Record<string, string>> | undefined;
  const [token, ca] = [data?.['token'], data?.['ca.crt']];
  return token && ca ? { token: Buffer.from(token, 'base64').toString(), ca } : undefined;
}
