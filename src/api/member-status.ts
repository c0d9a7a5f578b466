// The state of a member cluster. The agent reports it on the InternalMemberCluster, the hub copies it to the
// MemberCluster.
import { type Infer, s, type Typed } from './build.ts';
import { type Condition, conditionsByType } from './conditions.ts';
import { QUANTITY } from './patterns.ts';

// Limits for the report of one member. An agent reports far less; a larger report is rejected as a whole.
export const MAX_REPORTED_CONDITIONS = 64;
export const MAX_AGENTS = 8;
export const MAX_AGENT_CONDITIONS = 16;
export const MAX_PROPERTIES = 1000;
export const MAX_RESOURCES = 100;
export const MAX_NAMESPACES = 5000;
/** Also fits the certificates of a cluster, which are a property. */
export const MAX_PROPERTY_LENGTH = 16_384;
const MAX_QUANTITY_LENGTH = 64;
const MAX_NAME_LENGTH = 253;

const quantities = (doc: string) =>
  s.optional(
    s.map(s.intOrString({ doc: 'A quantity.', pattern: QUANTITY, maxLength: MAX_QUANTITY_LENGTH }), {
      doc,
      maxProperties: MAX_RESOURCES,
    }),
  );

const agent = s.object(
  {
    type: s.string({
      doc: 'Type of the agent: MemberAgent, MultiClusterServiceAgent or ServiceExportImportAgent.',
      maxLength: MAX_NAME_LENGTH,
    }),
    conditions: s.optional(conditionsByType('The state of this agent.', MAX_AGENT_CONDITIONS)),
    lastReceivedHeartbeat: s.optional(s.time('When the agent last reported.')),
  },
  { doc: 'One agent of the member.' },
);

/** In the two kinds only the list type of the conditions differs. */
export const memberStatus = (conditions: Typed<readonly Condition[]>) =>
  s.object(
    {
      conditions: s.optional(conditions),
      properties: s.optional(
        s.map(
          s.object(
            {
              value: s.string({ doc: 'The value; scheduling reads it as a quantity.', maxLength: MAX_PROPERTY_LENGTH }),
              observationTime: s.time('When it was observed.'),
            },
            { doc: 'One property.' },
          ),
          {
            doc: 'Properties of the cluster that are not resources, such as its number of nodes.',
            maxProperties: MAX_PROPERTIES,
          },
        ),
      ),
      resourceUsage: s.optional(
        s.object(
          {
            capacity: quantities('Capacity of all nodes.'),
            allocatable: quantities('What workloads may use.'),
            available: quantities('What is available now.'),
            observationTime: s.optional(s.time('When it was observed.')),
          },
          { doc: 'Resources of the cluster.' },
        ),
      ),
      namespaces: s.optional(
        s.map(s.string({ doc: 'The Work that placed it; empty if it is not ours.', maxLength: MAX_NAME_LENGTH }), {
          doc: 'The namespaces of the member, each with the Work that placed it.',
          maxProperties: MAX_NAMESPACES,
        }),
      ),
      agentStatus: s.optional(s.array(agent, { doc: 'One entry per agent.', maxItems: MAX_AGENTS })),
    },
    { doc: 'Observed state.' },
  );
export type MemberStatus = Infer<ReturnType<typeof memberStatus>>;

export type AgentType = 'MemberAgent' | 'MultiClusterServiceAgent' | 'ServiceExportImportAgent';
export type AgentCondition = 'Joined' | 'Healthy';
export type AgentReason =
  | 'InternalMemberClusterJoined'
  | 'InternalMemberClusterLeft'
  | 'InternalMemberClusterFailedToJoin'
  | 'InternalMemberClusterFailedToLeave'
  | 'InternalMemberClusterHealthy'
  | 'InternalMemberClusterUnhealthy';

/** Conditions that the agent's property provider reports; the hub copies them. */
export type PropertyCondition =
  | 'ClusterPropertyProviderStarted'
  | 'ClusterPropertyCollectionSucceeded'
  | 'NamespaceCollectionSucceeded'
  /** Ours. False while another agent reports under the same name; otherwise absent. */
  | 'SoleAgent'
  | 'AKSClusterCostPropertiesCollectionSucceeded';
export type PropertyReason =
  | 'Started'
  | 'TimedOut'
  | 'FailedToStart'
  | 'PropertiesCollected'
  | 'TooManyCalls'
  | 'Succeeded'
  | 'Degraded'
  | 'AnotherAgentReports'
  | 'CostsCalculated'
  | 'CostsCalculationDegraded'
  | 'CostsCalculationFailed';
