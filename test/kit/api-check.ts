import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Match, Router } from '../../src/http/router.ts';
import { type ApiDescription, apiPath, describeApi } from '../../src/routes/api-description.ts';
import { describedRows } from '../../src/routes/described-rows.ts';

/** An answer as it came over the wire. */
export type CheckedAnswer = {
  method: string;
  /** As it was asked for, query and all. */
  path: string;
  status: number;
  content_type: string | undefined;
  text: string;
};

type Described = {
  api: ApiDescription;
  router: Router;
  ajv: Ajv2020;
  compiled: Map<string, ValidateFunction>;
};
let described: Promise<Described> | null = null;

/**
 * Holds an answer against the OpenAPI description of the API: its status, its content type and its body. Throws with
 * what differs. Every fixture that asks a daemon or the route table passes its answers through here.
 */
export async function checkAnswer(answer: CheckedAnswer): Promise<void> {
  described ??= describe();
  const { api, router, ajv, compiled } = await described;
  const match = router.match(answer.method, answer.path.split('?')[0]!);
  const place = placeOf(match, api, answer);
  if (place === null) return;
  let validate = compiled.get(place);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `api${place}` });
    compiled.set(place, validate);
  }
  if (!validate(JSON.parse(answer.text)))
    throw new Error(
      `${answer.method} ${answer.path} answered ${answer.status} unlike its description: ${ajv.errorsText(validate.errors, { dataVar: 'body' })}\n${answer.text.slice(0, 2_000)}`,
    );
}

async function describe(): Promise<Described> {
  const rows = describedRows();
  const api = describeApi(rows, 'test');
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, validateSchema: false });
  ajv.addSchema(api, 'api');
  return { api, router: new Router(rows), ajv, compiled: new Map() };
}

/** Where in the description the body of an answer stands; null for one that needs no check. */
function placeOf(match: Match, api: ApiDescription, answer: CheckedAnswer): string | null {
  const { method, path, status, text } = answer;
  const media = answer.content_type?.split(';')[0];
  if (match.kind !== 'row') {
    if (status < 400) throw new Error(`${method} ${path} answered ${status} although there is no such route`);
    return media === 'application/json' ? '#/components/schemas/Error' : null;
  }
  const { row } = match.compiled;
  const key = apiPath(row.path);
  const { responses } = api.paths[key]![row.method.toLowerCase()]!;
  const named = status in responses ? String(status) : 'default';
  const bodiless = method === 'HEAD' || status === 304 || text === '';
  if (named === 'default' && status < 400 && status !== 304)
    throw new Error(`${method} ${path} answered ${status}, which its description does not know`);
  if (bodiless) return null;
  const content = responses[named]?.content ?? {};
  if (media === 'application/json' && media in content)
    return `#/paths/${pointer(key)}/${row.method.toLowerCase()}/responses/${named}/content/application~1json/schema`;
  const others = Object.keys(content).filter((one) => one !== 'application/json');
  if (
    others.some(
      (one) => one === '*/*' || one === media || one.replace('*', '') === `${media?.split('/')[0]}/`,
    )
  )
    return null;
  throw new Error(`${method} ${path} answered ${status} as ${media}; described are ${Object.keys(content)}`);
}

function pointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
