/** Times and numbers as people read them. */

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
/** A day of the record is a day in UTC: in the viewer's own zone it would often be the one before. */
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const A_DAY = /^\d{4}-\d{2}-\d{2}$/;
const BEGINNING_OF_A_DAY = /T00:00(:00(\.0+)?)?Z$/;
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const STEPS: readonly [number, Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [30, "day"],
  [12, "month"],
  [Infinity, "year"],
];

export function moment(iso: string | null | undefined): string {
  if (!iso) return "–";
  if (A_DAY.test(iso)) return day(iso);
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : DATE.format(time);
}

/** A day in UTC, by its date or by the moment at which it begins: "Nov 26, 2026". */
export function day(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : DAY.format(time);
}

/** When something was published. Midnight in UTC, to the second, is what a source means that gives only a day. */
export function published(iso: string | null | undefined): string {
  return iso && BEGINNING_OF_A_DAY.test(iso) ? day(iso) : moment(iso);
}

/** "3 min. ago", "in 12 min." */
export function relative(iso: string | null | undefined, now = Date.now()): string {
  if (!iso) return "–";
  if (iso.startsWith("9999")) return "never";
  let left = (new Date(iso).getTime() - now) / 1000;
  if (Number.isNaN(left)) return iso;
  for (const [size, unit] of STEPS) {
    if (Math.abs(left) < size) return RELATIVE.format(Math.round(left), unit);
    left /= size;
  }
  return moment(iso);
}

export function number(value: number | null | undefined, digits = 0): string {
  return value === null || value === undefined
    ? "–"
    : value.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return "–";
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** An address to link to, or null for one that is none: a feed must not put a script behind a link. */
export function safeLink(url: string | null | undefined): string | null {
  if (!url) return null;
  try {
    const parsed = new URL(url);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null;
  }
}
