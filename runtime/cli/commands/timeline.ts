import { rfc3339 } from '../../lib/clock.ts';
import { type Answer, type Command, type CommandRequest, durationOf } from '../command.ts';
import { unknownLines } from '../output/output.ts';
import { type Terminal, paint, wrapped } from '../output/terminal.ts';
import { byTime, type Moment, wordOf } from '../past/moments.ts';
import { pastOfFleet, pastOfNode, type Past } from '../past/past.ts';

const SINCE = {
  since: {
    type: 'string',
    value: 'DURATION',
    help: 'only what is newer, e.g. 2h30m; by default everything that is known',
  },
} as const;

const KNOWN = `It reads Events, which the API server keeps for an hour by default, and the present conditions, last failure and last update of the
objects. Each time comes from the clock of the writer.`;

export const timeline: Command = {
  name: 'timeline',
  args: 'NODE',
  summary: 'say what happened to a node, and when',
  details: KNOWN,
  options: SINCE,
  minArgs: 1,
  maxArgs: 1,
  async run(request) {
    const [name = ''] = request.names;
    return told(sinceOf(request), await pastOfNode(await request.connect(), name));
  },
};

export const history: Command = {
  name: 'history',
  args: '',
  summary: 'say what happened to the fleet, and when',
  details: KNOWN,
  options: SINCE,
  maxArgs: 0,
  run: async (request) => told(sinceOf(request), await pastOfFleet(await request.connect())),
};

/** @param from milliseconds since the Unix epoch */
function told(from: number, { moments, unknown }: Past): Answer {
  const shown = byTime(moments.filter(({ at }) => at >= from));
  return {
    value: { notKnown: unknown, moments: shown.map((moment) => ({ ...moment, at: rfc3339(moment.at) })) },
    lines: (terminal) => [
      ...unknownLines(unknown, terminal),
      ...(shown.length === 0 ? ['Nothing is known.'] : shown.flatMap((moment) => momentLines(moment, terminal))),
    ],
  };
}

function sinceOf({ values, clock }: CommandRequest): number {
  const { since } = values;
  return since === undefined ? -Infinity : clock.now() - durationOf('since', String(since));
}

function momentLines(moment: Moment, terminal: Terminal): readonly string[] {
  const { at, object, source, message, count } = moment;
  const times = count === undefined ? '' : ` (${count} times)`;
  const text = `${rfc3339(at)}  ${object}  ${paint(terminal, STYLES[source], wordOf(moment))}: ${message}${times}`;
  return wrapped(text, { columns: terminal.columns, indent: 4 });
}

const STYLES = { Event: 'head', condition: 'faint', object: 'faint' } as const;
