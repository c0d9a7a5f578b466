// The `node` set: the simulated kubelets, scheduler and cloud provider. It needs nothing from the `controllers` set, so
// on a real API server it runs beside Kubernetes' own controllers.

import type { Lease, Node, Pod } from '../../api/builtin/shapes.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Controller, WatchRule } from '../../runtime/controller.ts';
import { controllerOf, itself, keyOf, ofKey } from './controller-of.ts';
import { isAnotherPlace } from './controllers.ts';
import { podNews, schedulerNews, serviceNews } from './events.ts';
import { isFinished } from './pods.ts';
import type { Profile } from './profile.ts';
import { type NodeShape, node, PRETEND_LABEL } from './rules/node.ts';
import { pod } from './rules/pod.ts';
import { scheduler } from './rules/scheduler.ts';
import { service } from './rules/service.ts';
import { leaseNamespace, leases, nodes, pods, services } from './sources.ts';

const ALL = 'all';
const isOurs = ({ metadata }: Node): boolean => metadata.labels?.[PRETEND_LABEL] !== undefined;

/** `onNode` is called, possibly more than once, for each existing Node. */
export const nodeControllers = (
  profile: Profile,
  shapes: readonly NodeShape[],
  onNode: (name: string) => void,
  // biome-ignore lint/suspicious/noExplicitAny: controllers over different observations stand in one list, as in ManagerOptions.
): readonly Controller<any>[] => {
  const configured = new Map(shapes.map((shape) => [shape.name, shape]));
  const everyShape: WatchRule<KubeObject> = { source: leaseNamespace, toKeys: () => [...configured.keys()] };
  return [
    controllerOf({
      name: 'node',
      rule: node,
      profile,
      watches: [everyShape, itself(nodes), nodeOfLease],
      see(view, name) {
        const found = view.get(nodes, name);
        if (found !== undefined) onNode(name);
        const lease = view.get(leases, name);
        const related = { ...(found === undefined ? {} : { node: found }), ...(lease === undefined ? {} : { lease }) };
        return { object: configured.get(name), related };
      },
    }),
    controllerOf({
      name: 'scheduler',
      rule: scheduler,
      profile,
      reporter: schedulerNews,
      watches: [waitingPods, newPlaces],
      see(view) {
        const bound = view.all(pods).filter((each) => each.spec?.nodeName);
        return { object: view.by(pods, 'node', ''), related: { nodes: view.all(nodes).filter(isOurs), bound } };
      },
    }),
    controllerOf({
      name: 'pod',
      rule: pod,
      profile,
      reporter: podNews,
      watches: [boundPods, podsOfNode],
      see(view, key) {
        const object = ofKey(view, pods, key);
        if (!object?.spec?.nodeName) return undefined;
        const place = view.get(nodes, object.spec.nodeName);
        // Another node has its own kubelet.
        if (place !== undefined && !isOurs(place)) return undefined;
        return { object, related: { node: place } };
      },
    }),
    controllerOf({
      name: 'service',
      rule: service,
      profile,
      reporter: serviceNews,
      watches: [itself(services)],
      see(view, key) {
        const object = ofKey(view, services, key);
        return object && { object, related: undefined };
      },
    }),
  ];
};

const nodeOfLease: WatchRule<Lease> = { source: leases, toKeys: ({ metadata }) => [metadata.name ?? ''] };

/** A Pod without a node, or resources that were freed while Pods wait. */
const waitingPods: WatchRule<Pod> = {
  source: pods,
  toKeys(item, view, old) {
    if (!item.spec?.nodeName) return [ALL];
    const hasMadeRoom = old === undefined || (isFinished(item) && !isFinished(old));
    return hasMadeRoom && view.by(pods, 'node', '').length > 0 ? [ALL] : [];
  },
};

const newPlaces: WatchRule<Node> = {
  source: nodes,
  toKeys: (item, _see, old) => (isAnotherPlace(item, old) ? [ALL] : []),
};

const boundPods: WatchRule<Pod> = {
  source: pods,
  toKeys: (item) => (item.spec?.nodeName ? [keyOf(item)] : []),
};

const podsOfNode: WatchRule<Node> = {
  source: nodes,
  toKeys: (item, view, old) =>
    old === undefined || isOurs(item) !== isOurs(old) ? view.by(pods, 'node', item.metadata.name ?? '').map(keyOf) : [],
};
