import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import {
  configMapKeyErrors,
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  generatedName,
  generatedSuffix,
  labelValueErrors,
  nameErrorBy,
  pathSegmentErrors,
  qualifiedNameErrors,
} from './names.ts';
import { seededRandom } from './random.ts';

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const long = (length: number) => 'a'.repeat(length);

describe('names', () => {
  test.each([
    ['a subdomain', dnsSubdomainErrors, 'web.shop-1', undefined],
    ['capitals in a subdomain', dnsSubdomainErrors, 'Web', subdomainText],
    ['an empty subdomain', dnsSubdomainErrors, '', subdomainText],
    ['a line feed at the end', dnsSubdomainErrors, 'web\n', subdomainText],
    ['253 characters', dnsSubdomainErrors, long(253), undefined],
    ['254 characters', dnsSubdomainErrors, long(254), 'must be no more than 253 characters'],
    ['a label', dnsLabelErrors, 'web-1', undefined],
    ['a label with dots', dnsLabelErrors, 'web.1', 'must not contain dots'],
    ['a label with an underscore', dnsLabelErrors, 'web_1', labelText],
    ['a long bad label', dnsLabelErrors, `${long(63)}_`, `must be no more than 63 characters; ${labelText}`],
    ['a 1035 label', dns1035LabelErrors, 'web-1', undefined],
    [
      'a 1035 label that begins with a digit',
      dns1035LabelErrors,
      '1-web',
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
    ['a qualified name', qualifiedNameErrors, 'example.com/My_Name', undefined],
    ['a bare qualified name', qualifiedNameErrors, 'MyName', undefined],
    ['an empty prefix', qualifiedNameErrors, '/x', 'prefix part must be non-empty'],
    ['a bad prefix', qualifiedNameErrors, 'Bad/x', `prefix part ${subdomainText}`],
    ['an empty name part', qualifiedNameErrors, 'a.b/', `name part must be non-empty; name part ${qualifiedText}`],
    [
      'two slashes',
      qualifiedNameErrors,
      'a/b/c',
      `a qualified name ${qualifiedText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    ['an empty label value', labelValueErrors, '', undefined],
    ['a label value of 63', labelValueErrors, long(63), undefined],
    ['a label value of 64', labelValueErrors, long(64), 'must be no more than 63 characters'],
    ['a config key', configMapKeyErrors, 'app.properties', undefined],
    ['a config key of two dots', configMapKeyErrors, '..', "must not be '..'"],
    ['a config key that climbs', configMapKeyErrors, '..x', "must not start with '..'"],
    ['a path segment', pathSegmentErrors, 'system:node:Capital', undefined],
    [
      'a path segment with a slash and a percent',
      pathSegmentErrors,
      'a/b%',
      "may not contain '/'; may not contain '%'",
    ],
    ['a path segment that climbs', pathSegmentErrors, '..', "may not be '..'"],
  ] as const)('%s', (_, errorOf, value, expected) => {
    expect(nameErrorBy(errorOf)(value, false)).toBe(expected);
  });

  test('the prefix of a generateName may end in a dash', () => {
    const nameError = nameErrorBy(dnsSubdomainErrors);
    expect(nameError('web-', true)).toBeUndefined();
    expect(nameError('web-', false)).toBe(subdomainText);
    expect(nameError('web_', true)).toBe(subdomainText);
    expect(nameError('-', true)).toBe(subdomainText);
    expect(nameErrorBy(pathSegmentErrors)('..', true)).toBeUndefined();
  });

  test('generated names are valid for every valid base and differ from draw to draw', () => {
    const random = seededRandom(1);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9]{0,80}-$/), (base) => {
        const name = generatedName(base, random);
        expect(dns1035LabelErrors(name)).toEqual([]);
        expect(name).not.toBe(generatedName(base, random));
      }),
    );
    expect(generatedSuffix(random)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test('a million characters are judged at once', () => {
    for (const errorOf of [
      dnsLabelErrors,
      dnsSubdomainErrors,
      labelValueErrors,
      qualifiedNameErrors,
      configMapKeyErrors,
    ]) {
      const start = process.hrtime.bigint();
      expect(errorOf(`${'a-'.repeat(500_000)}!`)).not.toEqual([]);
      expect(errorOf(`${'a.'.repeat(500_000)}!`)).not.toEqual([]);
      expect(Number(process.hrtime.bigint() - start) / 1e6).toBeLessThan(patience(1000));
    }
  });
});
