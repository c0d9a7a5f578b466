// Whoever has kept a token of a member that left, was revoked or was rebuilt is nobody to the hub.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { codeFor, tokenIn, tracesOf } from './credentials.ts';
import { flotilla, kubectlFor, type Running, start } from './fleet.ts';
import { type Server, skipsKubectl, startServer } from './server.ts';

const NAME = 'wanderer';

describe.skipIf(skipsKubectl)('the tokens of a member', () => {
  let server: Server;
  const agents: Running[] = [];
  let files = 0;

  const kubectl = () => kubectlFor(server, server.folder);
  const hub = (...args: readonly string[]) => kubectl().ok(['--context', 'hub', ...args]);
  const commanded = async (...args: readonly string[]) => {
    const result = await flotilla(server.folder, [...args, '--kubeconfig', server.kubeconfig, '--context', 'hub']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    return result.stdout;
  };
  /** The file for its agent. */
  const joins = async (name: string, ...args: readonly string[]): Promise<string> => {
    const file = join(server.folder, `${name}-${++files}.kubeconfig`);
    await commanded('join', name, '--heartbeat-period-seconds', '1', ...args, '-o', file);
    return file;
  };
  const runs = (file: string): Running => {
    const own = ['--kubeconfig', server.kubeconfig, '--context', 'member-1'];
    const agent = start(server.folder, ['member', '--name', NAME, '--hub-kubeconfig', file, ...own]);
    agents.push(agent);
    return agent;
  };
  const becomes = (condition: string) =>
    hub('wait', `--for=condition=${condition}`, `membercluster/${NAME}`, '--timeout=60s');
  const codes = (tokens: readonly string[], member = NAME) =>
    Promise.all(tokens.map((token) => codeFor(server.kubeconfig, token, member)));

  beforeAll(async () => {
    server = await startServer({ command: 'up', args: ['--in-memory', '--members', '1'] });
  });
  afterAll(async () => {
    for (const agent of agents) await agent[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  /** All that it had before it left. */
  const former: string[] = [];

  test('all end when it leaves, and nothing on the hub names it any more', async () => {
    const file = await joins(NAME);
    const agent = runs(file);
    await becomes('Joined');
    const profile = `clusterprofile/${NAME}`;
    await hub('-n', 'fleet-system', 'wait', '--for=condition=ControlPlaneHealthy', profile, '--timeout=60s');
    const account = `${NAME}-hub-cluster-access`;
    // One as the agent renews it: by its own right.
    const renewed = await kubectlFor({ kubeconfig: file }, join(server.folder, NAME)).ok([
      ...['-n', 'fleet-system', 'create', 'token', account, '--duration=24h'],
    ]);
    former.push(tokenIn(file), renewed.trim(), tokenIn(await joins(NAME, '--long-lived-token')));
    expect(new Set(former).size).toBe(3);
    expect(await codes(former)).toEqual([200, 200, 200]);
    expect(await codes(former, 'member-1')).toEqual([403, 403, 403]);
    expect((await tracesOf(kubectl(), NAME)).length).toBeGreaterThan(5);

    expect(await commanded('leave', NAME)).toContain(`${NAME} has left`);
    expect(await codes(former)).toEqual([401, 401, 401]);
    expect(await agent.stop()).toBe(0);
    expect(await tracesOf(kubectl(), NAME)).toEqual([]);
  });

  test('a member that is rebuilt under its name is let in by its new one alone', async () => {
    const file = await joins(NAME);
    const token = tokenIn(file);
    expect(await codes([token, ...former])).toEqual([200, 401, 401, 401]);
    runs(file);
    await becomes('Joined');
    await becomes('Healthy');
    expect(await codes([token, ...former])).toEqual([200, 401, 401, 401]);
    former.push(token);
  });

  test('revoked ones end at once, and an agent goes on when its file has a new one', async () => {
    expect(await codes(former.slice(-1))).toEqual([200]);
    expect(await commanded('join', NAME, '--revoke')).toContain(`the identity of member "${NAME}" is revoked`);
    expect(await codes(former.slice(-1))).toEqual([401]);
    const agent = agents.at(-1) as Running;
    await agent.says(/Unauthorized/);
    // The file that its agent reads.
    const file = join(server.folder, `${NAME}-${files}.kubeconfig`);
    await commanded('join', NAME, '-o', file);
    const token = tokenIn(file);
    expect(await codes([token, ...former])).toEqual([200, ...former.map(() => 401)]);
    const path = 'jsonpath={.status.agentStatus[0].lastReceivedHeartbeat}';
    const beat = () => hub('get', 'membercluster', NAME, '-o', path);
    const before = await beat();
    await expect.poll(beat, { timeout: patience(60_000) }).not.toBe(before);
  });

  test('one that was never used ends with its member, too', async () => {
    const token = tokenIn(await joins('ghost'));
    await hub('wait', '--for=condition=ReadyToJoin', 'membercluster/ghost', '--timeout=60s');
    expect(await codes([token], 'ghost')).toEqual([200]);
    await commanded('leave', 'ghost');
    expect(await codes([token], 'ghost')).toEqual([401]);
    expect(await tracesOf(kubectl(), 'ghost')).toEqual([]);
  });
});
