// Tables of bindings. Roles print only their creation time.
import { AGE, ageOf, NAME, nameOf, table, text, wide } from './table.ts';

interface Subject {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface Binding {
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly Subject[];
}

/** RoleBinding and ClusterRoleBinding. */
export const roleBinding = table<Binding>(
  [
    NAME,
    text('Role', 'Which role is given.'),
    AGE,
    wide(text('Users', 'Users who get it.')),
    wide(text('Groups', 'Groups that get it.')),
    wide(text('ServiceAccounts', 'ServiceAccounts that get it.')),
  ],
  (object, now) => [
    nameOf(object),
    `${object.roleRef?.kind ?? ''}/${object.roleRef?.name ?? ''}`,
    ageOf(object, now),
    named(object, 'User', (subject) => subject.name ?? ''),
    named(object, 'Group', (subject) => subject.name ?? ''),
    named(object, 'ServiceAccount', (subject) => `${subject.namespace ?? ''}/${subject.name ?? ''}`),
  ],
);

function named({ subjects }: Binding, kind: string, textOf: (subject: Subject) => string): string {
  let result = '';
  for (const subject of subjects ?? []) {
    if (subject.kind === kind) result += result === '' ? textOf(subject) : `, ${textOf(subject)}`;
  }
  return result;
}
