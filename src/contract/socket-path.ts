import { z } from 'zod';

/** Longest path that the kernel takes for a Unix socket, in bytes (the smaller of Linux and macOS). */
export const SOCKET_PATH_BYTES = 103;

/** The path of a Unix socket. */
export const socketPathSchema = z
  .string()
  .regex(/^\/[^\p{Cc}]*$/u, 'must be an absolute path')
  .refine(
    (path) => new TextEncoder().encode(path).length <= SOCKET_PATH_BYTES,
    `has more than the ${SOCKET_PATH_BYTES} bytes that the path of a socket may have`,
  );
