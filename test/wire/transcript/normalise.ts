// Takes out of what kubectl prints whatever no two servers share: identities, moments, ages, addresses and the widths they cause.

const RULES: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, 'TIME'],
  // kubectl's own log lines begin with a moment and a process.
  [/\b[WEI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /g, 'LOG '],
  // A watch that kubectl itself ends within a second is noise of its own clock.
  [/LOG reflector\.go:\d+\] [^\n]*very short watch[^\n]*\n/g, ''],
  // Refusals of a patch show the whole object, with its managers.
  [/Invalid value: "\{\\"apiVersion\\"(?:[^"\\]|\\.)*"/g, 'Invalid value: OBJECT'],
  [/(resourceVersion['"]?: ?['"]?)\d+/gi, '$1RV'],
  [/(Resource Version: +)\d+/g, '$1RV'],
  [/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g, 'CERTIFICATE'],
  [/https:\/\/127\.0\.0\.1:\d+/g, 'https://SERVER'],
  [/\b10\.(?:0|9[6-9]|10\d|11[01])\.\d+\.\d+\b/g, 'CLUSTER-IP'],
  [/\b(gen-|kube-api-access-)[a-z0-9]{5}\b/g, '$1xxxxx'],
  [/\b3[0-2]\d{3}\b/g, 'NODE-PORT'],
  // Ages stand alone in a cell.
  [/(?<=^|[ \t(])\d+[smhdy](?:\d+[smhd])?(?=[ \t)]|$)/gm, 'AGE'],
  [/\/\S*\/(?:flotilla-step|flotilla-cache|flotilla-wire)-[^\s/:"]+/g, 'FILES'],
  // Columns are as wide as their widest cell; what is left of a line counts, not its spaces.
  [/(?<=\S)(?: {2,}|\t+)/g, '  '],
  [/[ \t]+$/gm, ''],
];

export function normalise(text: string): string {
  return RULES.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}
