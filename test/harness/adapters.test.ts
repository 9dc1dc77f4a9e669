import { describe } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { createAdapters } from '../../src/harness/adapters.ts';
import { createCapabilities } from '../../src/harness/capabilities.ts';
import { adapterConformance } from './conformance.ts';
import { FIXTURE_HOMES } from './fixture-homes.ts';

describe.each(HARNESS_NAMES)('the %s adapter', (name) => {
  adapterConformance(FIXTURE_HOMES[name], (env) => {
    const runner = { run: () => Promise.reject(new Error('nothing is run here')) };
    return createAdapters({ env, uid: 1000, capabilities: createCapabilities({ runner, env }) })[name];
  });
});
