// ClusterEligibility: only members that have joined, report and are well get something new.
import { eligibility } from '../../members/eligibility.ts';
import { nameOf, type Plugin, pass, passWith, unfit } from '../plugin.ts';

export const clusterEligibility: Plugin = {
  name: 'ClusterEligibility',
  prepare({ now, obsolete }) {
    return {
      filter(member) {
        const verdict = eligibility(member, now);
        if (verdict.ok) return pass;
        // Differs from KubeFleet: what a cluster has stays there while it is unwell, also when the policy changes meanwhile. There the
        // change takes it away, since a cluster that is unwell for a moment cannot be picked again.
        if (verdict.code !== 'Left' && obsolete.has(nameOf(member))) return passWith(`kept although ${verdict.reason}`);
        return unfit(`cluster is not eligible for resource placement: ${verdict.reason}`);
      },
    };
  },
};
