// Lists are assembled from the bytes that the store keeps per object. A small list is sent in one piece with its
// length; a large one in chunks, each after the previous one was sent, so a list of any size needs only a few hundred
// kilobytes. Tables, metadata and YAML need parsed objects: their chunks are small, and other requests run before the
// next one.
import { once } from 'node:events';
import { apiVersionOf } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import { bytesIn, objectIn } from '../represent.ts';
import type { Stored } from '../store/store.ts';
import type { At, Listed } from '../verbs/call.ts';
import type { Representation } from './negotiate.ts';
import type { IncludeObject } from './options.ts';
import { type Exchange, headersOf, sendBytes } from './respond.ts';
import { metadataText } from './single.ts';
import { tableHead, tableRow } from './table-text.ts';

export interface ListAnswer {
  readonly at: At;
  readonly listed: Listed;
  readonly representation: Representation;
  readonly include: IncludeObject;
  readonly now: number;
}

export const CHUNK_BYTES = 256 * 1024;
/** Stored JSON parsed per chunk: takes some milliseconds. */
export const CHUNK_PARSED_BYTES = 512 * 1024;

/** `parsed`: the bytes of JSON that were parsed for it. */
type Piece = Uint8Array | string | { readonly text: string; readonly parsed: number };

/** Returns a promise only if the list does not fit into one chunk. */
export function sendList(exchange: Exchange, answer: ListAnswer): void | Promise<void> {
  const { contentType } = answer.representation;
  const pieces = piecesOf(answer);
  const first = gather(pieces);
  if (first.isAll) return sendBytes(exchange, 200, contentType, first.bytes);
  return stream(exchange, contentType, first.bytes, pieces);
}

async function stream(
  exchange: Exchange,
  contentType: string,
  first: Uint8Array,
  pieces: Iterator<Piece>,
): Promise<void> {
  const { response } = exchange;
  const gone = new AbortController();
  const onClose = () => gone.abort();
  response.once('close', onClose);
  try {
    response.writeHead(200, headersOf(exchange, contentType));
    let next = { bytes: first, isAll: false };
    for (;;) {
      if (response.destroyed) return;
      if (!response.write(next.bytes)) await once(response, 'drain', { signal: gone.signal });
      if (next.isAll) break;
      await new Promise((resolve) => setImmediate(resolve));
      next = gather(pieces);
    }
    response.end();
  } catch (error) {
    if (gone.signal.aborted) return; // the client has disconnected
    // The client must not take a partial list for a complete one.
    response.destroy();
    throw error;
  } finally {
    response.removeListener('close', onClose);
  }
}

function gather(pieces: Iterator<Piece>): { readonly bytes: Uint8Array; readonly isAll: boolean } {
  const parts: Uint8Array[] = [];
  let length = 0;
  let parsed = 0;
  while (length < CHUNK_BYTES && parsed < CHUNK_PARSED_BYTES) {
    const { value, done } = pieces.next() as IteratorResult<Piece, undefined>;
    if (done) return { bytes: Buffer.concat(parts, length), isAll: true };
    const part = value instanceof Uint8Array ? value : Buffer.from(typeof value === 'string' ? value : value.text);
    if (typeof value === 'object' && 'parsed' in value) parsed += value.parsed;
    parts.push(part);
    length += part.length;
  }
  return { bytes: Buffer.concat(parts, length), isAll: false };
}

function piecesOf(answer: ListAnswer): Iterator<Piece> {
  switch (answer.representation.form) {
    case 'table':
      return tablePieces(answer);
    case 'metadata-list':
      return metadataPieces(answer);
    case 'metadata':
      throw new ApiError(
        406,
        'NotAcceptable',
        `you requested PartialObjectMetadata, but the requested object is a list (${answer.at.resource.listKind})`,
      );
    case 'yaml':
      return yamlPieces(answer);
    default:
      return objectPieces(answer);
  }
}

function* objectPieces({ at, listed }: ListAnswer): Generator<Piece> {
  const apiVersion = apiVersionOf(at.resource.group, at.version.version);
  yield `${opening(at.resource.listKind, apiVersion, listed)},"items":[`;
  yield* joined(listed.items, itemBytes(at));
  yield ']}\n';
}

function* metadataPieces({ listed, representation }: ListAnswer): Generator<Piece> {
  yield `${opening('PartialObjectMetadataList', `meta.k8s.io/${representation.version}`, listed)},"items":[`;
  yield* joined(listed.items, {
    before: '',
    bytes: (stored) => parsedFrom(stored, metadataText(stored, representation.version)),
  });
  yield ']}\n';
}

function* tablePieces({ at, listed, representation, include, now }: ListAnswer): Generator<Piece> {
  const { version } = representation;
  yield tableHead(at.version.table, { metadata: listMeta(listed), version, withColumns: true });
  yield* joined(listed.items, {
    before: '',
    bytes: (stored) =>
      parsedFrom(stored, tableRow(objectIn(at.resource, at.version, stored), at.version.table, { now, include })),
  });
  yield ']}\n';
}

/** For users; programs that list this much request JSON. */
function* yamlPieces({ at, listed }: ListAnswer): Generator<Piece> {
  const apiVersion = apiVersionOf(at.resource.group, at.version.version);
  yield writeYaml({ apiVersion, kind: at.resource.listKind, metadata: listMeta(listed) });
  if (listed.items.length === 0) yield 'items: []\n';
  else yield 'items:\n';
  for (const stored of listed.items) yield parsedFrom(stored, writeYaml([objectIn(at.resource, at.version, stored)]));
}

const parsedFrom = (stored: Stored, text: string): Piece => ({ text, parsed: stored.weight ?? 0 });

interface Item {
  /** Written before each item's bytes. */
  readonly before: string;
  bytes(stored: Stored): Piece;
}

function* joined(items: readonly Stored[], item: Item): Generator<Piece> {
  const first = Buffer.from(item.before);
  const other = Buffer.from(`,${item.before}`);
  let separator = first;
  for (const stored of items) {
    if (separator.length > 0) yield separator;
    yield item.bytes(stored);
    separator = other;
  }
}

/**
 * Items of built-in kinds omit apiVersion and kind, those of custom kinds have them. Both come first in the stored
 * bytes, so they are cut off or replaced without parsing the rest.
 */
function itemBytes({ resource, version }: At): Item {
  if (version !== resource.stored && version.convert) {
    return { before: '', bytes: (stored) => bytesIn(resource, version, stored) };
  }
  const openingIn = (word: string) =>
    `{"apiVersion":"${apiVersionOf(resource.group, word)}","kind":"${resource.kind}",`;
  const cut = Buffer.byteLength(openingIn(resource.stored.version));
  const before = resource.custom ? openingIn(version.version) : '{';
  return { before, bytes: (stored) => stored.bytes().subarray(cut) };
}

const opening = (kind: string, apiVersion: string, listed: Listed): string =>
  `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(listMeta(listed))}`;

const listMeta = (listed: Listed) => ({
  resourceVersion: String(listed.revision),
  ...(listed.continue === undefined ? {} : { continue: listed.continue }),
  ...(listed.remaining === undefined ? {} : { remainingItemCount: listed.remaining }),
});
