// TaintToleration: every taint of a cluster needs a toleration. Taints keep new placements away; they never evict.
import type { MemberCluster, Taint } from '../../../api/member-cluster.ts';
import type { Toleration } from '../../../api/toleration.ts';
import { type Plugin, pass, unfit } from '../plugin.ts';

export function tolerates({ operator, key = '', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return operator === 'Equal' && key === taint.key && value === (taint.value ?? '');
}

export const taintToleration: Plugin = {
  name: 'TaintToleration',
  prepare({ policy: { tolerations = [] } }) {
    return {
      filter({ spec }: MemberCluster) {
        const taint = spec.taints?.find((each) => !tolerations.some((toleration) => tolerates(toleration, each)));
        return taint === undefined ? pass : unfit(`cluster has taint ${taintText(taint)}, which is not tolerated`);
      },
    };
  },
};

const taintText = ({ key, value = '', effect }: Taint): string => `${key}${value === '' ? '' : `=${value}`}:${effect}`;
