// Reviews are answered and never stored.
import { reviewAnswers } from '../auth/reviews.ts';
import type { Behaviour } from '../registry.ts';
import { behaviour } from './behaviour.ts';

export const isReview = (kind: string): kind is keyof typeof reviewAnswers => Object.hasOwn(reviewAnswers, kind);

export const review = (kind: keyof typeof reviewAnswers): Behaviour => behaviour({ answer: reviewAnswers[kind] });
