// One object as a response, in the requested form. The plain form is the store's own bytes.

import { ApiError } from '../../base/errors.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import { scaleTable } from '../builtin/tables/scaling.ts';
import type { ServedResource } from '../registry.ts';
import { bytesIn, objectIn } from '../represent.ts';
import type { Stored } from '../store/store.ts';
import type { At } from '../verbs/call.ts';
import type { Choose, Form, Representation } from './negotiate.ts';
import { includeObject, type Query } from './options.ts';
import { type Exchange, sendBytes } from './respond.ts';
import { tableHead, tableRow } from './table-text.ts';

const ALL_FORMS: ReadonlySet<Form> = new Set(['json', 'yaml', 'table', 'metadata', 'metadata-list']);
const PLAIN_FORMS: ReadonlySet<Form> = new Set(['json', 'yaml']);

export interface SingleAnswer {
  readonly at: At;
  readonly stored: Stored;
  readonly query: Query;
  readonly choose: Choose;
  readonly now: number;
}

/** The form that the client accepts. Throws a 406 if it accepts none, or a 400 for an unknown table. */
export function singleForm(
  exchange: Exchange,
  { at, query, choose }: Pick<SingleAnswer, 'at' | 'query' | 'choose'>,
): Representation {
  const isPlain = hasOwnKind(at.resource, at.subresource) && at.subresource !== 'scale';
  const chosen = choose(exchange.request.headers.accept, isPlain ? PLAIN_FORMS : ALL_FORMS);
  if (chosen.form === 'metadata-list') {
    throw new ApiError(
      406,
      'NotAcceptable',
      `you requested PartialObjectMetadataList, but the requested object is not a list (${at.resource.kind})`,
    );
  }
  if (chosen.form === 'table') includeObject(query); // throws if invalid
  return chosen;
}

export function sendObject(exchange: Exchange, code: number, { at, stored, query, choose, now }: SingleAnswer): void {
  const isForeign = hasOwnKind(at.resource, at.subresource);
  const isScale = at.subresource === 'scale';
  const { form, version, contentType } = singleForm(exchange, { at, query, choose });
  const { resource } = at;
  switch (form) {
    case 'json':
      sendBytes(exchange, code, contentType, isForeign ? stored.bytes() : bytesIn(resource, at.version, stored));
      return;
    case 'yaml': {
      const object = isForeign ? stored.object() : objectIn(resource, at.version, stored);
      sendBytes(exchange, code, contentType, Buffer.from(writeYaml(object)));
      return;
    }
    case 'table': {
      const { resourceVersion } = stored.object().metadata;
      const metadata = resourceVersion === undefined ? {} : { resourceVersion };
      const table = isScale ? scaleTable : at.version.table;
      const object = isForeign ? stored.object() : objectIn(resource, at.version, stored);
      const head = tableHead(table, { metadata, version, withColumns: true });
      const row = tableRow(object, table, { now, include: includeObject(query) });
      sendBytes(exchange, code, contentType, Buffer.from(`${head}${row}]}\n`));
      return;
    }
    case 'metadata':
      sendBytes(exchange, code, contentType, Buffer.from(metadataText(stored, version)));
      return;
  }
}

/** Only an object's metadata, as PartialObjectMetadata. */
export const metadataText = (stored: Stored, version: string): string =>
  `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(stored.object().metadata)}}`;

/** Scale, TokenRequest and similar kinds are returned unconverted: they do not have the versions of their resource. */
function hasOwnKind(resource: ServedResource, subresource: string | undefined): boolean {
  if (subresource === undefined || subresource === 'status') return false;
  const declared = resource.subresources.find((each) => each.name === subresource);
  return declared === undefined || declared.kind !== resource.kind;
}
