// Tolerations: which taints of a member cluster a placement tolerates.
import { type Infer, rule, s } from './build.ts';
import { LABEL_VALUE, LABEL_VALUE_LENGTH, QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from './patterns.ts';

export const toleration = s.object(
  {
    key: s.optional(
      s.string({
        doc: 'The taint key; empty together with Exists means every taint.',
        pattern: `^$|${QUALIFIED_NAME}`,
        maxLength: QUALIFIED_NAME_LENGTH,
      }),
    ),
    operator: s.defaulted(
      s.oneOf(['Equal', 'Exists'], { doc: 'Whether the value must be equal, or the key alone decides.' }),
      'Equal',
    ),
    value: s.optional(
      s.string({ doc: 'The taint value, for Equal.', pattern: LABEL_VALUE, maxLength: LABEL_VALUE_LENGTH }),
    ),
    effect: s.optional(s.oneOf(['NoSchedule'], { doc: 'The effect that is tolerated; absent means any.' })),
  },
  {
    doc: 'One toleration.',
    rules: [
      rule(
        "self.operator != 'Exists' || !has(self.value) || self.value == ''",
        'a toleration with operator Exists takes no value',
        '.value',
      ),
      rule(
        "self.operator == 'Exists' || (has(self.key) && self.key != '')",
        'a toleration without a key needs operator Exists',
        '.key',
      ),
    ],
  },
);
export type Toleration = Infer<typeof toleration>;
