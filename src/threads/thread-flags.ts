/**
 * Node flags of every thread. A thread that is ended while it loads an ES module by `require` aborts the
 * whole process (Node 22, fatal assertions in its module loader); `import` survives that, and with this flag
 * `require` leaves ES modules to it.
 */
export const THREAD_FLAGS: string[] = ['--no-experimental-require-module'];

/**
 * Room for new objects in each thread. Node's own measure keeps up to 48 MB a thread of what was touched once,
 * and six threads that mostly wait do not need it.
 */
export const YOUNG_GENERATION = { maxYoungGenerationSizeMb: 12 };
