// What of an object on a member is not compared with its manifest. Names and meanings are those of Rancher Fleet's fleet.yaml.
import { type Infer, rule, s } from './build.ts';

/** `/spec/replicas`: a JSON pointer to a part of the object. */
export const PART_POINTER = '^(/([^/~]|~[01])*)+$';
export const MAX_POINTER = 512;

export const COMPARE_OPERATIONS = ['remove', 'ignore'] as const;
export const MAX_COMPARE_PATCHES = 50;

const pointer = (doc: string) => s.string({ doc, minLength: 1, maxLength: MAX_POINTER, pattern: PART_POINTER });

export const comparePatches = s.array(
  s.object(
    {
      apiVersion: s.optional(s.string({ doc: 'The apiVersion of the objects; absent matches all.', maxLength: 317 })),
      kind: s.optional(s.string({ doc: 'The kind of the objects; absent matches all.', maxLength: 63 })),
      namespace: s.optional(s.string({ doc: 'The namespace of the objects; absent matches all.', maxLength: 63 })),
      name: s.optional(
        s.string({
          doc: 'The name of the objects; absent matches all. For operation ignore also a regular expression that matches the name or a part of it.',
          maxLength: 253,
        }),
      ),
      jsonPointers: s.optional(
        s.array(pointer('A JSON pointer, such as /spec/replicas.'), {
          doc: 'Fields that are not compared.',
          maxItems: MAX_COMPARE_PATCHES,
        }),
      ),
      operations: s.optional(
        s.array(
          s.object(
            {
              op: s.oneOf(COMPARE_OPERATIONS, {
                doc: 'remove: the field of path is not compared. ignore: an object that was deleted on the member stays deleted until its manifest changes.',
              }),
              path: s.optional(pointer('A JSON pointer, such as /spec/replicas.')),
            },
            { doc: 'Another way to say what is not compared.' },
          ),
          { doc: 'What is not compared, as operations.', maxItems: MAX_COMPARE_PATCHES },
        ),
      ),
    },
    { doc: 'Fields of the matching objects that are not compared.' },
  ),
  {
    doc: 'Fields that may differ on the members: they are neither drift nor difference, and are written only with a new object or manifest.',
    maxItems: MAX_COMPARE_PATCHES,
  },
);
export type ComparePatch = Infer<typeof comparePatches>[number];

export const comparePatchRules = [
  rule(
    "!has(self.comparePatches) || self.comparePatches.all(each, !has(each.operations) || each.operations.all(operation, operation.op != 'remove' || has(operation.path)))",
    'operation remove needs a path',
    '.comparePatches',
  ),
];
