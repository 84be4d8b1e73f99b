/** Charts by uPlot, in the page's colours, with what they show also in words. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { day } from "./format";

export type Data = uPlot.AlignedData;

export interface Line {
  label: string;
  color: string;
  /** `limits` are triangles that point to where the truth lies. */
  kind: "line" | "step" | "points" | "bars" | "limits";
  scale?: string;
  digits?: number;
  /** How far each value may be off, one for each x; drawn as bars. */
  errors?: readonly (number | null)[];
}

export interface Mark {
  at: number;
  label: string;
}

export interface Plot {
  /** What the chart shows, for those who do not see it. */
  title: string;
  data: Data;
  lines: readonly Line[];
  /** Whether x is a time in seconds; else it is a number with this unit. */
  time: boolean;
  /** Whether each x is the beginning of a day in UTC: then days are written, in no viewer's zone. */
  days?: boolean;
  xLabel?: string;
  yLabel?: string;
  /** Astronomers' magnitudes grow downwards. */
  inverted?: boolean;
  range?: [number, number];
  rightScale?: { label: string; range?: [number, number] };
  height?: number;
  /** Places on x that have a name, such as the lines of an element. */
  marks?: readonly Mark[];
  /** Whether a part of x can be typed in, besides drawn. */
  picker?: boolean;
}

const DAY = 86_400;
const DAY_STEPS = [1, 2, 3, 7, 14, 30, 90, 180, 365, 730, 1825].map((days) => days * DAY);
const FONT = "12px system-ui, sans-serif";

const COLORS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"];

/** The colour of the n-th series, as the style sheet has it in light and in dark. */
export function color(index: number): string {
  return css(COLORS[index % COLORS.length] ?? "--c1");
}

export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function Chart({ plot }: { plot: Plot }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const [shown, setShown] = useState<{ plot: Plot; range: Range } | null>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const shows = (range: Range): void => setShown({ plot, range });
    let chart = (drawn.current = draw(element, plot, shows));
    const again = (): void => {
      chart.destroy();
      chart = drawn.current = draw(element, plot, shows);
    };
    const sized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: plot.height ?? 280 }));
    sized.observe(element);
    addEventListener("themechange", again);
    return () => {
      sized.disconnect();
      removeEventListener("themechange", again);
      chart.destroy();
    };
  }, [plot]);
  return (
    <>
      <div class="chart" ref={place} role="img" aria-label={plot.title} />
      {plot.picker && shown?.plot === plot ? (
        <Picker
          key={`${shown.range.min} ${shown.range.max}`}
          plot={plot}
          range={shown.range}
          pick={({ min, max }) => drawn.current?.setScale("x", { min, max })}
          whole={() => drawn.current?.setData(plot.data)}
        />
      ) : null}
    </>
  );
}

interface Range {
  min: number;
  max: number;
}

/** The part of x that is shown, in two fields: what is drawn with a mouse can be typed, and be known exactly. */
function Picker({ plot, range, pick, whole }: { plot: Plot; range: Range; pick: (range: Range) => void; whole: () => void }): JSX.Element {
  const written = (value: number): string => (plot.time ? new Date(value * 1000).toISOString().slice(0, 10) : String(Math.round(value * 1000) / 1000));
  const read = (text: string): number => (plot.time ? new Date(`${text}T00:00:00Z`).getTime() / 1000 : Number(text));
  const [from, setFrom] = useState(() => written(range.min));
  const [to, setTo] = useState(() => written(range.max));
  const field = (label: string, value: string, set: (value: string) => void): JSX.Element => (
    <label class="field">
      <span>{label}</span>
      <input type={plot.time ? "date" : "number"} step="any" required value={value} onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const [a, b] = [read(from), read(to)];
        if (Number.isFinite(a) && Number.isFinite(b) && a !== b) pick({ min: Math.min(a, b), max: Math.max(a, b) });
      }}
    >
      {/* A group, and not a landmark: there may be several charts in a view. */}
      <div class="filters" role="group" aria-label="Part that is shown">
        {field("From", from, setFrom)}
        {field("To", to, setTo)}
        <button type="submit">Show</button>
        <button type="button" onClick={whole}>
          All
        </button>
      </div>
    </form>
  );
}

/** Figures as people write them; an exponent only where every mark would else be a zero or very long. */
function written(value: number, largest: number): string {
  if (largest > 0 && (largest < 0.001 || largest >= 1e7)) return value === 0 ? "0" : value.toExponential(1);
  return value.toLocaleString(undefined, { maximumFractionDigits: 4, useGrouping: largest >= 1e6 });
}

/** Marks of a calendar as the viewer's language writes them, each with what the one before does not say. */
function calendar(marks: number[], days: boolean): string[] {
  const span = (marks[marks.length - 1] ?? 0) - (marks[0] ?? 0);
  const zone: Intl.DateTimeFormatOptions = days ? { timeZone: "UTC" } : {};
  const date = new Intl.DateTimeFormat(undefined, { ...zone, day: "numeric", month: "short" });
  const month = new Intl.DateTimeFormat(undefined, { ...zone, month: "short", year: "numeric" });
  const hour = new Intl.DateTimeFormat(undefined, { ...zone, hour: "2-digit", minute: "2-digit" });
  let before = "";
  return marks.map((mark) => {
    const moment = new Date(mark * 1000);
    if (span > 300 * DAY) return month.format(moment);
    const today = date.format(moment);
    const label = days || span > 3 * DAY ? today : today === before ? hour.format(moment) : `${hour.format(moment)}\n${today}`;
    before = today;
    return label;
  });
}

/** The range of y in which the values that are shown have room, with their errors. */
function withErrors(chart: uPlot, plot: Plot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [null, null];
  let [least, most] = [low, high];
  const [first, last] = chart.series[0]?.idxs ?? [0, -1];
  plot.lines.forEach((line, index) => {
    if (line.errors === undefined || chart.series[index + 1]?.show === false) return;
    for (let i = first; i <= last; i += 1) {
      const [value, error] = [plot.data[index + 1]?.[i] ?? null, line.errors[i] ?? null];
      if (value === null || error === null) continue;
      least = Math.min(least, value - error);
      most = Math.max(most, value + error);
    }
  });
  return uPlot.rangeNum(least, most, 0.1, true);
}

function draw(element: HTMLElement, plot: Plot, shows: (range: Range) => void): uPlot {
  const ink = css("--ink-soft");
  const grid = { stroke: css("--line"), width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: FONT };
  const bars = uPlot.paths.bars?.({ size: [0.8, 40] });
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const values = (_: uPlot, marks: number[]): string[] =>
    marks.map((mark) => written(mark, Math.max(...marks.map(Math.abs))));
  const options: uPlot.Options = {
    width: Math.max(element.clientWidth, 200),
    height: plot.height ?? 280,
    scales: {
      x: { time: plot.time },
      y: { dir: plot.inverted ? -1 : 1, range: plot.range ?? ((chart, low, high) => withErrors(chart, plot, low, high)) },
      ...(plot.rightScale ? { right: plot.rightScale.range ? { range: plot.rightScale.range } : {} } : {}),
    },
    ...(plot.days ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") } : {}),
    axes: [
      {
        ...axis,
        ...(plot.days ? { incrs: DAY_STEPS } : {}),
        values: plot.time ? (_: uPlot, marks: number[]) => calendar(marks, plot.days === true) : values,
        ...(plot.xLabel ? { label: plot.xLabel, labelFont: FONT } : {}),
      },
      { ...axis, size: 68, values, ...(plot.yLabel ? { label: plot.yLabel, labelFont: FONT } : {}) },
      ...(plot.rightScale
        ? [{ ...axis, scale: "right", side: 1 as const, label: plot.rightScale.label, labelFont: FONT, grid: { show: false } }]
        : []),
    ],
    series: [
      plot.days
        ? { label: "Day (UTC)", value: (_: uPlot, seconds: number | null) => (seconds === null ? "–" : day(new Date(seconds * 1000).toISOString())) }
        : plot.time
          ? {}
          : { label: plot.xLabel ?? "", value: (_: uPlot, x: number | null) => (x === null ? "–" : String(Math.round(x * 1000) / 1000)) },
      ...plot.lines.map((line): uPlot.Series => ({
        label: line.label,
        stroke: line.color,
        width: line.kind === "points" || line.kind === "limits" ? 0 : 1.5,
        scale: line.scale ?? "y",
        points: { show: line.kind === "points", size: 6, fill: line.color },
        ...(line.kind === "points" || line.kind === "limits" ? { paths: () => null } : {}),
        ...(line.kind === "bars" && bars ? { paths: bars, fill: line.color, points: { show: false } } : {}),
        ...(line.kind === "step" && stepped ? { paths: stepped } : {}),
        value: (_: uPlot, value: number | null) => (value === null ? "–" : Math.abs(value) > 0 && Math.abs(value) < 0.01 ? value.toExponential(2) : value.toFixed(line.digits ?? 2)),
      })),
    ],
    hooks: {
      draw: [(chart) => overlay(chart, plot, ink)],
      setScale: [
        (chart, name) => {
          const { min, max } = chart.scales["x"] ?? {};
          if (name === "x" && typeof min === "number" && typeof max === "number") shows({ min, max });
        },
      ],
    },
    legend: { live: true },
    cursor: { drag: { x: true, y: false } },
  };
  return new uPlot(options, plot.data, element);
}

/** What uPlot does not draw itself: error bars, limits, and the names of places. */
function overlay(chart: uPlot, plot: Plot, ink: string): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio || 1;
  const xs = plot.data[0];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = ratio;
  plot.lines.forEach((line, index) => {
    if (chart.series[index + 1]?.show === false) return;
    const ys = plot.data[index + 1] ?? [];
    ctx.strokeStyle = ctx.fillStyle = line.color;
    for (let i = 0; i < xs.length; i += 1) {
      const y = ys[i];
      const x = xs[i];
      if (y === null || y === undefined || x === undefined) continue;
      const left = chart.valToPos(x, "x", true);
      const error = line.errors?.[i] ?? null;
      if (error !== null) {
        ctx.beginPath();
        ctx.moveTo(left, chart.valToPos(y - error, line.scale ?? "y", true));
        ctx.lineTo(left, chart.valToPos(y + error, line.scale ?? "y", true));
        ctx.stroke();
      }
      if (line.kind === "limits") triangle(ctx, left, chart.valToPos(y, line.scale ?? "y", true), 5 * ratio);
    }
  });
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  let row = 0;
  for (const mark of plot.marks ?? []) {
    const left = chart.valToPos(mark.at, "x", true);
    if (left < bbox.left || left > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(mark.label, left + 3 * ratio, bbox.top + (12 + 12 * (row % 3)) * ratio);
    row += 1;
  }
  ctx.restore();
}

/** Fainter than this: a triangle that points down. */
function triangle(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.beginPath();
  ctx.moveTo(x - size, y);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + 1.6 * size);
  ctx.closePath();
  ctx.fill();
}
