// Watch events as bytes, encoded once for all watchers that need the same form of the same change. The cache is
// bounded: an event is needed by many watchers for a moment, but objects exist for years.
import { apiVersionOf } from '../../api/object.ts';
import { statusOf } from '../../api/status.ts';
import type { ApiError } from '../../base/errors.ts';
import { bytesIn, objectIn } from '../represent.ts';
import type { Stored } from '../store/store.ts';
import type { At, FeedEvent } from '../verbs/call.ts';
import type { IncludeObject } from './options.ts';
import { metadataText } from './single.ts';
import { tableHead, tableRow } from './table-text.ts';

/** Everything that determines the encoding except the event. Watchers with an equal `key` share bytes. */
export interface EventShape {
  readonly key: string;
  readonly at: At;
  readonly form: 'json' | 'table' | 'metadata';
  /** Version of the table or metadata format. */
  readonly version: string;
  readonly include: IncludeObject;
}

export function eventShape(shape: Omit<EventShape, 'key'>): EventShape {
  const { resource, version } = shape.at;
  const parts = [resource.group, resource.plural, version.version, shape.form, shape.version, shape.include];
  return { ...shape, key: parts.join(' ') };
}

export interface EventEncoder {
  /** The first event of a table watch also contains the column definitions. */
  encode(shape: EventShape, event: FeedEvent, isFirst: boolean): Uint8Array;
  /** The number of encoded events. */
  readonly made: number;
}

export interface EncoderOptions {
  now(): number;
  readonly maxEvents?: number;
  readonly maxBytes?: number;
}

export function createEventEncoder({
  now,
  maxEvents = 2_048,
  maxBytes = 16 * 1024 * 1024,
}: EncoderOptions): EventEncoder {
  // Keyed by the object, not by its name, so that objects of two clusters, or before and after a deletion, are never
  // confused. Oldest first.
  const kept = new Map<Stored, Map<string, Uint8Array>>();
  let keptBytes = 0;
  let made = 0;

  const forget = () => {
    const [oldest] = kept;
    if (!oldest) return;
    kept.delete(oldest[0]);
    for (const bytes of oldest[1].values()) keptBytes -= bytes.length;
  };

  return {
    get made() {
      return made;
    },
    encode(shape, event, isFirst) {
      const { stored } = event;
      if (stored === undefined) return bookmarkBytes(shape, event);
      const key = isFirst && shape.form === 'table' ? `${event.type} first ${shape.key}` : `${event.type} ${shape.key}`;
      let forms = kept.get(stored);
      const known = forms?.get(key);
      if (known) return known;
      made++;
      const bytes = eventBytes(shape, event.type, stored, isFirst, now());
      forms ??= new Map();
      kept.set(stored, forms);
      forms.set(key, bytes);
      keptBytes += bytes.length;
      while (kept.size > maxEvents || (keptBytes > maxBytes && kept.size > 1)) forget();
      return bytes;
    },
  };
}

function eventBytes(shape: EventShape, type: string, stored: Stored, isFirst: boolean, now: number): Uint8Array {
  const { at, form, version, include } = shape;
  const open = `{"type":"${type}","object":`;
  if (form === 'json') {
    const bytes = bytesIn(at.resource, at.version, stored);
    const whole = Buffer.allocUnsafe(open.length + bytes.length + 2);
    whole.write(open, 0, 'latin1');
    whole.set(bytes, open.length);
    whole.write('}\n', open.length + bytes.length, 'latin1');
    return whole;
  }
  if (form === 'metadata') return Buffer.from(`${open}${metadataText(stored, version)}}\n`);
  const { table } = at.version;
  const metadata = { resourceVersion: String(stored.revision) };
  const head = tableHead(table, { metadata, version, withColumns: isFirst });
  const row = tableRow(objectIn(at.resource, at.version, stored), table, { now, include });
  return Buffer.from(`${open}${head}${row}]}}\n`);
}

/** An object with only a resourceVersion: the watcher has seen everything up to it. */
function bookmarkBytes({ at, form, version }: EventShape, event: FeedEvent): Uint8Array {
  const metadata = {
    resourceVersion: String(event.revision),
    ...(event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  if (form === 'table') {
    const { resourceVersion } = metadata;
    const head = tableHead(at.version.table, { metadata: { resourceVersion }, version, withColumns: false });
    const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata };
    const cells = at.version.table.columns.map((column) => (column.type === 'string' ? '' : null));
    return Buffer.from(`{"type":"BOOKMARK","object":${head}${JSON.stringify({ cells, object })}]}}\n`);
  }
  const [kind, apiVersion] =
    form === 'metadata'
      ? ['PartialObjectMetadata', `meta.k8s.io/${version}`]
      : [at.resource.kind, apiVersionOf(at.resource.group, at.version.version)];
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } })}\n`);
}

/** The last event of a watch that fails. */
export const errorEvent = (error: ApiError): Uint8Array =>
  Buffer.from(`${JSON.stringify({ type: 'ERROR', object: statusOf(error) })}\n`);
