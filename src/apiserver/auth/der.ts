// The part of DER (ITU-T X.690) that X.509 certificates need: every function returns one complete, encoded value.

const bytesOf = (parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

function lengthOf(count: number): Uint8Array {
  if (count < 0x80) return Uint8Array.of(count);
  const digits = bigEndian(BigInt(count));
  return bytesOf([Uint8Array.of(0x80 | digits.length), digits]);
}

function bigEndian(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return Uint8Array.from(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'));
}

/** A value with any tag; the building block of all others. */
export const tagged = (tag: number, ...content: readonly Uint8Array[]): Uint8Array => {
  const body = bytesOf(content);
  return bytesOf([Uint8Array.of(tag), lengthOf(body.length), body]);
};

export const sequence = (...items: readonly Uint8Array[]): Uint8Array => tagged(0x30, ...items);

/** A SET with one member, which is enough for distinguished names (several would have to be sorted). */
export const setOfOne = (item: Uint8Array): Uint8Array => tagged(0x31, item);

/** A non-negative integer. A leading zero prevents a high first bit from meaning a negative number. */
export function integer(value: bigint): Uint8Array {
  const digits = bigEndian(value);
  return (digits[0]! & 0x80) === 0 ? tagged(0x02, digits) : tagged(0x02, Uint8Array.of(0), digits);
}

export const yes: Uint8Array = tagged(0x01, Uint8Array.of(0xff));

export const octets = (content: Uint8Array): Uint8Array => tagged(0x04, content);

/** A BIT STRING; the last `unused` bits do not count. */
export const bits = (content: Uint8Array, unused = 0): Uint8Array => tagged(0x03, Uint8Array.of(unused), content);

export const utf8 = (text: string): Uint8Array => tagged(0x0c, new TextEncoder().encode(text));

/** An object identifier in dotted notation. */
export function oid(dotted: string): Uint8Array {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Uint8Array.from([first! * 40 + second!, ...rest.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const digits = [arc & 0x7f];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** A time in whole seconds. RFC 5280 requires two-digit years until 2049 and four digits from 2050 on. */
export function time(epochMs: number): Uint8Array {
  const digits = `${new Date(epochMs).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`;
  const text = new TextEncoder();
  return digits < '2050' ? tagged(0x17, text.encode(digits.slice(2))) : tagged(0x18, text.encode(digits));
}

/** Context tag around a whole value. */
export const explicit = (number: number, value: Uint8Array): Uint8Array => tagged(0xa0 | number, value);

/** Context tag in place of a primitive value's own tag. */
export const implicit = (number: number, content: Uint8Array): Uint8Array => tagged(0x80 | number, content);

/** The PEM format of files and kubeconfigs. */
export function pem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der)
    .toString('base64')
    .match(/.{1,64}/g);
  return `-----BEGIN ${label}-----\n${(lines ?? []).join('\n')}\n-----END ${label}-----\n`;
}
