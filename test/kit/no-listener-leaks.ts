/**
 * Set-up of every suite: a listener that is added again and again is a leak, and a warning on stderr is read by
 * nobody, so it fails the run. Node names the emitter and the event in the message, and the stack is where the last
 * one was added.
 */
process.on('warning', (warning) => {
  if (warning.name === 'MaxListenersExceededWarning') throw warning;
});
