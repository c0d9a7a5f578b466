// Runs a rule as a controller of the runtime: its watches, its view, its writes as actions, and its Events.
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { refTo } from '../../runtime/actions.ts';
import type { Action, Controller, Source, View, WatchRule } from '../../runtime/controller.ts';
import type { News, Reporter } from './events.ts';
import type { Profile } from './profile.ts';
import type { Rule, Write } from './rule.ts';

export const SERVER = 'member';

interface RuleController<Object, Related> {
  readonly name: string;
  readonly rule: Rule<Object, Related>;
  readonly profile: Profile;
  /** Creates the Events of its writes; absent = none. */
  readonly reporter?: Reporter<Object>;
  // biome-ignore lint/suspicious/noExplicitAny: rules over different kinds stand in one list, as in Controller.
  readonly watches: readonly WatchRule<any>[];
  /** undefined = the key is not ours. */
  see(view: View, key: string): { readonly object: Object; readonly related: Related } | undefined;
}

interface Observed<Object, Related> {
  readonly object: Object;
  readonly related: Related;
  readonly now: number;
}

export const controllerOf = <Object, Related>({
  name,
  rule,
  profile,
  reporter,
  watches,
  see: look,
}: RuleController<Object, Related>): Controller<Observed<Object, Related>> => ({
  name: `pretend/${name}`,
  eventSource: reporter?.name ?? 'pretend-cluster',
  watches,
  observe(view, key) {
    const found = look(view, key);
    return found === undefined ? undefined : { ...found, now: view.now };
  },
  decide({ object, related, now }) {
    const { writes, wakeAt } = rule(object, related, now, profile);
    return {
      steps: stepsOf(writes, (write) => reporter?.tell(write, object) ?? []),
      holds: [],
      because: writes[0]?.because ?? 'as it should be',
      ...(wakeAt === undefined ? {} : { wakeAt }),
    };
  },
});

/** Adjacent writes of one kind are made in parallel; their Events follow once they are made. */
function stepsOf(writes: readonly Write[], tell: (write: Write) => readonly News[]): readonly (readonly Action[])[] {
  const steps: { readonly made: Action[]; readonly told: Action[] }[] = [];
  let before = '';
  for (const write of writes) {
    const sort = `${write.do} ${write.resource.plural}`;
    if (sort !== before) steps.push({ made: [], told: [] });
    before = sort;
    const step = steps.at(-1);
    step?.made.push(actionOf(write));
    step?.told.push(...tell(write).map(eventOf));
  }
  return steps.flatMap(({ made, told }) => (told.length === 0 ? [made] : [made, told]));
}

const eventOf = ({ resource, about, type, reason, message }: News): Action => ({
  do: 'event',
  on: SERVER,
  about: { ...refTo(resource, about), apiVersion: apiVersionOf(resource.group, resource.version) },
  type,
  reason,
  message,
  because: message,
});

function actionOf(write: Write): Action {
  const { because, resource } = write;
  if (write.do === 'create') return { do: 'create', on: SERVER, resource, object: write.object, because };
  const { name = '', namespace, uid = '', resourceVersion = '' } = write.of.metadata;
  const of = {
    on: SERVER,
    resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    resourceVersion,
  } as const;
  if (write.do === 'delete') return { do: 'delete', of, because };
  const { merge, subresource } = write;
  return { do: 'patch', of, merge, because, ...(subresource === undefined ? {} : { subresource }) };
}

export const keyOf = ({ metadata: { namespace, name = '' } }: Pick<KubeObject, 'metadata'>): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export const splitKey = (key: string): { readonly namespace: string; readonly name: string } => {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
};

/** Reconciles every object of a source under its own key. */
export const itself = <T extends KubeObject>(source: Source<T>): WatchRule<T> => ({
  source,
  toKeys: (item) => [keyOf(item)],
});

/** Read, but its changes enqueue no key. */
export const onlyRead = <T extends KubeObject>(source: Source<T>): WatchRule<T> => ({ source, toKeys: () => [] });

export function ofKey<T extends KubeObject>(view: View, source: Source<T>, key: string): T | undefined {
  const { namespace, name } = splitKey(key);
  return namespace === '' ? view.get(source, name) : view.get(source, name, namespace);
}
