const formats = new Map<string, Intl.DateTimeFormat>();

/** The offset of a time zone from UTC at a moment, in milliseconds (positive: ahead). Throws for an unknown zone. */
export function offsetAt(zone: string, at: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const [month, day, year, hour, minute, second] = format.format(at).split(/\D+/).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}
