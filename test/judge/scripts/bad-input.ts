// What clients should not send, held against a real server.
import type { Question, Script } from '../script.ts';
import {
  bodies,
  CM,
  CRP,
  crp,
  identities,
  map,
  NAMESPACE,
  patches,
  paths,
  queries,
  type Row,
  selectors,
} from './bad-input-rows.ts';

const NAMESPACE_HERE = `${NAMESPACE}-{{id}}`;

/** The rows name a namespace and a placement; here these have names of their own. */
const renamed = (text: string): string =>
  text
    .replaceAll(`namespaces/${NAMESPACE}/`, `namespaces/${NAMESPACE_HERE}/`)
    .replaceAll(`${CRP}/there`, `${CRP}/there-{{id}}`);

const questionOf = ({ it, method, path, body, headers, anonymous, ours }: Row): Question => {
  const isPlacement = path.startsWith(`${CRP}/there`);
  const sent = isPlacement && typeof body === 'string' ? body.replace('"name":"there"', '"name":"there-{{id}}"') : body;
  return {
    it,
    path: renamed(path),
    ...(method === undefined ? {} : { method }),
    ...(sent === undefined ? {} : { body: sent }),
    ...(headers === undefined ? {} : { headers }),
    ...(anonymous === undefined ? {} : { anonymous }),
    ...(ours === undefined ? {} : { differs: { known: ours } }),
  };
};

export const badInput: Script = {
  name: 'bad-input',
  steps: [
    { path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE_HERE } } },
    { path: renamed(CM), body: map('there', ',"data":{"a":"1"}') },
    { path: CRP, body: crp('there-{{id}}', `{${selectors}}`) },
    ...[...bodies, ...patches, ...paths, ...queries, ...identities].map(questionOf),
    // Lists of other scripts show whatever is in the cluster.
    { method: 'DELETE', path: `${CRP}/there-{{id}}` },
  ],
};
