import { expect, test } from '@jest/globals';
import { OneProgram } from '../../../runtime/agent/hosts/one-program.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';

const ENDED = { exit: 0, overdue: false, stdout: '', stderr: '' };

test('a program that nothing can kill is not waited for without end, and no other is started beside it', async () => {
  const clock = new VirtualClock();
  const started: string[] = [];
  let end = (): void => undefined;
  const program = new OneProgram({
    clock,
    programs: {
      run: ([path]) => {
        started.push(path);
        return new Promise((resolve) => (end = () => resolve(ENDED)));
      },
    },
  });
  const run = (path: string) => program.run([path], { deadline: clock.monotonic() + 60_000 });
  const first = run('/a').catch((error: unknown) => error);
  await clock.advance(71_000);
  expect(await Promise.race([first, Promise.resolve('waits')])).toMatchObject({ name: 'HostBusyError' });
  const refused = run('/b').catch((error: unknown) => error);
  await clock.advance(61_000);
  expect([await Promise.race([refused, Promise.resolve('waits')]), started]).toMatchObject([
    { name: 'HostBusyError' },
    ['/a'],
  ]);
  end();
  await clock.advance(0);
  void run('/c');
  await clock.advance(0);
  expect(started).toEqual(['/a', '/c']);
});
