// Ctrl-C and SIGTERM stop cleanly; a second signal exits at once.

export function firstSignal(): Promise<void> {
  return new Promise((stop) => {
    const onSignal = () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.once('SIGINT', () => process.exit(130));
      process.once('SIGTERM', () => process.exit(143));
      stop();
    };
    process.once('SIGINT', onSignal);
    process.once('SIGTERM', onSignal);
  });
}
