// Who changed the objects of a revision, as far as the API server records it: the last write of each field manager of
// an existing object. A later write by the same manager replaces the earlier one, so old revisions often have no
// answer. It names programs, not users.
import type { KubeObject } from '../../api/object.ts';
import { byText } from '../../base/compare.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { mapLimit } from '../../base/map-limit.ts';
import { createClient } from '../../client/client.ts';
import type { Connected } from '../server/connect.ts';
import { targetOf } from '../server/target.ts';
import { identityOf } from './object-diff.ts';

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

/** By identity; unreadable or deleted objects are missing. */
export type Writers = ReadonlyMap<string, readonly Writer[]>;

export interface Writer {
  readonly manager: string;
  /** Epoch ms, whole seconds. */
  readonly at: number;
}

const AT_ONCE = 4;
const MAX_READ = 200;

export async function writersOf(server: Server, objects: readonly KubeObject[]): Promise<Writers> {
  const client = createClient(server.transport, 'flotilla');
  const asked = new Map(objects.map((object) => [identityOf(object), object]));
  const found = new Map<string, readonly Writer[]>();
  await mapLimit([...asked].slice(0, MAX_READ), AT_ONCE, async ([identity, object]) => {
    try {
      const { resource, ...at } = targetOf(server, object);
      const live = await client.find(resource, at);
      if (live !== undefined) found.set(identity, writersIn(live as KubeObject));
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof UserError)) throw error;
    }
  });
  return found;
}

/** Status writes do not change what is placed. */
const writersIn = ({ metadata }: KubeObject): readonly Writer[] =>
  (metadata.managedFields ?? []).flatMap((entry) => {
    if (!isObject(entry) || typeof entry['manager'] !== 'string' || (entry['subresource'] ?? '') !== '') return [];
    const at = Date.parse(String(entry['time']));
    return Number.isNaN(at) ? [] : [{ manager: entry['manager'], at }];
  });

export interface Span {
  /** When the previous revision was created, epoch ms; undefined = there is none. */
  readonly after: number | undefined;
  /** When the revision was created. */
  readonly until: number;
}

/** The managers that wrote one of the objects between two revisions, sorted. Pure. */
export function changedBy(writers: Writers, objects: readonly KubeObject[], { after, until }: Span): readonly string[] {
  const names = objects.flatMap((object) =>
    (writers.get(identityOf(object)) ?? [])
      .filter(({ at }) => at <= until && (after === undefined || at > after))
      .map(({ manager }) => manager),
  );
  return [...new Set(names)].toSorted(byText);
}
