import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bits, integer, octets, oid, pem, tagged, time, utf8 } from './der.ts';
import { addressBytes } from './ip-address.ts';

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');

describe('DER', () => {
  test.each([
    { it: 'zero', value: 0n, is: '020100' },
    { it: 'a small number', value: 127n, is: '02017f' },
    { it: 'a high first bit, which gets a zero in front', value: 128n, is: '02020080' },
    { it: 'two bytes', value: 256n, is: '02020100' },
  ])('writes an integer: $it', ({ value, is }) => expect(hex(integer(value))).toBe(is));

  test.each([
    { count: 127, is: '047f' },
    { count: 128, is: '048180' },
    { count: 256, is: '04820100' },
    { count: 65_536, is: '0483010000' },
  ])('writes a length of $count in as few bytes as can be', ({ count, is }) =>
    expect(hex(octets(new Uint8Array(count)))?.slice(0, is.length)).toBe(is),
  );

  test.each([
    { dotted: '2.5.4.3', is: '0603550403' },
    { dotted: '1.2.840.10045.4.3.2', is: '06082a8648ce3d040302' },
    { dotted: '2.5.29.15', is: '0603551d0f' },
  ])('writes the object identifier $dotted', ({ dotted, is }) => expect(hex(oid(dotted))).toBe(is));

  test.each([
    { at: '2049-12-31T23:59:59Z', is: '170d3439313233313233353935395a' },
    { at: '2050-01-01T00:00:00Z', is: '180f32303530303130313030303030305a' },
  ])('writes $at in the form that its year needs', ({ at, is }) => expect(hex(time(Date.parse(at)))).toBe(is));

  test('writes text, bits and PEM', () => {
    expect(hex(utf8('é'))).toBe('0c02c3a9');
    expect(hex(bits(Uint8Array.of(0x80), 7))).toBe('03020780');
    expect(hex(tagged(0xa3))).toBe('a300');
    expect(pem('X', new Uint8Array(49))).toBe(`-----BEGIN X-----\n${'A'.repeat(64)}\nAA==\n-----END X-----\n`);
  });
});

describe('the bytes of an address', () => {
  test.each([
    { text: '127.0.0.1', is: '7f000001' },
    { text: '::1', is: '00000000000000000000000000000001' },
    { text: 'fe80::1:2', is: 'fe800000000000000000000000010002' },
    { text: '::ffff:1.2.3.4', is: '00000000000000000000ffff01020304' },
    { text: '1:2:3:4:5:6:7:8', is: '00010002000300040005000600070008' },
    { text: '::', is: '00000000000000000000000000000000' },
    { text: '1::', is: '00010000000000000000000000000000' },
    { text: 'localhost', is: undefined },
    { text: '1.2.3', is: undefined },
    { text: 'fe80::1%eth0', is: undefined },
  ])('$text', ({ text, is }) => expect(hex(addressBytes(text))).toBe(is));

  test('agree with the eight words that any IPv6 address is written from', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        expect(addressBytes(text)?.length).toBe(16);
        const again = addressBytes(Buffer.from(addressBytes(text)!).toString('hex').match(/.{4}/g)!.join(':'));
        expect(hex(again)).toBe(hex(addressBytes(text)));
      }),
    );
  });
});
