// Loaded with `node --import tsx --import swap.mjs`: the modules that FLOTILLA_SWAPS names are loaded from other files, as if these stood in
// their place. So a broken program runs without a copy of the tree.
import { register } from 'node:module';

register('./swap-hooks.mjs', import.meta.url, { data: JSON.parse(process.env.FLOTILLA_SWAPS ?? '[]') });
