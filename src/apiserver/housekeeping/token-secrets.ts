// Fills Secrets of type service-account-token with a token, the CA and the namespace; deletes them with their account.
import type { KubeObject } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import { keyOf, prefixOf, type Stored } from '../store/store.ts';
import type { Loop } from './loop.ts';
import { controller, headOf, mayMention, partsOf, type Remove, replaceObject, resourceAt } from './objects.ts';

const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';
const SECRETS = prefixOf('', 'secrets');
const ACCOUNTS = prefixOf('', 'serviceaccounts');
const CALLER = controller('tokens-controller');

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export function tokenSecrets(cluster: Cluster, remove: Remove): Loop {
  return {
    name: 'token secrets',
    notice({ key, stored, deleted, isOld }, want) {
      if (key.startsWith(SECRETS)) {
        if (!deleted && (!isOld || mayMention(stored, TYPE)) && stored.object().type === TYPE) want(key);
      } else if (key.startsWith(ACCOUNTS) && !isOld) {
        // An account was created, deleted or replaced by another of the same name.
        const { namespace, name } = partsOf(key);
        for (const secret of cluster.store.range(prefixOf('', 'secrets', namespace)).items) {
          if (mayMention(secret, TYPE) && accountOf(secret.object()) === name) want(secret.key);
        }
      }
    },
    async work(key) {
      const stored = headOf(cluster, key);
      const secret = stored?.object();
      if (stored === undefined || secret === undefined || secret.metadata.deletionTimestamp !== undefined) return;
      const name = accountOf(secret);
      if (name === undefined) return;
      const { namespace } = partsOf(key);
      const account = headOf(cluster, keyOf('', 'serviceaccounts', namespace, name))?.object();
      const uid = secret.metadata.annotations?.[ACCOUNT_UID];
      const isOrphan = account === undefined || (uid !== undefined && uid !== account.metadata.uid);
      if (isOrphan) await removeSecret(cluster, remove, stored);
      else await fill(cluster, stored, account);
    },
  };
}

const accountOf = (secret: KubeObject): string | undefined =>
  secret.type === TYPE ? secret.metadata.annotations?.[ACCOUNT_NAME] : undefined;

async function removeSecret(cluster: Cluster, remove: Remove, stored: Stored): Promise<void> {
  const { namespace, name, ...of } = partsOf(stored.key);
  const resource = resourceAt(cluster, { ...of, namespace, name });
  if (resource === undefined) return;
  const preconditions = { resourceVersion: String(stored.revision) };
  await remove(cluster, { resource, version: resource.stored, namespace, name }, { preconditions }, CALLER);
}

async function fill(cluster: Cluster, stored: Stored, account: KubeObject): Promise<void> {
  const secret = stored.object();
  const { namespace, name: secretName } = partsOf(stored.key);
  const { name = '', uid = '' } = account.metadata;
  const old = (secret.data ?? {}) as Readonly<Record<string, string>>;
  const issue = () => base64(cluster.tokens.issueForSecret({ namespace, name, uid, secretName }));
  const data = {
    ...old,
    'ca.crt': base64(cluster.caCertificate),
    namespace: base64(namespace),
    token: old['token'] || issue(),
  };
  const annotations = { ...secret.metadata.annotations, [ACCOUNT_UID]: uid };
  if (deepEqual(data, old) && deepEqual(annotations, secret.metadata.annotations)) return;
  await replaceObject(cluster, stored, { ...secret, metadata: { ...secret.metadata, annotations }, data });
}
