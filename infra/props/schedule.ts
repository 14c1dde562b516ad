import * as z from 'zod';
import { controllerEnv } from '../../runtime/controller/config.ts';
import { choiceOf, afterOwnChecks, textIn, textOf } from './fields.ts';

/** When updates may start: by cron, or a daily window. Nodes that are already updating finish outside of it. */
export type ScheduleProps = CronProps | WindowProps;

/** The same with every default. */
export type ScheduleSettings = Required<CronProps> | Required<WindowProps>;

export interface CronProps {
  readonly kind: 'cron';
  /** Seven cron fields, second to year; without the year, every one is meant. Consecutive seconds are a window; a lone one starts a rollout that then runs to its end. */
  readonly expression: string;
  /** IANA time zone of the expression, e.g. `Europe/Berlin`. @default UTC */
  readonly timeZone?: string;
  /** `strict`: no update starts that would not be done before the window closes, by how long the last ones took. @default off */
  readonly windowFit?: 'off' | 'strict';
}

export interface WindowProps {
  readonly kind: 'window';
  /** Start of the daily window, HH:MM:SS, UTC, inclusive. */
  readonly start: string;
  /** End of the daily window, HH:MM:SS, UTC, exclusive; earlier than the start means past midnight. */
  readonly stop: string;
  /** As with cron. @default off */
  readonly windowFit?: 'off' | 'strict';
}

const windowFit = choiceOf(controllerEnv.WINDOW_FIT);

const cron = z.strictObject({
  kind: z.literal('cron'),
  expression: textIn(controllerEnv.SCHEDULER_CRON_EXPRESSION),
  timeZone: textOf(controllerEnv.SCHEDULER_TIME_ZONE),
  windowFit,
} satisfies Record<keyof CronProps, z.ZodType>);

const window = z
  .strictObject({
    kind: z.literal('window'),
    start: textIn(controllerEnv.UPDATE_WINDOW_START),
    stop: textIn(controllerEnv.UPDATE_WINDOW_STOP),
    windowFit,
  } satisfies Record<keyof WindowProps, z.ZodType>)
  .refine((props) => props.start !== props.stop, {
    path: ['stop'],
    message: 'expected another time than start',
    ...afterOwnChecks('start', 'stop'),
  });

/** @internal */
export const scheduleProps = z
  .discriminatedUnion('kind', [cron, window], 'expected cron or window')
  .prefault({ kind: 'cron', expression: controllerEnv.SCHEDULER_CRON_EXPRESSION.default });

/** The controller's variables for it: cron and window exclude each other. @internal */
export function scheduleEnv(schedule: ScheduleSettings) {
  const isCron = schedule.kind === 'cron';
  return {
    SCHEDULER_CRON_EXPRESSION: isCron ? schedule.expression : undefined,
    SCHEDULER_TIME_ZONE: isCron ? schedule.timeZone : undefined,
    WINDOW_FIT: schedule.windowFit,
    UPDATE_WINDOW_START: isCron ? undefined : schedule.start,
    UPDATE_WINDOW_STOP: isCron ? undefined : schedule.stop,
  };
}
