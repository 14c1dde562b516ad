import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepared } from '../../test/e2e/controlplane/build.ts';
import { runInside } from '../../test/e2e/controlplane/outside.ts';
import { stopRequested } from '../../test/e2e/controlplane/stopping.ts';
import { film, type Pace } from './film.ts';
import { drawSvg } from './svg.ts';
import { record, type Recording } from './terminal.ts';

/** `npm run record`: what README.md shows. With `--draw` anew from what was recorded last. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RECORDINGS = join(ROOT, 'build/record');
const PICTURE = join(ROOT, 'docs/rollout.svg');
const SIZE = { columns: 124, rows: 20 };
const DESCRIPTION =
  'A terminal: npm start rolls three simulated nodes over, then kubectl get brs -w shows a rollout on a real control plane.';

const SCENES = [
  {
    file: 'start.json',
    title: 'npm start: three simulated nodes, an embedded cluster (twice as fast)',
    speed: 2,
    take: recordStart,
  },
  {
    file: 'watch.json',
    title: 'kubectl get brs -w: a rollout on a real control plane (twice as fast)',
    speed: 2,
    take: recordWatch,
  },
] as const;
const PACE: Omit<Pace, 'speed'> = { longestPauseMs: 1500, holdMs: 4000 };

async function recordStart(file: string): Promise<void> {
  const env = plainEnvironment();
  await writeFile(file, JSON.stringify(await record('npm start', { ...SIZE, cwd: ROOT, env })));
}

async function recordWatch(file: string): Promise<void> {
  await prepared({ env: process.env, progress: (line) => void process.stderr.write(`${line}\n`) });
  const env = {
    ...process.env,
    RECORDING: file,
    COLUMNS: String(SIZE.columns),
    LINES: String(SIZE.rows),
  };
  const jest = ['npm', 'run', '--silent', 'jest', '--', '--testMatch', '**/watch.record.ts', '--forceExit'];
  const code = await runInside(jest, { env, stop: stopRequested(process.env) });
  if (code !== 0) throw new Error(`the rollout on a real control plane ended with ${code}`);
}

/** As somebody's who has just cloned the project: nothing of this npm's, and no settings of one's own. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/i.test(name));
  return { ...Object.fromEntries(entries), NPM_CONFIG_USERCONFIG: '/dev/null', NPM_CONFIG_UPDATE_NOTIFIER: 'false' };
}

await mkdir(RECORDINGS, { recursive: true });
if (!process.argv.includes('--draw')) for (const { file, take } of SCENES) await take(join(RECORDINGS, file));
const scenes = SCENES.map(async ({ file, title, speed }) => {
  const recording = JSON.parse(await readFile(join(RECORDINGS, file), 'utf8')) as Recording;
  return { title, film: await film(recording, { ...PACE, speed }) };
});
await writeFile(PICTURE, drawSvg(await Promise.all(scenes), DESCRIPTION));
