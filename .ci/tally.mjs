// node .ci/tally.mjs FOLDER SUITE...: adds up what the suites wrote into FOLDER and prints `N passed, N failed`.
// A suite is SUITE.json, as jest writes it, or SUITE.txt, whose last line is such a line. One that is missing, or of which no test passed,
// makes the exit code 1: it ran nothing, whatever its own exit code was.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, ...suites] = process.argv.slice(2);

function resultOf(suite) {
  const [json, text] = ['json', 'txt'].map((ending) => join(folder, `${suite}.${ending}`));
  if (existsSync(json)) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(json, 'utf8'));
    return [numPassedTests, numFailedTests + numRuntimeErrorTestSuites];
  }
  const line = existsSync(text) ? readFileSync(text, 'utf8').trim().split('\n').at(-1) : '';
  return /^(\d+) passed, (\d+) failed$/.exec(line)?.slice(1).map(Number) ?? [0, 0];
}

const results = suites.map(resultOf);
for (const [index, [passed]] of results.entries()) {
  if (passed > 0) continue;
  process.stderr.write(`${suites[index]}: no test passed\n`);
  process.exitCode = 1;
}
const sum = (column) => results.reduce((total, result) => total + result[column], 0);
if (sum(1) > 0) process.exitCode = 1;
process.stdout.write(`${sum(0)} passed, ${sum(1)} failed\n`);
