// APIServices: the served groups. Those of this server are available; other API servers cannot be reached from here.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue, required } from '../../api/status.ts';
import type { Behaviour } from '../registry.ts';
import { KEEPS_METADATA } from '../status-keeps.ts';
import { behaviour, pathName, specOf, startsWith } from './behaviour.ts';

interface ApiServiceSpec {
  group?: string;
  version?: string;
  groupPriorityMinimum?: number;
  versionPriority?: number;
  service?: { name?: string; namespace?: string; port?: number };
  insecureSkipTLSVerify?: boolean;
  caBundle?: string;
}

const HTTPS = 443;

export const apiService: Behaviour = behaviour({
  unconditionalUpdate: false,
  statusKeeps: KEEPS_METADATA,
  nameError: pathName,
  default(draft) {
    const { service } = specOf<ApiServiceSpec>(draft);
    if (service) service.port ??= HTTPS;
  },
  prepare: startsWith(() => ({})),
  validate(object, _old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as ApiServiceSpec;
    const { group = '', version = '', groupPriorityMinimum: priority = 0, versionPriority = 0 } = spec;
    const wanted = `${version}.${group}`;
    const causes: FieldCause[] = [];
    if (object.metadata.name !== wanted) {
      const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
      causes.push(invalidValue('metadata.name', object.metadata.name, why));
    }
    if (version === '') causes.push(required('spec.version'));
    if (priority <= 0 || priority > 20000) {
      causes.push(invalidValue('spec.groupPriorityMinimum', priority, 'must be positive and less than 20000'));
    }
    if (versionPriority <= 0 || versionPriority > 1000) {
      causes.push(invalidValue('spec.versionPriority', versionPriority, 'must be positive and less than 1000'));
    }
    if (spec.service === undefined && spec.insecureSkipTLSVerify === true) {
      const why = 'local APIService should not have insecureSkipTLSVerify set to true';
      causes.push(invalidValue('spec.insecureSkipTLSVerify', 'true', why));
    }
    return causes;
  },
});
