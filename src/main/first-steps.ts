// What `flotilla up` says to try: the way of the README's first page, up to where it runs on a member.
import { relative, resolve } from 'node:path';

export function firstSteps([member]: readonly { readonly name: string }[]): readonly string[] {
  const look = 'kubectl get memberclusters';
  if (member === undefined) return [look];
  return [
    look,
    `kubectl apply -f ${example('shop.yaml')} -f ${example('placement.yaml')}`,
    'kubectl wait --for=condition=ClusterResourcePlacementAvailable crp/shop --timeout=60s',
    `kubectl --context ${member.name} -n shop get deployments`,
  ];
}

/** As it is called from here: they come along with the program, wherever that is. */
function example(name: string): string {
  const file = resolve(import.meta.dirname, '../../examples', name);
  const near = relative('.', file);
  return near.startsWith('..') ? file : near;
}
