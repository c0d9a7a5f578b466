// Generated writes of several managers to one object: applied configurations, merge patches and JSON patches, over lists of every type.
import type { Json } from '../../../src/base/json.ts';
import { APPLY, JSON_PATCH, MERGE } from '../scripts/requests.ts';
import type { Dice } from './dice.ts';

export interface AppliedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of the collection, in a namespace. */
  path(namespace: string): string;
  content(dice: Dice): Readonly<Record<string, Json>>;
}

const MANAGERS = ['alpha', 'beta', 'kubectl'] as const;
const WORDS = ['a', 'b', 'c'] as const;

const some = <T>(dice: Dice, from: readonly T[], percent = 50): T[] => from.filter(() => dice.chance(percent));
const words = (dice: Dice): Record<string, string> =>
  Object.fromEntries(some(dice, WORDS).map((word) => [word, String(dice.below(3))]));
const maybe = (dice: Dice, name: string, make: () => Json, percent = 50): Record<string, Json> =>
  dice.chance(percent) ? { [name]: make() } : {};

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

function shuffled<T>(dice: Dice, items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(dice.below(rest.length), 1)[0] as T);
}

export const LISTS = 'lists';
export const GROUP = 'applying.example.com';

/** A custom kind with a list of every type. */
export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${LISTS}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: LISTS, singular: 'lists', kind: 'Lists', listKind: 'ListsList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
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
                  whole: {
                    type: 'object',
                    'x-kubernetes-map-type': 'atomic',
                    additionalProperties: { type: 'string' },
                  },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  number: { type: 'integer' },
                },
              },
              status: { type: 'object', properties: { seen: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

export const APPLIED_KINDS: readonly AppliedKind[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    path: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
    content: (dice) => ({ data: words(dice) }),
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    path: (namespace) => `/apis/apps/v1/namespaces/${namespace}/deployments`,
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
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    path: (namespace) => `/api/v1/namespaces/${namespace}/services`,
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
  },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'Lists',
    path: (namespace) => `/apis/${GROUP}/v1/namespaces/${namespace}/${LISTS}`,
    content: (dice) => ({
      spec: {
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
      },
    }),
  },
];

export interface GeneratedWrite {
  readonly type: string;
  readonly query: string;
  readonly body: Json;
}

/** The first write creates; `name` is the object's. */
export function generateWrite(dice: Dice, { apiVersion, kind, content }: AppliedKind, name: string): GeneratedWrite {
  const fieldManager = dice.pick(MANAGERS);
  const metadata = {
    name,
    ...maybe(dice, 'labels', () => words(dice)),
    ...maybe(dice, 'annotations', () => words(dice), 20),
  };
  if (dice.chance(65)) {
    const query = `fieldManager=${fieldManager}${dice.chance(35) ? '&force=true' : ''}`;
    return { type: APPLY, query, body: { apiVersion, kind, metadata, ...content(dice) } };
  }
  const query = `fieldManager=${fieldManager}`;
  if (dice.chance(70)) {
    return { type: MERGE, query, body: { metadata: { labels: words(dice) }, ...content(dice) } };
  }
  const path = dice.pick(['/metadata/labels', '/metadata/annotations']);
  return { type: JSON_PATCH, query, body: [{ op: 'add', path, value: words(dice) }] };
}
