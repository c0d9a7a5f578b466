// Control planes in a kubeconfig that may be somebody's own: their clusters, users and contexts are put in and taken out again, and everything else stays
// as it is, comments included. What has the name of a plane and is none of ours is never replaced.
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Document, isMap, isSeq, parseDocument, type YAMLMap, YAMLSeq } from 'yaml';
import { type Kubeconfig, kubeconfigText } from '../../src/apiserver/auth/kubeconfig.ts';
import { writePrivateFile } from '../../src/apiserver/auth/private-file.ts';
import { AUTHORITY } from './credentials.ts';

const SECTIONS = ['clusters', 'users', 'contexts'] as const;
type Section = (typeof SECTIONS)[number];
const CURRENT = 'current-context';

const CA = ['cluster', 'certificate-authority-data'];
const CLIENT = ['user', 'client-certificate-data'];

/** The first plane becomes the current context where there is none. */
export async function putInto(file: string, own: Kubeconfig): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await write(file, put(read(file), own));
}

/** Only what is as it was put in. A file that is gone stays away. */
export async function takeFrom(file: string, own: Kubeconfig): Promise<void> {
  if (existsSync(file)) await write(file, taken(read(file), own));
}

export function put(text: string, own: Kubeconfig): string {
  const config = documentOf(text);
  const entries = documentOf(kubeconfigText(own));
  const others = namesOfOthers(config, entries);
  if (others.length > 0)
    throw new Error(`it has ${others.join(', ')} of another cluster: choose other names, or another file`);
  for (const section of SECTIONS) {
    const list = listIn(config, section);
    for (const entry of entriesIn(entries, section)) {
      const at = indexIn(list, entry);
      // An empty list may be written as [].
      list.flow &&= list.items.length > 0;
      if (at < 0) list.add(entry);
      // Of a context that is there, a person may have set the namespace.
      else if (section !== 'contexts') list.items[at] = entry;
    }
  }
  if (indexOf(listIn(config, 'contexts'), config.get(CURRENT)) < 0) config.set(CURRENT, own.current);
  return textOf(config);
}

export function taken(text: string, own: Kubeconfig): string {
  const config = documentOf(text);
  const entries = documentOf(kubeconfigText(own));
  const gone: string[] = [];
  for (const [section, mark] of [
    ['contexts', undefined],
    ['clusters', CA],
    ['users', CLIENT],
  ] as const) {
    const list = listIn(config, section);
    for (const entry of entriesIn(entries, section)) {
      const at = indexIn(list, entry);
      const found = list.items[at];
      if (!isMap(found)) continue;
      const isOwn = mark === undefined ? isOwnContext(config, entries, found) : found.getIn(mark) === entry.getIn(mark);
      if (!isOwn) continue;
      list.items.splice(at, 1);
      list.flow ||= list.items.length === 0;
      if (section === 'contexts') gone.push(nameOf(entry));
    }
  }
  if (gone.includes(String(config.get(CURRENT)))) config.set(CURRENT, '');
  return textOf(config);
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** A link stays one. */
const write = (file: string, text: string): Promise<void> =>
  writePrivateFile(existsSync(file) ? realpathSync(file) : file, text);

function documentOf(text: string): Document {
  const config: Document = parseDocument(text, { prettyErrors: false });
  const [error] = config.errors;
  if (error) throw new Error(`it is no kubeconfig: ${error.message}`);
  if (config.contents === null) return new Document({ apiVersion: 'v1', kind: 'Config' });
  if (!isMap(config.contents)) throw new Error('it is no kubeconfig');
  return config;
}

// Keys are long single lines.
const textOf = (config: Document): string => config.toString({ lineWidth: 0 });

function listIn(config: Document, section: Section): YAMLSeq {
  const found = config.get(section);
  if (isSeq(found)) return found;
  const list = new YAMLSeq();
  config.set(section, list);
  return list;
}

const entriesIn = (config: Document, section: Section): readonly YAMLMap[] =>
  listIn(config, section).items.filter((item) => isMap(item));

const nameOf = (entry: YAMLMap): string => String(entry.get('name'));
const indexOf = (list: YAMLSeq, name: unknown): number =>
  list.items.findIndex((item) => isMap(item) && item.get('name') === name);
const indexIn = (list: YAMLSeq, entry: YAMLMap): number => indexOf(list, nameOf(entry));

/** What has a name that is to be put in, and was not made by a plane, be it one that is gone. */
function namesOfOthers(config: Document, own: Document): readonly string[] {
  const isOurs: Readonly<Record<Section, (found: YAMLMap, entry: YAMLMap) => boolean>> = {
    clusters: (found) => isOfPlane(found.getIn(CA), 'subject'),
    users: (found) => isOfPlane(found.getIn(CLIENT), 'issuer'),
    contexts: hasSameTarget,
  };
  return SECTIONS.flatMap((section) =>
    entriesIn(own, section).flatMap((entry) => {
      const found = entriesIn(config, section).find((each) => nameOf(each) === nameOf(entry));
      return found === undefined || isOurs[section](found, entry)
        ? []
        : [`the ${section.slice(0, -1)} "${nameOf(entry)}"`];
    }),
  );
}

const hasSameTarget = (one: YAMLMap, other: YAMLMap): boolean =>
  ['cluster', 'user'].every((key) => one.getIn(['context', key]) === other.getIn(['context', key]));

function isOfPlane(base64: unknown, who: 'subject' | 'issuer'): boolean {
  try {
    return new X509Certificate(Buffer.from(String(base64), 'base64'))[who].split('\n').includes(`CN=${AUTHORITY}`);
  } catch {
    return false;
  }
}

/** It leads to the plane's own cluster. */
function isOwnContext(config: Document, own: Document, found: YAMLMap): boolean {
  const name = nameOf(found);
  const named = (document: Document, section: Section) =>
    entriesIn(document, section).find((each) => nameOf(each) === name);
  const [mine, cluster, ownCluster] = [named(own, 'contexts'), named(config, 'clusters'), named(own, 'clusters')];
  return mine !== undefined && hasSameTarget(found, mine) && cluster?.getIn(CA) === ownCluster?.getIn(CA);
}
