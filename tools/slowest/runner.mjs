import circus from 'jest-circus/runner';
import { appendFileSync, readFileSync } from 'node:fs';

/** Of /proc/PID/stat: ticks of a hundredth of a second, of this process and of its children that have ended. */
function ticks() {
  const [user, system, childrensUser, childrensSystem] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return { own: user + system, children: childrensUser + childrensSystem };
}

/** Runs a test file as Jest does, and adds what it cost to the file that `SLOWEST` names. */
export default async function runner(...args) {
  const [{ rootDir }, , , , path] = args;
  const before = ticks();
  try {
    return await circus.default(...args);
  } finally {
    const after = ticks();
    const seconds = (name) => (after[name] - before[name]) / 100;
    const cost = { file: path.slice(rootDir.length + 1), own: seconds('own'), children: seconds('children') };
    appendFileSync(process.env['SLOWEST'], `${JSON.stringify(cost)}\n`);
  }
}
