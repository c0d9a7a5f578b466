// Translates two writes of a scheduler and a kubelet: setting a Pod's node is a POST to its `binding`, and deleting a
// Pod means that it has ended, so the grace period is 0.
import type { Answer, Request, Transport } from '../../api/transport.ts';
import { isObject } from '../../base/json.ts';

export function asKubelet(transport: Transport): Transport {
  return {
    async call(request, signal) {
      if (isPod(request) && request.verb === 'delete') return transport.call({ ...request, graceSeconds: 0 }, signal);
      const node = nodeIn(request);
      return node === undefined ? transport.call(request, signal) : bind(transport, request, node, signal);
    },
    watch: (request, signal) => transport.watch(request, signal),
  };
}

const isPod = ({ at }: Request): boolean => at.resource.group === '' && at.resource.plural === 'pods';

/** The node that a patch sets on a Pod. */
function nodeIn(request: Request): string | undefined {
  if (!isPod(request) || request.verb !== 'patch' || !isObject(request.patch.body)) return undefined;
  const spec = request.patch.body['spec'];
  const node = isObject(spec) ? spec['nodeName'] : undefined;
  return typeof node === 'string' ? node : undefined;
}

/** A Pod is bound only once: a second binding fails. The response to a binding is not a Pod, so the Pod is read. */
async function bind(transport: Transport, request: Request, node: string, signal?: AbortSignal): Promise<Answer> {
  const { namespace, name } = request.at;
  const patch = request.verb === 'patch' && isObject(request.patch.body) ? request.patch.body : {};
  const metadata = isObject(patch['metadata']) ? patch['metadata'] : {};
  await transport.call(
    {
      verb: 'create',
      at: { ...request.at, subresource: 'binding' },
      object: {
        apiVersion: 'v1',
        kind: 'Binding',
        // The uid prevents the binding of a later Pod with the same name.
        metadata: {
          name,
          namespace,
          ...(typeof metadata['uid'] === 'string' ? { uid: metadata['uid'] } : {}),
        } as object,
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      },
      manager: 'manager' in request ? request.manager : 'pretend',
    },
    signal,
  );
  return transport.call({ verb: 'get', at: request.at }, signal);
}
