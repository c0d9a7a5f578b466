// Request bodies: read up to a limit, and decoded from JSON, YAML or protobuf into plain, harmless data.
import type { IncomingMessage } from 'node:http';
import { badRequest } from '../../api/status.ts';
import type { PatchType } from '../../api/transport.ts';
import { AbortError, ApiError, messageOf } from '../../base/errors.ts';
import { isObject, type Json } from '../../base/json.ts';
import { repeatedKeys } from '../../base/json-duplicates.ts';
import { MAX_DEPTH } from '../../base/json-nesting.ts';
import { parseYaml } from '../../base/yaml.ts';
import { jsonFault } from './json-fault.ts';
import type { BodyFormat } from './negotiate.ts';
import { decodeProtobuf } from './protobuf.ts';

export const tooLargeBody = (limit: number): ApiError =>
  new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);

/** The whole body. Rejects with a 413, or with AbortError if the client disconnects. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return reject(tooLargeBody(limit));
    const chunks: Buffer[] = [];
    let length = 0;
    let isWhole = false;
    // Listeners are not removed: a settled promise ignores them, and they are released with the request.
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else reject(tooLargeBody(limit));
    });
    request.on('end', () => {
      isWhole = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
    });
    // Also ends a request that failed: without a listener of its own, an error is not emitted.
    request.on('close', () => {
      if (!isWhole) reject(new AbortError('the client went away before its request was complete'));
    });
  });
}

/** Receives the fields that a JSON body contains twice. */
export type OnRepeated = (paths: readonly string[]) => void;

/** Decodes the object of a create or update. */
export function decodeObject(bytes: Buffer, format: BodyFormat, kind: string, onRepeated?: OnRepeated): unknown {
  const unrecognized = (why: string) =>
    badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(bytes)})`);
  switch (format) {
    case 'json': {
      const refuse = (fault: string) => unrecognized(`couldn't get version/kind; json parse error: ${fault}`);
      const value = jsonOf(bytes, refuse, onRepeated);
      const fault = typeFault(value);
      if (fault) throw refuse(fault);
      return value ?? {};
    }
    case 'yaml':
      return yamlOf(bytes, (fault) => unrecognized(`yaml: ${fault}`)) ?? {};
    case 'protobuf':
      try {
        return decodeProtobuf(bytes);
      } catch (error) {
        throw unrecognized(messageOf(error));
      }
  }
}

export function decodePatch(bytes: Buffer, type: PatchType, onRepeated?: OnRepeated): Json {
  const because = (prefix: string) => (fault: string) => badRequest(`${prefix}${fault}`);
  if (type === 'apply') {
    const value = yamlOf(bytes, because('error decoding YAML: error converting YAML to JSON: yaml: '));
    if (!isObject(value)) {
      throw badRequest(
        `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${typeName(value)} into Go value of type map[string]interface {}`,
      );
    }
    return value as Json;
  }
  const prefix = type === 'strategic' ? '' : 'error decoding patch: ';
  const value = jsonOf(bytes, because(prefix), onRepeated);
  const fits = type === 'json' ? Array.isArray(value) : isObject(value);
  // The meaning of null depends on the type, so the code that applies the patch handles it.
  if (!fits && value !== null) {
    const wanted = type === 'json' ? '[]handlers.jsonPatchOp' : 'map[string]interface {}';
    throw badRequest(`${prefix}json: cannot unmarshal ${typeName(value)} into Go value of type ${wanted}`);
  }
  return value as Json;
}

/** Decodes the options of a deletion; any kind is accepted, because old clients send others. */
export function decodeOptions(bytes: Buffer, format: BodyFormat): Readonly<Record<string, unknown>> {
  const refuse = (fault: string) => badRequest(`couldn't get version/kind; json parse error: ${fault}`);
  const value =
    format === 'json'
      ? jsonOf(bytes, refuse)
      : format === 'yaml'
        ? yamlOf(bytes, refuse)
        : decodeObject(bytes, format, 'DeleteOptions');
  if (!isObject(value))
    throw refuse(`json: cannot unmarshal ${typeName(value)} into Go value of type v1.DeleteOptions`);
  const { kind } = value;
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(value['apiVersion'] ?? '')}`,
    );
  }
  return value;
}

// ---- JSON

function jsonOf(bytes: Buffer, refuse: (fault: string) => ApiError, onRepeated?: OnRepeated): unknown {
  if (isDeep(bytes)) {
    const fault = jsonFault(bytes, MAX_DEPTH);
    if (fault) throw refuse(fault);
  }
  let value: unknown;
  try {
    const text = bytes.toString();
    value = JSON.parse(text);
    const repeated = onRepeated ? repeatedKeys(text, value) : [];
    if (repeated.length > 0) onRepeated?.(repeated);
  } catch (error) {
    throw refuse(jsonFault(bytes, MAX_DEPTH) ?? messageOf(error));
  }
  return value;
}

/**
 * Whether the body has more than MAX_DEPTH brackets. That is rare, and counting stops early; native code searches for
 * them.
 */
function isDeep(bytes: Buffer): boolean {
  let brackets = 0;
  for (const bracket of [0x7b, 0x5b]) {
    for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1)) {
      if (++brackets > MAX_DEPTH) return true;
    }
  }
  return false;
}

const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** null counts as an empty object, as in Go. */
function typeFault(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return `json: cannot unmarshal ${typeName(value)} into Go value of type ${TYPE_META}`;
  for (const field of ['apiVersion', 'kind']) {
    const word = value[field];
    if (word !== undefined && word !== null && typeof word !== 'string') {
      return `json: cannot unmarshal ${typeName(word)} into Go struct field .${field} of type string`;
    }
  }
  return undefined;
}

const typeName = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value;

const SUMMARY_BYTES = 30;

/** The first bytes of the body, for messages. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const first = bytes.subarray(0, SUMMARY_BYTES);
  return `${bytes[0] === 0x7b ? first.toString() : first.toString('hex')}${bytes.length > SUMMARY_BYTES ? ' ...' : ''}`;
}

// ---- YAML

const LONGEST_YAML = 256 * 1024;

function yamlOf(bytes: Buffer, refuse: (fault: string) => ApiError): unknown {
  // A body with the content type YAML is usually JSON, which is much faster to parse.
  if (bytes[0] === 0x7b && !isDeep(bytes)) {
    try {
      return JSON.parse(bytes.toString()) as unknown;
    } catch {
      // It may be a flow mapping of YAML, or invalid: the parser below decides.
    }
  }
  try {
    return parseYaml(bytes.toString(), { length: LONGEST_YAML });
  } catch (error) {
    throw refuse(messageOf(error));
  }
}
