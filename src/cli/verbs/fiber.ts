import type { Command } from 'commander';
import type { Verb } from '../command-line/verb.ts';
import { registerAdd } from './fiber/add.ts';
import { registerCheck } from './fiber/check.ts';
import { registerEdit } from './fiber/edit.ts';
import { registerInit } from './fiber/init.ts';
import { registerLs } from './fiber/ls.ts';
import { registerNest } from './fiber/nest.ts';
import { registerRm } from './fiber/rm.ts';
import { registerShow } from './fiber/show.ts';

/** `svc fiber …`: the document store tool. */
export const verb: Verb = {
  name: 'fiber',
  summary: 'Make, read, edit and list fibers in a store',
  register(command: Command, context, exit) {
    for (const register of [
      registerInit,
      registerAdd,
      registerEdit,
      registerShow,
      registerLs,
      registerNest,
      registerRm,
      registerCheck,
    ]) {
      register(command, context, exit);
    }
  },
};
