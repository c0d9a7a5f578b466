// Writes responses: status line, common headers, and a body of known length. An error is always a Status.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { internalError, statusOf } from '../../api/status.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { StoreUnavailable } from '../store/store.ts';
import { unavailable } from '../unavailable.ts';
import { JSON_TYPE } from './negotiate.ts';

/** One request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly auditId: string;
  /** Texts for users, sent as Warning headers. */
  readonly warnings: Set<string>;
  /** The server is shutting down: the client must not reuse this connection. */
  readonly isLast: boolean;
}

const NO_CACHE = 'no-cache, private';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

/** Alternating names and values, the fastest form for node:http. */
export function headersOf(exchange: Exchange, contentType: string, cacheControl = NO_CACHE): string[] {
  const headers = ['Audit-Id', exchange.auditId, 'Cache-Control', cacheControl, 'Content-Type', contentType];
  if (exchange.isLast) headers.push('Connection', 'close');
  if (exchange.warnings.size > 0) for (const text of shortened(exchange.warnings)) headers.push('Warning', text);
  return headers;
}

export interface AnswerOptions {
  readonly cacheControl?: string;
  /** Alternating names and values. */
  readonly more?: readonly string[];
  /** The caller ends the response. */
  readonly staysOpen?: boolean;
}

export function sendBytes(
  exchange: Exchange,
  code: number,
  contentType: string,
  bytes: Uint8Array,
  { cacheControl, more, staysOpen = false }: AnswerOptions = {},
): void {
  const headers = headersOf(exchange, contentType, cacheControl);
  if (code !== 304) headers.push('Content-Length', String(bytes.length));
  if (more) headers.push(...more);
  exchange.response.writeHead(code, headers);
  if (staysOpen) exchange.response.write(bytes);
  else exchange.response.end(bytes);
}

export const sendJson = (exchange: Exchange, code: number, value: unknown, options?: AnswerOptions): void =>
  sendBytes(exchange, code, JSON_TYPE, Buffer.from(JSON.stringify(value)), options);

export const sendText = (exchange: Exchange, code: number, text: string): void =>
  sendBytes(exchange, code, TEXT_TYPE, Buffer.from(text), { more: ['X-Content-Type-Options', 'nosniff'] });

/** The response of a real server for a path in an unknown group. */
export const sendNoSuchPage = (exchange: Exchange): void => sendText(exchange, 404, '404 page not found\n');

export function sendError(exchange: Exchange, error: ApiError, options: Pick<AnswerOptions, 'staysOpen'> = {}): void {
  const after = error.details?.retryAfterSeconds;
  const more = after === undefined ? {} : { more: ['Retry-After', String(after)] };
  sendJson(exchange, error.code, statusOf(error), { ...options, ...more });
}

/** Converts anything thrown to an error with a code. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof StoreUnavailable) return unavailable(thrown);
  // Deep nesting in the body exhausted the stack of a recursive function: it is the client's error, and nothing was
  // written.
  if (thrown instanceof RangeError && /call stack/i.test(thrown.message)) {
    return new ApiError(400, 'BadRequest', 'the object provided is nested too deeply');
  }
  return internalError(messageOf(thrown));
}

// ---- warnings

const MAX_WARNING_BYTES = 4096;
const LONGEST_WHEN_MANY = 256;

function shortened(texts: ReadonlySet<string>): string[] {
  const whole = [...texts].map(warningValue);
  if (totalLength(whole) <= MAX_WARNING_BYTES) return whole;
  const kept: string[] = [];
  let length = 0;
  for (const text of texts) {
    const value = warningValue(text.slice(0, LONGEST_WHEN_MANY));
    length += value.length;
    if (length > MAX_WARNING_BYTES) break;
    kept.push(value);
  }
  return kept;
}

const totalLength = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

/** Text that needs neither escaping nor encoding. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/** `299 - "text"`: one line, quotes escaped, each byte of UTF-8 as one character, as headers require. */
export function warningValue(text: string): string {
  if (PLAIN_TEXT.test(text)) return `299 - "${text}"`;
  const line = text.replace(/\p{Cc}+/gu, ' ').replace(/(["\\])/g, '\\$1');
  return `299 - "${Buffer.from(line).toString('latin1')}"`;
}
