import { OperatorFiles } from '../config/operator-files.ts';
import type { Settings } from '../config/settings.ts';
import { parseRegistry } from '../harness/agents/registry.ts';

/** The operator files as `svc` itself validates them. */
export function operatorFiles(settings: Settings): OperatorFiles {
  return new OperatorFiles({
    settings,
    checkAgents: (file, text) => void parseRegistry(file, text),
    validateByCli: null,
  });
}
