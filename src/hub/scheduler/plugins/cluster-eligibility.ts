// ClusterEligibility: only members that have joined, report and are healthy get new placements.
import { eligibility } from '../../members/eligibility.ts';
import { nameOf, type Plugin, pass, passWith, unfit } from '../plugin.ts';

export const clusterEligibility: Plugin = {
  name: 'ClusterEligibility',
  prepare({ now, obsolete }) {
    return {
      filter(member) {
        const verdict = eligibility(member, now);
        if (verdict.ok) return pass;
        // Differs from KubeFleet: an unhealthy cluster keeps its placements, even if the policy changes meanwhile.
        // There the change removes them, because a cluster that is unhealthy for a moment cannot be picked again.
        if (verdict.code !== 'Left' && obsolete.has(nameOf(member))) return passWith(`kept although ${verdict.reason}`);
        return unfit(`cluster is not eligible for resource placement: ${verdict.reason}`);
      },
    };
  },
};
