// Conditions of every status. The types and reasons of a kind are defined beside the kind.
import { type Infer, s } from './build.ts';

export const condition = s.object(
  {
    type: s.string({
      doc: 'Type of the condition.',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
    status: s.oneOf(['True', 'False', 'Unknown'], { doc: 'True, False or Unknown.' }),
    observedGeneration: s.optional(
      s.integer({
        doc: 'Generation of the object that was judged; an older one makes the condition stale.',
        format: 'int64',
        minimum: 0,
      }),
    ),
    lastTransitionTime: s.time('When the status last changed.'),
    reason: s.string({
      doc: 'One word for programs: why the status is what it is.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: s.string({ doc: 'A sentence for people; may be empty.', maxLength: 32768 }),
  },
  { doc: 'One observation about the object.' },
);

export type Condition<Type extends string = string, Reason extends string = string> = Infer<typeof condition> & {
  readonly type: Type;
  readonly reason: Reason;
};

/** One condition per type; server-side apply merges them. */
export const conditionsByType = (doc: string, maxItems?: number) =>
  s.array(condition, { doc, keys: ['type'], ...(maxItems === undefined ? {} : { maxItems }) });

/** Conditions as an atomic list. */
export const conditionList = (doc: string, maxItems?: number) =>
  s.array(condition, { doc, ...(maxItems === undefined ? {} : { maxItems }) });
