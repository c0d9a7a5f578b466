// Why an object is not applied, does not stay applied or cannot start, as a code: decisions and advice depend on it,
// never on the message. Additive: KubeFleet has no such field, and its clients ignore it.
import { type Infer, s } from './build.ts';

export type ApplyCauseCode =
  /** A field that cannot change on an existing object. */
  | 'FieldImmutable'
  | 'KindNotServed'
  | 'NamespaceMissing'
  | 'TooLarge'
  /** Together with the content of other clients the object is larger than the member's API server stores. */
  | 'AboveServerLimit'
  /** The object existed before, and whenToTakeOver is Never. */
  | 'NotTakenOver'
  /** It existed before and differs, and whenToTakeOver is IfNoDiff. */
  | 'FoundDiff'
  /** It was changed on the member, and whenToApply is IfNotDrifted. */
  | 'FoundDrifts'
  /** Server-side apply without force: another field manager owns a field. `by`: the managers. */
  | 'FieldConflict'
  /** `by`: the owners. */
  | 'OwnedByOthers'
  /** `by`: the placement, if it is known. */
  | 'PlacedByAnother'
  /** The placement selects the object twice, for example also in an envelope. `by`: both places. */
  | 'PlacedTwice'
  /** Another client deletes the object, or removes our owner reference, again and again. */
  | 'UndoneRepeatedly'
  /** It is applied, and another client changes it again and again. `by`: its field managers, if known. */
  | 'ChangedRepeatedly'
  /** It is applied, and the member's API server stores something else: an admission webhook or policy changes it. */
  | 'ChangedOnAdmission'
  /**
   * It is no longer placed and is being deleted, and finalizers of other clients block the deletion. `by`: the
   * finalizers.
   */
  | 'BeingDeleted'
  | StartFailure;

/** It is applied, and its Pods cannot start: Kubernetes' reasons for containers, scheduling and rejected Pods. */
export const START_FAILURES = [
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
  'Unschedulable',
  /** A quota or an admission plugin rejects the Pods. */
  'FailedCreate',
] as const;
export type StartFailure = (typeof START_FAILURES)[number];

export const isStartFailure = (code: string): boolean => (START_FAILURES as readonly string[]).includes(code);

// `code` has no enum on purpose: a newer agent must be able to write a code that an older CRD does not know.
export const applyCause = s.object(
  {
    code: s.string({ doc: 'One word for the cause, such as OwnedByOthers.', minLength: 1, maxLength: 63 }),
    by: s.optional(s.string({ doc: 'The object behind it, if there is one.', maxLength: 1024 })),
    message: s.optional(s.string({ doc: 'What the member reported when it was first seen.', maxLength: 1024 })),
  },
  { doc: 'Why, as a code.' },
);
type Stored = Infer<typeof applyCause>;
export type ApplyCause = Omit<Stored, 'code'> & { readonly code: ApplyCauseCode };
