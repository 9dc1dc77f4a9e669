import type { z } from 'zod';
import { markdownTable } from '../../base/markdown-table.ts';
import { agentSchema } from '../../contract/agent.ts';
import { fiberDocumentSchema, fiberRowSchema } from '../../contract/fiber.ts';
import { incidentSchema } from '../../contract/http/incidents.ts';
import { lifeEntrySchema } from '../../contract/http/life.ts';
import { rehearsalSchema } from '../../contract/http/rehearsal.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { versionSchema } from '../../contract/http/version.ts';
import type { CommandFacts } from './command-table.ts';
import { shapeText } from './shape-text.ts';

/** Shapes that the page explains once and refers to by name. */
const SHAPES: ReadonlyMap<z.ZodType, string> = new Map<z.ZodType, string>([
  [fiberDocumentSchema, 'Fiber'],
  [fiberRowSchema, 'FiberRow'],
  [stateSchema.shape.running.element, 'Worker'],
  [agentSchema, 'Agent'],
  [incidentSchema, 'Incident'],
  [lifeEntrySchema, 'LifeEntry'],
  [rehearsalSchema, 'Rehearsal'],
  [stateSchema, 'State'],
  [versionSchema, 'Version'],
]);

const INTRO = `# The command line

<!-- Generated from the verbs by \`npm run docs\`; edit src/cli instead. -->

\`svc <verb> [options]\`. \`svc help\` lists the verbs; \`svc help <verb>\` and \`svc <verb> --help\` tell how one is used.
\`svc demo <verb> …\` runs a verb on the demo instead of your own setup.

A \`<fiber>\` is its canonical id (\`work/loader\`), its ULID, the last part of its id where only one fiber has it, or the
beginning of the id or of its last part where it fits only one (\`work/lo\`, \`loa\`). The store is \`--store\`, else the configured ones, else the one that the current folder lies in. Verbs that write take
\`--dry-run\`, see [why.md](why.md#rehearse).

A verb that ends running work or removes what somebody wrote asks on a terminal, with what it would do. Without a terminal,
and with \`--json\`, it does nothing and names \`--yes\`, which answers the question beforehand. These verbs have \`--yes\`
among their options.

## Exit codes

| exit code | means                                                                |
| --------- | -------------------------------------------------------------------- |
| 0         | done                                                                 |
| 1         | understood and refused; the sentence says how to fix                 |
| 2         | what was typed is wrong: the line, or a value in it                  |
| 3         | the daemon cannot be reached, or it is not known yet what came of it |

A refusal is one sentence on standard error, \`svc: <message>\`. With \`--json\` it is
\`{"error": "<code>", "message": "<sentence>"}\` there, with the same exit code, and standard output stays empty.
A verb that has an answer although something is wrong, as \`svc doctor\` or \`svc daemon status\` without a daemon, prints
that answer on standard output; its part below names the exit code. Into a file or a pipe output has no colours, and a closed
pipe (\`svc fiber ls | head\`) ends a command quietly.

## Text that others wrote

Whatever a command prints, to a terminal, a pipe or a file, holds no character that a terminal would act on or not
show: control characters, escape sequences, marks that turn the direction of writing and characters without a width
stand as \`\\uXXXX\`. JSON stays JSON of the same value. Line ends, tabs and emoji are kept. The one exception is
\`svc fiber show ID --body-only\` into a pipe or a file, which gives the body byte for byte.

## JSON

With \`--json\` a command prints one JSON document, of the type that stands with it below; \`svc daemon logs\`
and \`svc transcript\` print one a line. With \`--dry-run\` it prints a [Rehearsal](#rehearsal) instead.

## Completion

\`svc completion bash|zsh|fish\` prints a script that completes verbs, options, folders, agents and the ids of fibers.
The ids are read from the folders of the stores, so that they are offered while no daemon runs, and at once.

`;

/** The text of `ops/cli.md`. */
export function renderReferencePage(commands: readonly CommandFacts[]): string {
  const groups = [...new Set(commands.map(({ group }) => group))];
  const texts = groups.map((group) =>
    groupText(
      group,
      commands.filter((one) => one.group === group),
    ),
  );
  return `${INTRO}${[...texts, shapesText()].join('\n')}`;
}

function groupText(title: string, commands: readonly CommandFacts[]): string {
  return `## ${title}\n${commands.map(commandText).join('')}`;
}

function commandText({ path, usage, verb, ...command }: CommandFacts): string {
  const about = `${verb.summary}.${verb.page === undefined ? '' : ` See [${verb.page}](${verb.page}).`}`;
  return [
    `\n### \`svc ${path.join(' ')}\`\n\n${about}\n`,
    `\n\`\`\`sh\n${[usage, ...verb.examples.map(([line, does]) => `${line}  # ${plain(does)}`)].join('\n')}\n\`\`\`\n`,
    markdownTable(
      ['argument', 'is'],
      command.arguments.map((one) => [`\`${one.usage}\``, one.description]),
    ),
    markdownTable(
      ['option', 'does'],
      command.options.map((one) => [`\`${one.flags}\``, one.description]),
    ),
    verb.json === undefined
      ? `\nNo \`--json\`: ${verb.no_json}.\n`
      : `\nWith \`--json\`:\n\n\`\`\`text\n${shapeText(verb.json, SHAPES)}\n\`\`\`\n`,
    ...Object.entries(verb.exits ?? {}).map(
      ([code, when]) => `\nAnswers with exit code ${code} where ${when}.\n`,
    ),
  ].join('');
}

/** Each shape that several commands print. */
function shapesText(): string {
  const shapes = [...SHAPES].map(
    ([schema, name]) => `\n### ${name}\n\n\`\`\`text\n${shapeText(schema, SHAPES, true)}\n\`\`\`\n`,
  );
  return `## Shapes\n\nWhat \`--json\` prints, where several commands share it. Times that are numbers are milliseconds since\nthe Unix epoch. A field that is not named here may be added; \`…\` stands where there are more already.\n${shapes.join('')}`;
}

function plain(text: string): string {
  return text.replaceAll('`', '');
}
