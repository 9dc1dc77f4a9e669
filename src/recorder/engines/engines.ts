import { isCoded, messageOf } from '../../base/errors.ts';
import { createChildEngine, type EngineProgram, type EngineWorld } from './child-engine.ts';
import { type Engine, engineLine } from './engine.ts';
import { findPocketSphinx } from './pocketsphinx.ts';
import { findSherpa } from './sherpa.ts';
import { createVadEngine } from './vad.ts';

/** The engines, the best first; the last one can always be used. */
export const ENGINES = ['sherpa', 'pocketsphinx', 'vad'] as const;
export type EngineId = (typeof ENGINES)[number];

/** What the operator says of engines. */
export type EngineSettings = {
  /** The engine to use, or `auto` for the first that can be. */
  engine: EngineId | 'auto';
  /** Folder with a model of sherpa-onnx; null for none. */
  models: string | null;
  /** JSGF file for PocketSphinx; null for none. */
  grammar: string | null;
  /** PATH to look for programs on. */
  path: string;
};

/** `says` is the engine as the first line of a transcript names it, or why it cannot be used, with the fix. */
export type EngineFinding = { id: EngineId; usable: boolean; chosen: boolean; says: string };

/** Every engine, whether it can be used here and which one a recording would use; it starts none. */
export async function describeEngines(settings: EngineSettings): Promise<EngineFinding[]> {
  const describe = async (id: EngineId) => {
    try {
      return { id, usable: true, says: engineLine(await facts(id, settings)) };
    } catch (error) {
      return { id, usable: false, says: sentenceOf(error) };
    }
  };
  const found = await Promise.all(ENGINES.map(describe));
  const chosen = found.find(({ id, usable }) =>
    settings.engine === 'auto' ? usable : id === settings.engine,
  );
  return found.map((one) => ({ ...one, chosen: one === chosen && one.usable }));
}

/**
 * Starts the engine that was chosen, or the first that can be. `passed_over` are sentences on those that are here and do not
 * start. Rejects with `invalid_config` if the chosen one cannot be used, or was stopped while it was loading.
 */
export async function startEngine(
  settings: EngineSettings,
  world: EngineWorld,
): Promise<{ engine: Engine; passed_over: string[] }> {
  if (settings.engine !== 'auto') {
    const engine = await engineOf(settings.engine, settings, world);
    await engine.start();
    return { engine, passed_over: [] };
  }
  const passed_over: string[] = [];
  for (const { id } of (await describeEngines(settings)).filter(({ usable }) => usable)) {
    const engine = await engineOf(id, settings, world);
    try {
      await engine.start();
      return { engine, passed_over };
    } catch (error) {
      if (world.stop.aborted) throw error;
      passed_over.push(sentenceOf(error));
    }
  }
  throw new Error('the engine that is always there did not start');
}

async function engineOf(id: EngineId, settings: EngineSettings, world: EngineWorld): Promise<Engine> {
  const program = await programOf(id, settings);
  return program === null ? createVadEngine() : createChildEngine(program, world);
}

async function facts(
  id: EngineId,
  settings: EngineSettings,
): Promise<Pick<Engine, 'name' | 'diarizes' | 'caveat'>> {
  return (await programOf(id, settings)) ?? createVadEngine();
}

/** Null for the engine that is no program. */
async function programOf(
  id: EngineId,
  { models, grammar, path }: EngineSettings,
): Promise<EngineProgram | null> {
  switch (id) {
    case 'sherpa':
      return findSherpa(models);
    case 'pocketsphinx':
      return findPocketSphinx({ path, grammar });
    case 'vad':
      return null;
  }
}

function sentenceOf(error: unknown): string {
  return isCoded(error) ? error.message : messageOf(error);
}
