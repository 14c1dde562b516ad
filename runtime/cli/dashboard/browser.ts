import { spawn } from 'node:child_process';

/** What opens an address in the user's browser, by system. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // The first argument of start is a title.
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
};

/** Opens it where that is possible; where it is not, the address has been printed. */
export function openInBrowser(url: string, platform = process.platform): void {
  const [program = 'xdg-open', ...args] = OPENERS[platform] ?? [];
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  opener.on('error', () => undefined);
  opener.unref();
}
