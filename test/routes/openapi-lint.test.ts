import { createConfig, lintFromString } from '@redocly/openapi-core';
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { expect, it } from 'vitest';
import { describeApi } from '../../src/routes/api-description.ts';
import { describedRows } from '../../src/routes/described-rows.ts';

/** What a rule finds here although the document is right. */
const ACCEPTED = [
  // A WebSocket answers 101; the rule knows 2xx and 3xx alone.
  'operation-success-response paths//api/v1/live/get/responses',
  'operation-success-response paths//api/v1/meeting/audio/get/responses',
  'operation-success-response paths//api/v1/terminal/get/responses',
  // Whom to write to is the operator, on whose machine this is.
  'info-contact info',
  // OpenAPI 3.1 names the licence by its SPDX identifier, and allows no URL beside it.
  'license-url info/license',
];

const rows = describedRows();

async function redocly(api: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({
    source: JSON.stringify(api),
    absoluteRef: '/openapi.json',
    config,
  });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer} ${message}`);
}

async function spectral(api: object): Promise<string[]> {
  const linter = new Spectral();
  linter.setRuleset({ extends: [[oas as RulesetDefinition, 'all']] });
  const problems = await linter.run(api as Record<string, unknown>);
  return problems.map(({ code, path }) => `${code} ${path.join('/')}`);
}

it('the description of the API passes every recommended rule of Redocly', async () => {
  expect(await redocly(describeApi(rows, '1'))).toEqual([]);
});

it('the description of the API passes every rule of Spectral, but for those that do not fit it', async () => {
  expect((await spectral(describeApi(rows, '1'))).toSorted()).toEqual(ACCEPTED.toSorted());
});

it.each([
  { what: 'what guards it', key: 'security', redocly: /^security-defined/ },
  { what: 'its groups', key: 'tags', spectral: /^openapi-tags/ },
  { what: 'who may use it', key: 'info', redocly: /info/, spectral: /info/ },
])('the linters find a description without $what', async ({ key, ...finds }) => {
  const { [key]: _, ...without } = describeApi(rows, '1') as Record<string, unknown>;
  if (finds.redocly !== undefined) expect((await redocly(without)).join('\n')).toMatch(finds.redocly);
  if (finds.spectral !== undefined) expect((await spectral(without)).join('\n')).toMatch(finds.spectral);
});
