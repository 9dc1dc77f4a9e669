import type { Settings } from '../config/settings.ts';
import type { EngineId, EngineSettings } from '../recorder/engines/engines.ts';

/** What the settings say of engines; `engine` is the one that a command line asks for. */
export function engineSettings(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  engine?: EngineId,
): EngineSettings {
  return {
    engine: engine ?? settings.recorder_engine,
    models: settings.recorder_models,
    grammar: settings.recorder_grammar,
    path: env.PATH ?? '',
  };
}
