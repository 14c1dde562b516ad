import { CATALOGUE } from './faults/catalogue.ts';
import type { Result } from './job.ts';
import { MOMENTS } from './moment-names.ts';
import { HOUR } from './units.ts';

/** What many runs came to together. */
export class Totals {
  runs = 0;
  failed = 0;
  virtualMs = 0;
  readonly faults = new Map<string, number>(CATALOGUE.map(({ name }) => [name, 0]));
  readonly moments = new Map<string, { seen: number; struck: number }>(
    Object.keys(MOMENTS).map((name) => [name, { seen: 0, struck: 0 }]),
  );

  add({ violations, virtualMs, faults, moments }: Result): void {
    this.runs += 1;
    if (violations.length > 0) this.failed += 1;
    this.virtualMs += virtualMs;
    for (const [name, count] of Object.entries(faults)) this.faults.set(name, (this.faults.get(name) ?? 0) + count);
    for (const [name, { seen, struck }] of Object.entries(moments)) {
      const sum = this.moments.get(name) ?? { seen: 0, struck: 0 };
      this.moments.set(name, { seen: sum.seen + seen, struck: sum.struck + struck });
    }
  }

  /** For people. The last line is the one that .ci/tally.mjs reads. */
  text(): string {
    const mark = (count: number): string => (count === 0 ? '  <- none' : '');
    return [
      'faults that began',
      ...[...this.faults].map(([name, count]) => `  ${name.padEnd(26)}${String(count).padStart(8)}${mark(count)}`),
      'moments                         seen    struck',
      ...[...this.moments].map(
        ([name, { seen, struck }]) =>
          `  ${name.padEnd(26)}${String(seen).padStart(8)}  ${String(struck).padStart(8)}${mark(struck)}`,
      ),
      `${(this.virtualMs / HOUR).toFixed(1)} virtual hours`,
      `${this.runs - this.failed} passed, ${this.failed} failed`,
      '',
    ].join('\n');
  }
}
