// The floor of the main thread's delay: a Node that does nothing, measured beside the daemon.
import '../loop-delay.ts';

setInterval(() => {}, 2 ** 30);
process.stdout.write('0\n');
