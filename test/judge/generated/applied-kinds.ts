// The kinds whose objects several managers write in generated sequences: built-in ones, and a custom one in two versions with a list of every type.
import type { Json } from '../../../src/base/json.ts';
import type { Dice } from './dice.ts';

export interface AppliedKind {
  readonly group: string;
  /** Served ones; the first is the stored one. */
  readonly versions: readonly string[];
  readonly kind: string;
  readonly plural: string;
  /** In a hundred writes; what a kind does not have is refused. */
  readonly subresources: { readonly status: number; readonly scale: number };
  readonly isCustom?: true;
  content(dice: Dice): Fields;
  status(dice: Dice): Fields;
}

/** The path of its collection in a namespace. */
export const collectionOf = ({ group, plural }: AppliedKind, version: string, namespace: string): string =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}/namespaces/${namespace}/${plural}`;

export type Fields = Readonly<Record<string, Json>>;

export const WORDS = ['a', 'b', 'c'] as const;

const some = <T>(dice: Dice, from: readonly T[], percent = 50): T[] => from.filter(() => dice.chance(percent));
export const words = (dice: Dice): Record<string, string> =>
  Object.fromEntries(some(dice, WORDS).map((word) => [word, String(dice.below(3))]));
export const maybe = (dice: Dice, name: string, make: () => Json, percent = 50): Record<string, Json> =>
  dice.chance(percent) ? { [name]: make() } : {};

function shuffled<T>(dice: Dice, items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(dice.below(rest.length), 1)[0] as T);
}

const container = (dice: Dice, name: string): Json => ({
  name,
  image: `i:${dice.below(2)}`,
  ...maybe(dice, 'env', () =>
    shuffled(dice, some(dice, WORDS)).map((each) => ({ name: each, value: String(dice.below(2)) })),
  ),
  ...maybe(dice, 'args', () => some(dice, WORDS)),
  ...maybe(dice, 'resources', () => ({ requests: { cpu: `${1 + dice.below(2)}` } }), 30),
  ...maybe(dice, 'ports', () => [{ containerPort: 80 + dice.below(2) }], 30),
});

const SINCE = '2026-01-01T00:00:00Z';
const conditions = (dice: Dice, types: readonly string[]): Json[] =>
  shuffled(dice, some(dice, types)).map((type) => ({
    type,
    status: dice.pick(['True', 'False']),
    reason: dice.pick(['Reason', 'Other']),
    message: '',
    lastTransitionTime: SINCE,
  }));

export const LISTS = 'lists';
export const GROUP = 'applying.example.com';

const lists = {
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  atomic: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
  plain: { type: 'array', items: { type: 'string' } },
  map: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['key', 'zone'],
    items: {
      type: 'object',
      required: ['key'],
      properties: {
        key: { type: 'string' },
        zone: { type: 'string', default: 'z' },
        size: { type: 'integer' },
        note: { type: 'string' },
      },
    },
  },
  whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  number: { type: 'integer' },
} as const;

const openAPIV3Schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { ...lists, replicas: { type: 'integer' } } },
    status: {
      type: 'object',
      properties: { ...lists, replicas: { type: 'integer' }, selector: { type: 'string' } },
    },
  },
};

const listsOf = (dice: Dice): Fields => ({
  ...maybe(dice, 'set', () => shuffled(dice, some(dice, WORDS))),
  ...maybe(dice, 'atomic', () => some(dice, WORDS)),
  ...maybe(dice, 'plain', () => some(dice, WORDS)),
  ...maybe(dice, 'map', () =>
    shuffled(dice, some(dice, WORDS)).map((key) => ({
      key,
      ...maybe(dice, 'zone', () => dice.pick(['y', 'z'])),
      ...maybe(dice, 'size', () => dice.below(2)),
      ...maybe(dice, 'note', () => dice.pick(WORDS)),
    })),
  ),
  ...maybe(dice, 'whole', () => words(dice)),
  ...maybe(dice, 'free', () => ({ ...words(dice), deep: { ...words(dice), list: [dice.below(2)] } })),
  ...maybe(dice, 'number', () => dice.below(2)),
});

const replicas = (dice: Dice): Fields => maybe(dice, 'replicas', () => dice.below(3), 30);

const VERSIONS = ['v1', 'v2'] as const;

export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${LISTS}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: LISTS, singular: 'lists', kind: 'Lists', listKind: 'ListsList' },
    versions: VERSIONS.map((name) => ({
      name,
      served: true,
      storage: name === VERSIONS[0],
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
      },
      schema: { openAPIV3Schema },
    })),
  },
};

export const APPLIED_KINDS: readonly AppliedKind[] = [
  {
    group: '',
    versions: ['v1'],
    kind: 'ConfigMap',
    plural: 'configmaps',
    subresources: { status: 2, scale: 2 },
    content: (dice) => ({ data: words(dice) }),
    status: () => ({}),
  },
  {
    group: 'apps',
    versions: ['v1'],
    kind: 'Deployment',
    plural: 'deployments',
    subresources: { status: 20, scale: 20 },
    content: (dice) => ({
      spec: {
        ...maybe(dice, 'replicas', () => dice.below(3)),
        selector: { matchLabels: { app: 'x' } },
        template: {
          metadata: { labels: { app: 'x', ...words(dice) } },
          spec: {
            containers: shuffled(dice, ['main', ...some(dice, ['side', 'more'])]).map((name) => container(dice, name)),
            ...maybe(dice, 'nodeSelector', () => words(dice)),
          },
        },
      },
    }),
    status: (dice) => ({
      replicas: 2 + dice.below(2),
      ...maybe(dice, 'observedGeneration', () => dice.below(3)),
      ...maybe(dice, 'updatedReplicas', () => dice.below(3)),
      ...maybe(dice, 'readyReplicas', () => 2),
      ...maybe(dice, 'availableReplicas', () => dice.below(3)),
      ...maybe(dice, 'conditions', () => conditions(dice, ['Available', 'Progressing'])),
    }),
  },
  {
    group: '',
    versions: ['v1'],
    kind: 'Service',
    plural: 'services',
    subresources: { status: 20, scale: 2 },
    content: (dice) => ({
      spec: {
        ports: shuffled(dice, [80, ...some(dice, [81, 82])]).map((port) => ({
          port,
          name: `p${port}`,
          ...maybe(dice, 'protocol', () => 'TCP'),
          ...maybe(dice, 'targetPort', () => 8080 + dice.below(2)),
        })),
        selector: words(dice),
      },
    }),
    status: (dice) => maybe(dice, 'conditions', () => conditions(dice, ['Ready', 'Synced']), 80),
  },
  {
    group: GROUP,
    versions: VERSIONS,
    kind: 'Lists',
    plural: LISTS,
    subresources: { status: 20, scale: 15 },
    isCustom: true,
    content: (dice) => ({ spec: { ...listsOf(dice), ...replicas(dice) } }),
    status: (dice) => ({ ...listsOf(dice), ...replicas(dice), ...maybe(dice, 'selector', () => 'app=x', 20) }),
  },
];
