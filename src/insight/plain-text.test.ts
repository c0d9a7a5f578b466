import { expect, test } from 'vitest';
import { namedOnce } from './plain-text.ts';

test.each([
  [
    `MemberCluster "two": the member refused CustomResourceDefinition "a.b.c": customresourcedefinitions.apiextensions.k8s.io "a.b.c" is forbidden: not here`,
    `MemberCluster "two": the member refused CustomResourceDefinition "a.b.c": not here`,
  ],
  [
    'Deployment "web": Deployment.apps "web" is invalid: spec.selector: Required',
    'Deployment "web": spec.selector: Required',
  ],
  // Another object than the named one.
  [
    'Deployment "web": pods "web-1" is forbidden: exceeded quota',
    'Deployment "web": pods "web-1" is forbidden: exceeded quota',
  ],
  ['Deployment "web": not found', 'Deployment "web": not found'],
])('the object of a refusal is named once: %s', (text, once) => {
  expect(namedOnce(text)).toBe(once);
});
