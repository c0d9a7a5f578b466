// resourceVersion in queries.
import { badRequest, forbiddenField, invalid, unsupportedValue } from '../../api/status.ts';
import { ApiError } from '../../base/errors.ts';

/** undefined for the newest revision. */
export function parseRevision(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}

export function checkMatch(match: string | undefined, revision: string | undefined, continues: boolean): void {
  if (match === undefined || match === '') return;
  const field = 'resourceVersionMatch';
  const causes =
    match !== 'Exact' && match !== 'NotOlderThan'
      ? [unsupportedValue(field, match, ['Exact', 'NotOlderThan', ''])]
      : revision === undefined || revision === ''
        ? [forbiddenField(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided')]
        : continues
          ? [forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided')]
          : match === 'Exact' && revision === '0'
            ? [forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')]
            : [];
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
}

/** A revision that this cluster has not reached: it belongs to another cluster, or to lost data. */
export const tooLargeRevision = (asked: number, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
