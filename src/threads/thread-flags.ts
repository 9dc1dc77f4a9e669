/**
 * Node flags of every thread. A thread that is ended while `require` loads an ES module aborts the whole process (Node
 * 22, fatal assertion in its module loader). `import` does not have this fault; this flag keeps `require` from loading
 * ES modules.
 */
export const THREAD_FLAGS: string[] = ['--no-experimental-require-module'];

/**
 * Size of the young generation of the heap in each thread, in MB. Node's default retains up to 48 MB per thread, too much
 * for six threads that are mostly idle; half of this one makes a first listing collect garbage for a tenth longer.
 */
export const YOUNG_MB = 24;
