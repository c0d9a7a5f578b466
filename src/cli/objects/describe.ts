// `flotilla describe`: an object with all its fields and its Events.

import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { writeYaml } from '../../base/write-yaml.ts';
import type { Connected } from '../server/connect.ts';
import { namespaceFor, type Print } from '../server/target.ts';
import { align } from '../terminal/format-table.ts';

const EVENTS: Resource = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

export async function describe(server: Server, word: string, name: string, print: Print): Promise<void> {
  const resource = server.catalogue.byWord(word);
  const at = { resource, name, ...namespaceFor(server, resource) };
  const object = (await server.transport.call({ verb: 'get', at })).object as KubeObject;
  print.line(describeObject(object));
  const events = await eventsAbout(server, object);
  print.line(events.length === 0 ? 'Events:       <none>' : `Events:\n${indent(eventTable(events))}`);
}

export function describeObject(object: KubeObject): string {
  const { metadata, apiVersion, kind, ...content } = object;
  const { labels, annotations, managedFields: _left, ...meta } = metadata;
  const head = align([
    ['Name:', metadata.name ?? ''],
    ['Namespace:', metadata.namespace ?? ''],
    ['Labels:', pairs(labels)],
    ['Annotations:', pairs(annotations)],
    ['API Version:', apiVersion],
    ['Kind:', kind],
  ]);
  const sections = Object.entries({ metadata: meta, ...content }).map(
    ([field, value]) => `${field[0]?.toUpperCase()}${field.slice(1)}:\n${indent(writeYaml(value).trimEnd())}`,
  );
  return [head, ...sections].join('\n');
}

const pairs = (map: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(map ?? {})
    .map(([key, value]) => `${key}=${value.length > 120 ? `${value.slice(0, 120)}…` : value}`)
    .join(', ') || '<none>';

const indent = (text: string): string => text.replace(/^/gm, '  ');

async function eventsAbout(server: Server, { kind, metadata }: KubeObject): Promise<readonly KubeObject[]> {
  const fields = `involvedObject.kind=${kind},involvedObject.name=${metadata.name},involvedObject.uid=${metadata.uid}`;
  const at = { resource: EVENTS, namespace: metadata.namespace };
  const found = (await server.transport.call({ verb: 'list', at, fields })).list?.items ?? [];
  return found.toSorted(by((event) => String(event['lastTimestamp'] ?? event.metadata.creationTimestamp ?? '')));
}

function eventTable(events: readonly KubeObject[]): string {
  const text = (event: KubeObject, field: string) => String(event[field] ?? '');
  const rows = events.map((event) => ['lastTimestamp', 'type', 'reason', 'message'].map((field) => text(event, field)));
  return align([['Last Seen', 'Type', 'Reason', 'Message'], ...rows]);
}
