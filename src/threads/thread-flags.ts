/**
 * Node flags of every thread. A thread that is ended while it loads an ES module by `require` aborts the
 * whole process (Node 22, fatal assertions in its module loader); `import` survives that, and with this flag
 * `require` leaves ES modules to it.
 */
export const THREAD_FLAGS: string[] = ['--no-experimental-require-module'];
