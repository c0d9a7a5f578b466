// ServiceAccounts: plain data. Tokens and the default account of each namespace are created elsewhere.
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';

export const serviceAccount: Behaviour = behaviour({
  returnsDeleted: true,
  default(draft) {
    // Only the name of a reference is stored, because the Secret is in the same namespace.
    const secrets = draft.secrets as readonly { readonly name?: string }[] | undefined;
    if (secrets) draft.secrets = secrets.map(({ name }) => (name ? { name } : {}));
  },
});
