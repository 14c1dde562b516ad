import { Cron } from 'croner';

/**
 * The five fields of crontab, minute to day of the week, as Kubernetes' CronJobs have them: Sunday is 0 or 7, and where days of the month
 * and of the week are both limited, either is enough. This is another dialect than that of the variable SCHEDULER_CRON_EXPRESSION.
 */

/** What croner has beyond that dialect (`L`, `W`, `#`, `+`) is refused, and so are names in fields that have none. */
const MINUTE = /^[\d*?,/-]+$/;
const MONTH = /^([\d*?,/-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)+$/i;
const WEEKDAY = /^([\d*?,/-]|sun|mon|tue|wed|thu|fri|sat)+$/i;

const FIELDS = [
  { alphabet: MINUTE, max: 59 },
  { alphabet: MINUTE, max: 23 },
  { alphabet: MINUTE, max: 31 },
  { alphabet: MONTH, max: 12 },
  { alphabet: WEEKDAY, max: 6 },
] as const;

/** Any moment: whether an expression ever matches does not depend on the day on which it is read. */
const SINCE = new Date('2000-01-01T00:00:00Z');

/** When a cron expression matches, by a time zone; undefined for any text that is not five such fields, or never matches. */
export function crontab(expression: string, timezone = 'UTC'): Cron | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return undefined;
  const translated = FIELDS.map(({ alphabet, max }, index) => translate(fields[index] ?? '', { alphabet, max }));
  if (translated.includes(undefined)) return undefined;
  try {
    const cron = new Cron(translated.join(' '), { mode: '5-part', timezone, paused: true });
    return cron.nextRun(SINCE) === null ? undefined : cron;
  } catch {
    return undefined;
  }
}

function translate(text: string, { alphabet, max }: { alphabet: RegExp; max: number }): string | undefined {
  if (!alphabet.test(text)) return undefined;
  const items = text.replaceAll('?', '*').split(',');
  return items.map((item) => item.replace(/^(\d+)\/(\d+)$/, `$1-${max}/$2`)).join(',');
}
