// Kubernetes' quantities: `500m`, `1.5Gi`, `1e3`. Exact: a whole number scaled by a power of ten.

/** The suffixes that exist; `1Q` fits the server's message but is no quantity. */
export const quantityPattern = /^[+-]?(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;
