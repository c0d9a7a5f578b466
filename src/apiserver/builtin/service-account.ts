// ServiceAccounts: plain data. Tokens and the account of each namespace are made elsewhere.
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';

export const serviceAccount: Behaviour = behaviour({
  returnsDeleted: true,
  default(draft) {
    // Of what a reference can say only the name is kept: the Secret is in the same namespace.
    const secrets = draft.secrets as readonly { readonly name?: string }[] | undefined;
    if (secrets) draft.secrets = secrets.map(({ name }) => (name ? { name } : {}));
  },
});
