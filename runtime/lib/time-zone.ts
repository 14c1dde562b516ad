/** The IANA name of a time zone, as it was given; undefined where this machine knows no such zone. */
export function timeZone(name: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format(0);
    return name;
  } catch {
    return undefined;
  }
}
