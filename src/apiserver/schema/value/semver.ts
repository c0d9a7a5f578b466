// Semantic versions, 2.0.0.

export interface Semver {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly pre: readonly string[];
}

const PATTERN =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

export function parseSemver(text: string): Semver | undefined {
  const found = text.length > 256 ? null : PATTERN.exec(text);
  if (found === null) return undefined;
  const [, major = '0', minor = '0', patch = '0', pre] = found;
  return {
    major: BigInt(major),
    minor: BigInt(minor),
    patch: BigInt(patch),
    pre: pre === undefined ? [] : pre.split('.'),
  };
}

/** Accepts `v1` and `01.2`: removes the `v` and leading zeros, and adds missing numbers. */
export function parseLooseSemver(text: string): Semver | undefined {
  const parts = text.replace(/^v/, '').split('.');
  const head = [...parts.slice(0, 2), ...(parts.length > 2 ? [parts.slice(2).join('.')] : [])].map((part) =>
    part.length > 1 ? part.replace(/^0+(?=\d)/, '') : part,
  );
  // A pre-release is not allowed after a shortened version, because the missing numbers would come before it.
  if (head.length < 3 && /[-+]/.test(head.at(-1) ?? '')) return undefined;
  while (head.length < 3) head.push('0');
  return parseSemver(head.join('.'));
}

export function compareSemver(left: Semver, right: Semver): number {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (left[part] !== right[part]) return left[part] < right[part] ? -1 : 1;
  }
  if (left.pre.length === 0 || right.pre.length === 0) return Math.sign(right.pre.length - left.pre.length);
  for (let at = 0; at < Math.max(left.pre.length, right.pre.length); at++) {
    const [a, b] = [left.pre[at], right.pre[at]];
    if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
    if (a === b) continue;
    const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (aIsNumber && bIsNumber) return BigInt(a) < BigInt(b) ? -1 : 1;
    if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return 0;
}
