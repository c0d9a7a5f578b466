// CertificateSigningRequests: the server records the requester, and the request itself is immutable.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue, required } from '../../api/status.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour, pathName, specOf, startsWith, textAt } from './behaviour.ts';

interface RequestSpec {
  request?: string;
  signerName?: string;
  usages?: string[];
  username?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

const PEM = /^-----BEGIN CERTIFICATE REQUEST-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE REQUEST-----/;

export const certificateSigningRequest: Behaviour = behaviour({
  nameError: pathName,
  prepare(draft, old, context) {
    startsWith(() => ({}))(draft, old, context);
    if (old !== undefined) {
      draft.spec = old.spec;
      return;
    }
    const spec = specOf<RequestSpec>(draft);
    const { name, uid, groups, extra } = context.user;
    spec.username = name;
    spec.groups = [...groups];
    delete spec.uid;
    delete spec.extra;
    if (uid) spec.uid = uid;
    if (extra) spec.extra = extra;
  },
  validate(object, old) {
    if (old !== undefined) return [];
    const spec = (object.spec ?? {}) as RequestSpec;
    const [request, signerName, usages] = [spec.request ?? '', spec.signerName ?? '', spec.usages ?? []];
    const causes: FieldCause[] = [];
    if (!PEM.test(Buffer.from(request, 'base64').toString('latin1'))) {
      causes.push(invalidValue('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST'));
    }
    if (usages.length === 0) causes.push(required('spec.usages'));
    if (signerName === '') causes.push(required('spec.signerName'));
    else if (!signerName.includes('/')) {
      const why = 'must be a fully qualified domain and path of the form "example.com/signer-name"';
      causes.push(invalidValue('spec.signerName', signerName, why));
    }
    return causes;
  },
  selectableFields: { 'spec.signerName': textAt('spec', 'signerName') },
});
