// OpenAPI v3: the source of `kubectl explain`, and how kubectl learns that this server validates fields itself. One
// document per group version, created on first use and shared by all clusters that serve the same kinds.
import { resolveBuiltin, typeNameOf } from '../../api/builtin/types.ts';
import type { Schema } from '../../api/schema.ts';
import { sha256 } from '../../base/hash.ts';
import type { Registry, ServedResource } from '../registry.ts';
import { rootOf } from './discovery.ts';
import { groupDocument } from './openapi-document.ts';
import { type Exchange, sendBytes, sendJson } from './respond.ts';
import { type GroupVersion, perEpoch } from './served-groups.ts';
import { RELEASE } from './version.ts';

export interface OpenApiServer {
  /** False: the path does not belong to OpenAPI. */
  serve(exchange: Exchange, registry: Registry, path: string, query: URLSearchParams, now: number): boolean;
}

const ROOT = '/openapi/v3';
const OLD_ROOT = '/openapi/v2';
/** Increment it when the format of documents changes: clients cache them for a year by their hash. */
const FORMAT = 2;
const YEAR_MS = 365 * 24 * 3600 * 1000;

export function createOpenApi(): OpenApiServer {
  const schemaHashes = new WeakMap<Schema, string>();
  // By the first resource of a group: all clusters of a process share the built-in resource objects.
  const shared = new WeakMap<ServedResource, Entry[]>();

  const entryOf = (each: GroupVersion): Entry => {
    const first = each.resources[0]?.resource as ServedResource;
    const known = shared.get(first) ?? [];
    shared.set(first, known);
    let entry = known.find(({ of }) => isSame(of, each));
    if (!entry) {
      entry = createEntry(each, (schema) => hashOf(schema, schemaHashes));
      known.push(entry);
      if (known.length > MAX_VARIANTS) known.shift();
    }
    return entry;
  };
  const entriesOf = perEpoch((groups) => {
    const entries = groups.flatMap((group) => group.versions).map(entryOf);
    return new Map(entries.map((entry) => [rootOf(entry.of), entry]));
  });

  return {
    serve(exchange, registry, path, query, now) {
      if (path === OLD_ROOT) {
        sendOldDocument(exchange);
        return true;
      }
      if (path === ROOT) {
        const paths = [...entriesOf(registry)].map(([root, { hash }]) => [
          root.slice(1),
          { serverRelativeURL: `${ROOT}${root}?hash=${hash}` },
        ]);
        sendJson(exchange, 200, { paths: Object.fromEntries(paths) });
        return true;
      }
      if (!path.startsWith(`${ROOT}/`)) return false;
      const entry = entriesOf(registry).get(path.slice(ROOT.length));
      if (!entry) return false;
      sendDocument(exchange, entry, path, query.get('hash'), now);
      return true;
    },
  };
}

/**
 * The OpenAPI v2 document is empty, which is enough: kubectl uses it for types without a v3 document (lists, reviews,
 * unknown kinds), does not validate what it does not find, and fails only if there is no document at all.
 */
const OLD_DOCUMENT = { swagger: '2.0', info: { title: 'Flotilla', version: '1.34' }, paths: {} };
const OLD_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * The same in the protobuf format of github.com/google/gnostic: swagger = 1, info { title = 1, version = 2 } = 2, paths
 * = 8.
 */
function oldDocumentBytes(): Buffer {
  const field = (number: number, content: Buffer | string) => {
    const bytes = Buffer.from(content);
    return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  };
  const { swagger, info } = OLD_DOCUMENT;
  const about = Buffer.concat([field(1, info.title), field(2, info.version)]);
  return Buffer.concat([field(1, swagger), field(2, about), field(8, '')]);
}

function sendOldDocument(exchange: Exchange): void {
  const { accept = '' } = exchange.request.headers;
  if (/spec\.v2[@.]v1\.0\+protobuf/.test(accept)) sendBytes(exchange, 200, OLD_TYPE, oldDocumentBytes());
  else sendJson(exchange, 200, OLD_DOCUMENT);
}

// Versions of one group share their first resource, and so may CRDs that were changed a few times.
const MAX_VARIANTS = 16;

interface Entry {
  readonly of: GroupVersion;
  readonly hash: string;
  bytes(): Buffer;
}

const isSame = (a: GroupVersion, b: GroupVersion): boolean =>
  a.version === b.version &&
  a.resources.length === b.resources.length &&
  a.resources.every((each, index) => each.resource === b.resources[index]?.resource);

/** The hash is computed without the document, because kubectl requests all hashes before it fetches one document. */
function createEntry(of: GroupVersion, schemaHash: (schema: Schema) => string): Entry {
  const facts = of.resources.map(({ resource, served }) => [
    resource.plural,
    resource.kind,
    resource.namespaced,
    resource.hasStatus,
    resource.scale !== undefined,
    resource.verbs,
    resource.subresources.map((each) => each.name),
    resource.custom ? schemaHash(served.schema) : 'built in',
  ]);
  let bytes: Buffer | undefined;
  return {
    of,
    hash: sha256(JSON.stringify([FORMAT, RELEASE, of.group, of.version, facts])).toUpperCase(),
    bytes() {
      bytes ??= Buffer.from(JSON.stringify(groupDocument(of, { resolve: resolveBuiltin, typeNameOf })));
      return bytes;
    },
  };
}

function hashOf(schema: Schema, known: WeakMap<Schema, string>): string {
  let hash = known.get(schema);
  if (hash === undefined) {
    hash = sha256(JSON.stringify(schema));
    known.set(schema, hash);
  }
  return hash;
}

function sendDocument(exchange: Exchange, entry: Entry, path: string, asked: string | null, now: number): void {
  const etag = `"${entry.hash}"`;
  const more = ['ETag', etag, 'Vary', 'Accept'];
  const nothing = Buffer.alloc(0);
  if (asked !== null && asked !== entry.hash) {
    const location = `${path}?hash=${entry.hash}`;
    sendBytes(exchange, 301, 'application/json', nothing, { more: [...more, 'Location', location] });
    return;
  }
  // kubectl's cache ignores `immutable` without a date.
  const isFixed = asked !== null;
  const options = {
    more: isFixed ? [...more, 'Expires', new Date(now + YEAR_MS).toUTCString()] : more,
    ...(isFixed ? { cacheControl: 'public, immutable' } : {}),
  };
  const isKnown = exchange.request.headers['if-none-match'] === etag;
  sendBytes(exchange, isKnown ? 304 : 200, 'application/json', isKnown ? nothing : entry.bytes(), options);
}
