// The namespace of a command. `rp/NAME` and `sur/NAME` are always namespaced, so without -n it is that of the
// kubeconfig's context, as in kubectl; `placement/NAME` without -n is a ClusterResourcePlacement.

import { isNarrowPlacement } from '../../insight/which-placement.ts';
import { isNarrowRun } from '../../insight/which-run.ts';
import { type ConnectOptions, findConnection } from './connect.ts';

export const namespaceOf = (argument: string, options: ConnectOptions): string | undefined =>
  options.namespace ??
  (isNarrowPlacement(argument) || isNarrowRun(argument) ? findConnection(options).namespace : undefined);
