// Parses responses into answers, errors and events: frozen and complete.
import { StringDecoder } from 'node:string_decoder';
import type { KubeList, KubeObject } from '../api/object.ts';
import type { Answer, Request, WatchEvent } from '../api/transport.ts';
import { ApiError, LostError, type StatusDetails } from '../base/errors.ts';
import { deepFreeze, isObject, type Json } from '../base/json.ts';
import type { Incoming } from './wire.ts';

/** Longer than any object that a server can store, so a longer line does not come from an API server. */
const LONGEST_EVENT = 64 * 1024 * 1024;

export async function wholeBody(incoming: Incoming): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming.body) chunks.push(chunk as Buffer);
  if (!incoming.isWhole()) throw new LostError('the answer broke off');
  return Buffer.concat(chunks).toString();
}

export function parsed(body: string): Json {
  try {
    return deepFreeze(JSON.parse(body) as Json);
  } catch (cause) {
    throw new LostError('the answer is not JSON that can be read', { cause });
  }
}

export function errorFrom({ status, headers }: Incoming, body: string): ApiError {
  const waitSeconds = secondsFrom(headers['retry-after']);
  try {
    return statusError(JSON.parse(body), status, waitSeconds);
  } catch {
    // Some paths respond in plain text, and so do proxies in front of a server.
    const details = waitSeconds === undefined ? undefined : { retryAfterSeconds: waitSeconds };
    return new ApiError(status, '', body.trim().slice(0, 2000) || `the server answered ${status}`, details);
  }
}

function statusError(value: unknown, code: number, waitSeconds?: number): ApiError {
  const status = isObject(value) ? value : {};
  const text = (field: string) => (typeof status[field] === 'string' ? (status[field] as string) : '');
  const given = isObject(status['details']) ? (status['details'] as StatusDetails) : undefined;
  const details =
    waitSeconds === undefined || given?.retryAfterSeconds !== undefined
      ? given
      : { ...given, retryAfterSeconds: waitSeconds };
  const message = text('message') || `the server answered ${code}`;
  return new ApiError(
    typeof status['code'] === 'number' ? status['code'] : code,
    text('reason'),
    message,
    deepFreeze(details),
  );
}

/** API servers do not use the date format of this header. */
function secondsFrom(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

export function answerFrom(request: Request, value: Json, { headers }: Incoming): Answer {
  const warnings = Object.freeze(warningsIn(headers['warning']));
  if (request.verb === 'list' && request.view !== 'table') {
    return Object.freeze({ list: withKinds(value as unknown as KubeList), warnings });
  }
  const object = value as unknown as KubeObject;
  if (request.verb === 'delete' && isGone(object)) return Object.freeze({ warnings });
  return Object.freeze({ object, warnings });
}

/** Servers respond to a deletion with a Status, and for some kinds with the last state of the object. */
function isGone(object: KubeObject): boolean {
  if (object.kind === 'Status' || object.metadata.deletionTimestamp === undefined) return true;
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  const ofNamespace =
    isObject(object.spec) && Array.isArray(object.spec['finalizers']) ? object.spec['finalizers'] : [];
  return finalizers.length === 0 && deletionGracePeriodSeconds === 0 && ofNamespace.length === 0;
}

/** Adds the kind to items of a built-in list, which omit it. */
function withKinds(list: KubeList): KubeList {
  // Go writes an empty list sometimes as null.
  const items = list.items ?? [];
  if (items === list.items && items.every((item) => item.kind)) return list;
  const kind = list.kind.replace(/List$/, '');
  const { apiVersion } = list;
  const completed = items.map((item) => (item.kind ? item : Object.freeze({ ...item, apiVersion, kind })));
  return Object.freeze({ ...list, items: Object.freeze(completed) });
}

function warningsIn(header: string | undefined): readonly string[] {
  if (typeof header !== 'string') return [];
  return [...header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}

/** One batch for all events that arrived together. Throws the server's own error, or that of the broken stream. */
export async function* eventsOf(incoming: Incoming): AsyncIterable<readonly WatchEvent[]> {
  const decoder = new StringDecoder('utf8');
  // A large event arrives in many pieces, which are joined once.
  let pieces: string[] = [];
  let length = 0;
  for await (const chunk of incoming.body) {
    const text = decoder.write(chunk as Buffer);
    const end = text.lastIndexOf('\n');
    if (end < 0) {
      length += text.length;
      if (length > LONGEST_EVENT) throw new LostError('the watch sends data without a line end');
      pieces.push(text);
      continue;
    }
    const lines = (pieces.join('') + text.slice(0, end)).split('\n');
    pieces = [text.slice(end + 1)];
    length = text.length - end - 1;
    yield* batchFrom(lines);
  }
  if (!incoming.isWhole()) throw new LostError('the watch broke off');
}

/** Events before an error are still valid. */
function* batchFrom(lines: readonly string[]): Iterable<readonly WatchEvent[]> {
  const events: WatchEvent[] = [];
  let failure: Error | undefined;
  for (const line of lines) {
    if (line.trim() === '') continue;
    const event = parsed(line) as unknown as WatchEvent | { readonly type: 'ERROR'; readonly object: unknown };
    if (event.type === 'ERROR') {
      failure = statusError(event.object, 500);
      break;
    }
    events.push(event);
  }
  if (events.length > 0) yield Object.freeze(events);
  if (failure) throw failure;
}
