// The verbs as one value, to pass them on.
import { create } from './create.ts';
import { remove } from './delete.ts';
import { deleteCollection } from './delete-collection.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { toldWhenVisible } from './refusal.ts';
import { update } from './update.ts';
import { watch } from './watch.ts';

export const verbs = {
  create: toldWhenVisible(create),
  get,
  list,
  watch,
  update: toldWhenVisible(update),
  patch: toldWhenVisible(patch),
  remove: toldWhenVisible(remove),
  deleteCollection,
} as const;
