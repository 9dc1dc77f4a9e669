import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coloursOf, contrast, PALETTES, readableOn } from '../../../board/src/model/terminal-colours.ts';

const { light, dark } = PALETTES;

describe('the colours of a piece of a terminal', () => {
  it.each([
    ['no attributes', 'x', { text: null, ground: null }],
    ['weight alone', { text: 'x', bold: true as const }, { text: null, ground: null }],
    ['one of the 16', { text: 'x', fg: 4 }, { text: light.colours[4], ground: null }],
    ['one of the cube', { text: 'x', fg: 17 }, { text: '#00005f', ground: null }],
    ['a grey', { text: 'x', fg: 232 }, { text: '#080808', ground: null }],
    ['true colour', { text: 'x', fg: '#102030' }, { text: '#102030', ground: null }],
    ['a ground of its own', { text: 'x', bg: 15 }, { text: null, ground: light.colours[15] }],
    ['reverse', { text: 'x', reverse: true as const }, { text: light.ground, ground: light.ink }],
  ])('with %s', (_, run, colours) => {
    expect(coloursOf(run, light)).toEqual(colours);
  });

  it('are darker where they were made for a dark ground, and lighter for a light one', () => {
    expect(contrast('#ffff00', light.ground)).toBeLessThan(2);
    expect(coloursOf({ text: 'x', fg: '#ffff00' }, light).text).not.toBe('#ffff00');
    expect(coloursOf({ text: 'x', fg: '#ffff00' }, dark).text).toBe('#ffff00');
    expect(coloursOf({ text: 'x', fg: '#000080' }, dark).text).not.toBe('#000080');
  });

  it('can be read, whatever a program chose', () => {
    const hex = fc
      .integer({ min: 0, max: 0xffffff })
      .map((value) => `#${value.toString(16).padStart(6, '0')}`);
    const colour = fc.option(fc.oneof(fc.nat(255), hex), { nil: undefined });
    const on = fc.option(fc.constant(true as const), { nil: undefined });
    const run = fc.record({ fg: colour, bg: colour, dim: on, reverse: on });
    fc.assert(
      fc.property(run, fc.constantFrom(light, dark), (styled, palette) => {
        const { text, ground } = coloursOf({ text: 'x', ...styled }, palette);
        expect(contrast(text ?? palette.ink, ground ?? palette.ground)).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });

  it('are changed only as far as is needed', () => {
    expect(readableOn('#000000', '#ffffff')).toBe('#000000');
    expect(readableOn('#888888', '#ffffff')).toBe('#747474');
  });
});
