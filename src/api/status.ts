// The Status errors of a Kubernetes API server. The server throws them; faults of the simulation and tests of the
// client use the same ones.
import { ApiError, type StatusDetails } from '../base/errors.ts';
import type { FieldCause } from './kind.ts';

/** `deployments.apps`, or `configmaps` for the core group. */
export const qualified = (resource: { readonly group: string; readonly plural: string }): string =>
  resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;

interface Named {
  readonly group: string;
  readonly plural: string;
}

const detailsOf = (resource: Named, name: string): StatusDetails => ({
  name,
  ...(resource.group === '' ? {} : { group: resource.group }),
  kind: resource.plural,
});

export const notFound = (resource: Named, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));

/** An unknown path in a known group. */
export const noSuchResource = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (resource: Named, name: string): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualified(resource)} "${name}" already exists`, detailsOf(resource, name));

export const conflict = (resource: Named, name: string, why: string): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );

export const modified = (resource: Named, name: string): ApiError =>
  conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

export const forbidden = (resource: Named, name: string, why: string, causes?: readonly FieldCause[]): ApiError =>
  new ApiError(403, 'Forbidden', `${qualified(resource)} ${name === '' ? '' : `"${name}" `}is forbidden: ${why}`, {
    ...detailsOf(resource, name),
    ...(causes === undefined ? {} : { causes }),
  });

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', 'Unauthorized');

export const methodNotAllowed = (message: string): ApiError => new ApiError(405, 'MethodNotAllowed', message, {});

export const unsupportedMediaType = (message: string): ApiError =>
  new ApiError(415, 'UnsupportedMediaType', message, {});

export const notAcceptable = (message: string): ApiError => new ApiError(406, 'NotAcceptable', message, {});

export const tooLarge = (message: string): ApiError => new ApiError(413, 'RequestEntityTooLarge', message);

/** A real API server passes on the error of etcd, which enforces the limit. */
export const objectTooLarge = (): ApiError => new ApiError(500, '', 'etcdserver: request is too large');

/** The watch cache or a continue token does not reach back that far. */
export const expired = (message: string): ApiError => new ApiError(410, 'Expired', message);

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds });

export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  });

/** 422 with one cause per field. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly FieldCause[],
): ApiError {
  const qualifiedKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const lines = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return new ApiError(422, 'Invalid', `${qualifiedKind} "${name}" is invalid: ${text}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    ...(kind.kind === '' ? {} : { kind: kind.kind }),
    causes,
  });
}

// ---- causes, with the messages of Kubernetes' field errors

const quoted = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(value)
    : value === null
      ? 'null'
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);

export const invalidValue = (field: string, value: unknown, why: string): FieldCause => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${quoted(value)}${why === '' ? '' : `: ${why}`}`,
});

export const typeInvalid = (field: string, value: unknown, why: string): FieldCause => ({
  reason: 'FieldValueTypeInvalid',
  field,
  message: `Invalid value: ${quoted(value)}: ${why}`,
});

export const required = (field: string, why = ''): FieldCause => ({
  reason: 'FieldValueRequired',
  field,
  message: why === '' ? 'Required value' : `Required value: ${why}`,
});

export const unsupportedValue = (field: string, value: unknown, supported: readonly string[]): FieldCause => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${quoted(value)}: supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`,
});

export const forbiddenField = (field: string, why: string): FieldCause => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${why}`,
});

export const duplicate = (field: string, value: unknown): FieldCause => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${quoted(value)}`,
});

export const notFoundField = (field: string, value: unknown): FieldCause => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${quoted(value)}`,
});

export const tooLong = (field: string, maxLength: number): FieldCause => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${maxLength} byte${maxLength === 1 ? '' : 's'}`,
});

export const tooMany = (field: string, actual: number, max: number): FieldCause => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
});

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** The Status object that is sent for an error. */
export const statusOf = (error: ApiError): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: error.message,
  ...(error.reason === '' ? {} : { reason: error.reason }),
  ...(error.details === undefined ? {} : { details: error.details }),
  code: error.code,
});
