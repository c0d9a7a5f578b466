import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { policyObjects } from './policies.ts';

interface PolicySpec {
  readonly validations: readonly [{ readonly expression: string }];
}

const expressionOf = (prefixes?: readonly string[]): string => {
  const [policy] = policyObjects(prefixes === undefined ? {} : { reservedNamespacePrefixes: prefixes });
  return ((policy as KubeObject).spec as PolicySpec).validations[0].expression;
};

test('Pods are made in reserved namespaces alone, and which those are can be said', () => {
  expect(expressionOf()).toBe("request.namespace.startsWith('fleet-') || request.namespace.startsWith('kube-')");
  expect(expressionOf(['build-'])).toBe("request.namespace.startsWith('build-')");
});

test.each(["'", 'a b', '', "x') || true || ('", 'Upper'])(
  'what would change the expression is refused: %j',
  (prefix) => {
    expect(() => policyObjects({ reservedNamespacePrefixes: ['fleet-', prefix] })).toThrow(
      `"${prefix}" is no beginning of a namespace's name`,
    );
  },
);
