// A progress bar.

export function bar(done: number, total: number, width: number): string {
  const full = total === 0 ? width : Math.floor((done * width) / total);
  return `[${'#'.repeat(full)}${'-'.repeat(width - full)}]`;
}

export const percent = (done: number, total: number): string =>
  `${total === 0 ? 100 : Math.floor((done * 100) / total)}%`;
