/** Charts by uPlot, in the page's colours, with what they show also in words. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { day } from "./format";

export type Data = uPlot.AlignedData;

export interface Line {
  label: string;
  color: string;
  /** `line`, `step`, `points`, `bars` */
  kind: "line" | "step" | "points" | "bars";
  scale?: string;
  digits?: number;
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
}

const DAY = 86_400;
const DAY_STEPS = [1, 2, 3, 7, 14, 30, 90, 180, 365, 730, 1825].map((days) => days * DAY);

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
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let chart = draw(element, plot);
    const again = (): void => {
      chart.destroy();
      chart = draw(element, plot);
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
  return <div class="chart" ref={place} role="img" aria-label={plot.title} />;
}

function written(value: number, largest: number): string {
  if (largest > 0 && (largest < 0.01 || largest >= 1e6)) return value === 0 ? "0" : value.toExponential(1);
  return value.toLocaleString(undefined, { maximumFractionDigits: 3 });
}

function draw(element: HTMLElement, plot: Plot): uPlot {
  const ink = css("--ink-soft");
  const grid = { stroke: css("--line"), width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: "12px system-ui, sans-serif" };
  const bars = uPlot.paths.bars?.({ size: [0.8, 40] });
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const options: uPlot.Options = {
    width: Math.max(element.clientWidth, 200),
    height: plot.height ?? 280,
    scales: {
      x: { time: plot.time },
      y: { dir: plot.inverted ? -1 : 1, ...(plot.range ? { range: plot.range } : {}) },
      ...(plot.rightScale
        ? { right: plot.rightScale.range ? { range: plot.rightScale.range } : {} }
        : {}),
    },
    ...(plot.days ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") } : {}),
    axes: [
      { ...axis, ...(plot.days ? { incrs: DAY_STEPS } : {}), ...(plot.xLabel ? { label: plot.xLabel, labelFont: "12px system-ui, sans-serif" } : {}) },
      {
        ...axis,
        size: 60,
        // Fluxes are tiny: without an exponent every mark would be a zero.
        values: (_: uPlot, marks: number[]) => marks.map((mark) => written(mark, Math.max(...marks.map(Math.abs)))),
        ...(plot.yLabel ? { label: plot.yLabel, labelFont: "12px system-ui, sans-serif" } : {}),
      },
      ...(plot.rightScale
        ? [{ ...axis, scale: "right", side: 1 as const, label: plot.rightScale.label, labelFont: "12px system-ui, sans-serif", grid: { show: false } }]
        : []),
    ],
    series: [
      plot.days
        ? { label: "Day (UTC)", value: (_: uPlot, seconds: number | null) => (seconds === null ? "–" : day(new Date(seconds * 1000).toISOString())) }
        : {},
      ...plot.lines.map((line): uPlot.Series => ({
        label: line.label,
        stroke: line.color,
        width: line.kind === "points" ? 0 : 1.5,
        scale: line.scale ?? "y",
        points: { show: line.kind === "points", size: 6, fill: line.color },
        ...(line.kind === "points" ? { paths: () => null } : {}),
        ...(line.kind === "bars" && bars ? { paths: bars, fill: line.color, points: { show: false } } : {}),
        ...(line.kind === "step" && stepped ? { paths: stepped } : {}),
        value: (_: uPlot, value: number | null) => (value === null ? "–" : Math.abs(value) > 0 && Math.abs(value) < 0.01 ? value.toExponential(2) : value.toFixed(line.digits ?? 2)),
      })),
    ],
    legend: { live: true },
    cursor: { drag: { x: true, y: false } },
  };
  return new uPlot(options, plot.data, element);
}
