import type { Engine, EngineSegment } from './engine.ts';
import { type Speech, SpeechDetector } from './speech-detector.ts';

/** The engine that is always there: it finds when somebody speaks, and not what. */
export function createVadEngine(): Engine {
  const detector = new SpeechDetector();
  let listener: (segment: EngineSegment) => void = () => undefined;
  const tell = (found: readonly Speech[]) => {
    for (const { start, end } of found)
      listener({ start, end, text: `[speech ${(end - start).toFixed(1)} s, not transcribed]` });
  };
  return {
    name: 'vad',
    diarizes: false,
    caveat: 'not transcribed',
    backlog_seconds: 0,
    start: async () => undefined,
    push(pcm) {
      tell(detector.push(pcm));
      return true;
    },
    async finish() {
      tell(detector.finish());
      return true;
    },
    onSegment(given) {
      listener = given;
    },
    onExit: () => undefined,
  };
}
