// Lets everything run that can run without time passing.

export async function turns(count = 3): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
