// Loaded into a process before anything else (`node --require`): makes opening some files wait in the kernel.
'use strict';
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const { fifo, paths } = JSON.parse(process.env.TEST_STUCK_OPEN);
const { open, openSync, closeSync, close } = fs;
const { open: openPromised } = fs.promises;
/** A path that ends with a slash stands for all that is below it. */
const isNamed = (path) =>
  paths.some((one) => path === one || (one.endsWith('/') && String(path).startsWith(one)));
const isStuck = (path) => isNamed(path) && fs.existsSync(fifo);

fs.openSync = (path, ...rest) => {
  if (isStuck(path)) closeSync(openSync(fifo, 'r'));
  return openSync(path, ...rest);
};
fs.open = (path, ...rest) => {
  if (!isStuck(path)) return open(path, ...rest);
  open(fifo, 'r', (_error, fd) => close(fd, () => open(path, ...rest)));
};
fs.promises.open = async (path, ...rest) => {
  if (isStuck(path)) await (await openPromised(fifo, 'r')).close();
  return openPromised(path, ...rest);
};
syncBuiltinESMExports();
