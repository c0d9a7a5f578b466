// Request bodies in Kubernetes' protobuf format, which `kubectl create deployment` and typed Go clients send. The
// result is the object that the client would have sent as JSON. All errors in the bytes are a 400; nothing else is
// thrown.
//
// A body is the four bytes `k8s\0`, then a message {1: {1: apiVersion, 2: kind}, 2: the kind's own message, 3:
// encoding, 4: content type}. Names, numbers and types of fields come from the facts about built-in kinds.
import { type FieldFact, type Scalar, structFact, type TypeFact } from '../../api/builtin/facts.ts';
import { shapeTyped } from '../../api/builtin/typed-shape.ts';
import { typeNameOf } from '../../api/builtin/types.ts';
import { groupVersionOf } from '../../api/object.ts';
import { badRequest } from '../../api/status.ts';
import { isObject } from '../../base/json.ts';
import { lazyByText } from '../../base/lazy.ts';
import { specialForms } from './protobuf-special.ts';
import { FIXED64, LENGTH, malformed, VARINT, WireReader } from './protobuf-wire.ts';

/** A private, mutable object. Null and absent values are as in Go's JSON. */
export interface DecodedObject {
  apiVersion: string;
  kind: string;
  [field: string]: unknown;
}

/** Kubernetes' own types nest about 20 levels deep; schemas in CRDs add their own. */
const DEEPEST = 100;
/** Two bytes of a body can become a container with all its empty parts, so this limits the cost of a body. */
const MAX_MESSAGES = 200_000;
const LONGEST_ECHO = 253;

type Fields = ReadonlyMap<number, FieldFact>;

interface Decoding {
  readonly reader: WireReader;
  messages: number;
}

/** Decodes a request body. Throws an ApiError with code 400 if it is not a message of a known kind. */
export function decodeProtobuf(bytes: Uint8Array): DecodedObject {
  const reader = new WireReader(bytes);
  if (reader.size < MAGIC.length || reader.text(MAGIC.length) !== MAGIC) {
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  const { apiVersion, kind, from, to } = readEnvelope(reader);
  if (kind === '') throw badRequest("Object 'Kind' is missing in the protobuf message");
  const { group, version } = groupVersionOf(apiVersion);
  const typeName = typeNameOf(group, version, kind);
  if (typeName === undefined) {
    throw badRequest(`no kind "${shortened(kind)}" is registered for version "${shortened(apiVersion)}"`);
  }
  const object: DecodedObject = { apiVersion, kind };
  reader.at = from;
  readMessage({ reader, messages: 0 }, to, fieldsOf(typeName), object, 0);
  shapeTyped(typeName, object);
  return object;
}

const MAGIC = 'k8s\0';

const shortened = (text: string): string => (text.length > LONGEST_ECHO ? `${text.slice(0, LONGEST_ECHO)}…` : text);

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The range of the kind's own message. */
  readonly from: number;
  readonly to: number;
}

function readEnvelope(reader: WireReader): Envelope {
  const end = reader.size;
  const envelope = { apiVersion: '', kind: '', from: end, to: end };
  while (reader.at < end) {
    reader.tag(end);
    const { number, wireType } = reader;
    if (number > 4) {
      reader.skip(end);
      continue;
    }
    if (wireType !== LENGTH) throw wrongWireType('envelope');
    const stop = reader.stop(end);
    if (number === 1) readTypeMeta(reader, stop, envelope);
    else if (number === 2) {
      envelope.from = reader.at;
      envelope.to = stop;
    } else if (number === 3 && stop > reader.at) throw malformed('its content is encoded once more');
    else if (number === 4 && stop > reader.at && reader.text(stop) !== CONTENT_TYPE) {
      throw malformed('its content is of another type');
    }
    reader.at = stop;
  }
  return envelope;
}

const CONTENT_TYPE = 'application/vnd.kubernetes.protobuf';

function readTypeMeta(reader: WireReader, end: number, envelope: { apiVersion: string; kind: string }): void {
  while (reader.at < end) {
    reader.tag(end);
    const { number } = reader;
    if (number > 2) {
      reader.skip(end);
      continue;
    }
    if (reader.wireType !== LENGTH) throw wrongWireType('envelope');
    const text = reader.text(reader.stop(end));
    if (number === 1) envelope.apiVersion = text;
    else envelope.kind = text;
  }
}

const wrongWireType = (name: string) => malformed(`${name === '' ? 'a value' : name} has the wrong wire type`);

const fieldsOf: (typeName: string) => Fields = lazyByText(
  (typeName) =>
    new Map(structFact(typeName).fields.flatMap((field) => (field.number === 0 ? [] : [[field.number, field]]))),
);

/** Reads fields up to `end` into the target. A message that comes in two parts is merged, as protobuf requires. */
function readMessage(
  decoding: Decoding,
  end: number,
  fields: Fields,
  target: Record<string, unknown>,
  depth: number,
): void {
  if (depth > DEEPEST) throw malformed('it is nested too deeply');
  if (++decoding.messages > MAX_MESSAGES) throw malformed('it has too many parts');
  const { reader } = decoding;
  while (reader.at < end) {
    reader.tag(end);
    const field = fields.get(reader.number);
    if (field === undefined) reader.skip(end);
    else readField(decoding, end, field, target, depth);
  }
}

function readField(
  decoding: Decoding,
  end: number,
  field: FieldFact,
  target: Record<string, unknown>,
  depth: number,
): void {
  const { type, name } = field;
  if (field.inline && type.form === 'struct') {
    const stop = stopOf(decoding.reader, end, name);
    readMessage(decoding, stop, fieldsOf(type.name), target, depth + 1);
  } else if (type.form === 'list' && !type.wrapped) {
    target[name] ??= [];
    readItems(decoding, end, type.of, target[name] as unknown[], depth);
  } else if (type.form === 'map') {
    target[name] ??= {};
    readEntry(decoding, stopOf(decoding.reader, end, name), type.of, target[name] as Record<string, unknown>, depth);
  } else target[name] = readValue(decoding, end, type, target[name], depth);
}

/** One item, or several numbers packed into one value. */
function readItems(decoding: Decoding, end: number, type: TypeFact, items: unknown[], depth: number): void {
  const { reader } = decoding;
  if (type.form === 'scalar' && wireTypes[type.scalar] !== LENGTH && reader.wireType === LENGTH) {
    const stop = reader.stop(end);
    while (reader.at < stop) items.push(readScalar(reader, stop, type.scalar));
  } else items.push(readValue(decoding, end, type, undefined, depth));
}

function readEntry(decoding: Decoding, end: number, type: TypeFact, map: Record<string, unknown>, depth: number): void {
  const { reader } = decoding;
  let key = '';
  let value: unknown = type.form === 'scalar' && type.scalar === 'bytes' ? '' : null;
  while (reader.at < end) {
    reader.tag(end);
    if (reader.number === 1) key = reader.text(stopOf(reader, end, 'a key'));
    else if (reader.number === 2) value = readValue(decoding, end, type, undefined, depth);
    else reader.skip(end);
  }
  // For the key __proto__, which a client can choose, an assignment would set the prototype.
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}

function readValue(decoding: Decoding, end: number, type: TypeFact, before: unknown, depth: number): unknown {
  const { reader } = decoding;
  if (type.form === 'scalar') {
    if (reader.wireType !== wireTypes[type.scalar]) throw wrongWireType('');
    return readScalar(reader, end, type.scalar);
  }
  const stop = stopOf(reader, end, '');
  if (type.form === 'struct') {
    const target = isObject(before) ? (before as Record<string, unknown>) : {};
    readMessage(decoding, stop, fieldsOf(type.name), target, depth + 1);
    return target;
  }
  if (type.form === 'special') {
    const parts = {};
    const { fields, toJson } = specialForms[type.special];
    readMessage(decoding, stop, fields, parts, depth + 1);
    return toJson(parts);
  }
  if (type.form === 'list') return readWrapped(decoding, stop, type.of, depth);
  throw malformed('a map stands where none can be');
}

/** A list with its own message: its items are field 1. */
function readWrapped(decoding: Decoding, end: number, type: TypeFact, depth: number): unknown[] {
  const { reader } = decoding;
  const items: unknown[] = [];
  while (reader.at < end) {
    reader.tag(end);
    if (reader.number === 1) readItems(decoding, end, type, items, depth + 1);
    else reader.skip(end);
  }
  return items;
}

function stopOf(reader: WireReader, end: number, name: string): number {
  if (reader.wireType !== LENGTH) throw wrongWireType(name);
  return reader.stop(end);
}

const wireTypes: Readonly<Record<Scalar, number>> = {
  string: LENGTH,
  bytes: LENGTH,
  bool: VARINT,
  int32: VARINT,
  int64: VARINT,
  float64: FIXED64,
};

function readScalar(reader: WireReader, end: number, scalar: Scalar): unknown {
  switch (scalar) {
    case 'string':
      return reader.text(reader.stop(end));
    case 'bytes':
      return reader.base64(reader.stop(end));
    case 'bool':
      reader.varint(end);
      return reader.low !== 0 || reader.high !== 0;
    case 'int32':
      return reader.int32(end);
    case 'int64':
      return reader.int64(end);
    case 'float64':
      return reader.double(end);
  }
}
