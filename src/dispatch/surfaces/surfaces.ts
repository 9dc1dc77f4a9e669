import type { Surface } from '../../contract/surface.ts';
import type { Memory } from '../holds/memory.ts';
import type { World } from '../world/world.ts';
import { APP, openApp } from './app/app.ts';
import type { OpenSurface, SurfaceStarts } from './surface.ts';
import { openTerminal, TERMINAL, type TerminalPorts } from './terminal/terminal.ts';

/** How workers are started on each surface. */
export const SURFACES: Record<Surface, SurfaceStarts> = { cli: TERMINAL, app: APP };

/** The runs and captures of each surface in this daemon. */
export function openSurfaces(world: World, memory: Memory, ports: TerminalPorts) {
  return {
    cli: openTerminal(world, memory, ports),
    app: openApp(world, memory, ports),
  } satisfies Record<Surface, OpenSurface>;
}
