import { runSink } from '../frame-sink.ts';

await runSink();
