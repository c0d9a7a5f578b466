// The message for a revision that an API server rejects because of one object that is too large.
import { envelopeIn } from '../../api/enveloped.ts';
import type { Hold } from '../../api/hold.ts';
import { refText } from '../../api/object.ts';
import { goJson } from '../../base/go-json.ts';
import type { Content } from './content.ts';
import { OBJECT_LIMIT, SNAPSHOT_LIMIT } from './resource-snapshot.ts';

/** An object this large is alone in its snapshot, so if the snapshot is rejected, the object is the cause. */
export const isLarge = ({ largest }: Content): boolean => (largest?.bytes ?? 0) > SNAPSHOT_LIMIT;

export function tooLarge(content: Content): Required<Pick<Hold, 'facts' | 'next'>> {
  const { bytes, objects, largest } = content;
  const facts = { bytes, objects: objects.length, limit: OBJECT_LIMIT };
  if (largest === undefined) return { facts, next: `select less: an object may have at most ${OBJECT_LIMIT} bytes` };
  const entry = largestEntry(content);
  const name = `${refText(largest.of)}${entry === undefined ? '' : ` (largest entry: ${entry})`}`;
  return {
    facts: { ...facts, largest: name, largestBytes: largest.bytes },
    next: `make ${name} smaller, or do not select it: an object may have at most ${OBJECT_LIMIT} bytes`,
  };
}

/** The key of the largest entry of an envelope. */
function largestEntry({ objects, sizes, largest }: Content): string | undefined {
  const object = objects[sizes.findIndex(({ bytes }) => bytes === largest?.bytes)];
  const envelope = object && envelopeIn(object);
  const entries = (envelope?.entries ?? []).map(({ key, object: inner }) => ({ key, length: goJson(inner).length }));
  return entries.toSorted((a, b) => b.length - a.length)[0]?.key;
}
