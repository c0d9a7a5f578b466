// The error for a manager that applies a field of another manager.
import { byText } from '../../base/compare.ts';
import { ApiError } from '../../base/errors.ts';
import { pathsOf, pathText } from './field-set.ts';
import { identityOf, type Owner } from './managers.ts';
import type { FieldConflict } from './ownership.ts';

/** 409 with a cause for every field, sorted by manager and path. */
export function conflictStatus(conflicts: readonly FieldConflict[]): ApiError {
  const sorted = conflicts.toSorted((a, b) => byText(identityOf(a.owner), identityOf(b.owner)));
  const causes = sorted.flatMap(({ owner, fields }) =>
    [...pathsOf(fields)].map((path) => ({
      reason: 'FieldManagerConflict' as const,
      message: `conflict with ${ownerText(owner)}`,
      field: pathText(path),
    })),
  );
  return new ApiError(409, 'Conflict', messageFor(sorted, causes), { causes });
}

function messageFor(
  sorted: readonly FieldConflict[],
  causes: readonly { readonly message: string; readonly field: string }[],
): string {
  const [first] = causes;
  if (causes.length === 1 && first) return `Apply failed with 1 conflict: ${first.message}: ${first.field}`;
  const lines = sorted.flatMap(({ owner, fields }) => [
    `conflicts with ${ownerText(owner)}:`,
    ...[...pathsOf(fields)].map((path) => `- ${pathText(path)}`),
  ]);
  return `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`;
}

function ownerText({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
