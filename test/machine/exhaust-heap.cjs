/** Loaded before the service: on SIGUSR2 a process fills its heap until V8 ends it. */
process.on('SIGUSR2', () => {
  const held = [];
  for (;;) held.push(new Array(100_000).fill(0.5));
});
