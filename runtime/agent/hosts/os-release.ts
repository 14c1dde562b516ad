import { HostProtocolError } from './errors.ts';

/** A field in the text of os-release(5), without its quotes. An empty value, or a line that was cut off, counts as missing. @throws HostProtocolError naming the field */
export function osReleaseField(text: string, name: string): string {
  const value = new RegExp(`^${name}=(["']?)([^\\s"']+)\\1$`, 'm').exec(text)?.[2];
  if (value === undefined) throw new HostProtocolError(`os-release: expected ${name}, got none`);
  return value;
}
