// ServiceAccounts: plain data. Tokens and the account of each namespace are made elsewhere.
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';

export const serviceAccount: Behaviour = behaviour({ returnsDeleted: true });
