// ConfigMaps and Secrets: keys that are valid file names, a maximum size, and immutability.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { forbiddenField, invalidValue, required, tooLong } from '../../api/status.ts';
import { deepEqual, setField } from '../../base/json.ts';
import { configMapKeyErrors } from '../../base/names.ts';
import type { Behaviour, Draft } from '../registry.ts';
import { behaviour, textAt } from './behaviour.ts';
import { type Causes, complaints } from './field-checks.ts';

const LARGEST = 1024 * 1024;
const FROZEN = 'field is immutable when `immutable` is set';

type Data = Readonly<Record<string, string>>;

const dataOf = (object: KubeObject | Draft, field: string): Data => (object[field] ?? {}) as Data;

/** The number of bytes that a base64 string encodes. */
const decodedLength = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

function frozenCauses(object: KubeObject, old: KubeObject, fields: readonly string[]): Causes {
  if (old.immutable !== true) return [];
  const causes: FieldCause[] = object.immutable === true ? [] : [forbiddenField('immutable', FROZEN)];
  for (const field of fields) {
    if (!deepEqual(dataOf(object, field), dataOf(old, field))) causes.push(forbiddenField(field, FROZEN));
  }
  return causes;
}

export const configMap: Behaviour = behaviour({
  validate(object, old) {
    const { data, binaryData } = { data: dataOf(object, 'data'), binaryData: dataOf(object, 'binaryData') };
    const causes: FieldCause[] = old === undefined ? [] : [...frozenCauses(object, old, ['data', 'binaryData'])];
    let size = 0;
    for (const key in data) {
      causes.push(...complaints(`data[${key}]`, key, configMapKeyErrors(key)));
      if (Object.hasOwn(binaryData, key)) {
        causes.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
      }
      size += Buffer.byteLength(data[key] ?? '');
    }
    for (const key in binaryData) {
      causes.push(...complaints(`binaryData[${key}]`, key, configMapKeyErrors(key)));
      size += decodedLength(binaryData[key] ?? '');
    }
    return size > LARGEST ? [...causes, tooLong('[]', LARGEST)] : causes;
  },
});

// ---- Secret

const ACCOUNT_NAME = 'kubernetes.io/service-account.name';

export const secret: Behaviour = behaviour({
  default(draft) {
    draft.type ||= 'Opaque';
    const texts = draft.stringData as Data | undefined;
    delete draft.stringData;
    if (!texts) return;
    const data: Record<string, string> = { ...dataOf(draft, 'data') };
    for (const key of Object.keys(texts)) setField(data, key, Buffer.from(texts[key] ?? '').toString('base64'));
    if (Object.keys(data).length > 0) draft.data = data;
  },
  validate(object, old) {
    const data = dataOf(object, 'data');
    const causes: FieldCause[] = [];
    if (old !== undefined) {
      if (object.type !== old.type) causes.push(invalidValue('type', object.type, 'field is immutable'));
      causes.push(...frozenCauses(object, old, ['data']));
    }
    let size = 0;
    for (const key in data) {
      causes.push(...complaints(`data[${key}]`, key, configMapKeyErrors(key)));
      size += decodedLength(data[key] ?? '');
    }
    if (size > LARGEST) causes.push(tooLong('data', LARGEST));
    return [...causes, ...typeCauses(object, data)];
  },
  selectableFields: { type: textAt('type') },
});

function typeCauses(object: KubeObject, data: Data): Causes {
  const need = (...keys: string[]): Causes =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`));
  switch (object.type) {
    case 'kubernetes.io/service-account-token':
      return object.metadata.annotations?.[ACCOUNT_NAME] ? [] : [required(`metadata.annotations[${ACCOUNT_NAME}]`)];
    case 'kubernetes.io/dockercfg':
      return need('.dockercfg').length > 0 ? need('.dockercfg') : jsonCauses('.dockercfg', data);
    case 'kubernetes.io/dockerconfigjson':
      return need('.dockerconfigjson').length > 0 ? need('.dockerconfigjson') : jsonCauses('.dockerconfigjson', data);
    case 'kubernetes.io/basic-auth':
      return need('username', 'password').length === 2 ? need('username', 'password') : [];
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
    case 'kubernetes.io/tls':
      return need('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function jsonCauses(key: string, data: Data): Causes {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(data[key] ?? '', 'base64').toString());
    if (typeof parsed === 'object') return [];
  } catch {
    // reported below, without the content of the Secret
  }
  return [invalidValue(`data[${key}]`, '<secret contents redacted>', 'must be a JSON object')];
}
