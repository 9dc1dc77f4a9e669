import { expect, it } from 'vitest';
import { readDemoCall } from '../../../src/cli/command-line/demo-call.ts';

it.each<[string[], ReturnType<typeof readDemoCall>]>([
  [['demo', 'status', '--json'], { dir: undefined, argv: ['status', '--json'] }],
  [['demo', '--dir', '/d', 'ps'], { dir: '/d', argv: ['ps'] }],
  [['demo', '--dir=/d', 'fiber', 'add', 'x'], { dir: '/d', argv: ['fiber', 'add', 'x'] }],
  [['demo'], null],
  [['demo', '--remove'], null],
  [['demo', '--dir', '/d', '--remove'], null],
  [['demo', '--dir'], null],
  [['demo', '--help'], null],
  [['status', 'demo'], null],
])('a verb after demo: %j', (argv, call) => expect(readDemoCall(argv)).toEqual(call));
