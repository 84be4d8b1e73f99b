/** The samples of a valid spectrum, with the lines of elements to compare with, to take away. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { get } from "../api";
import { Chart, color, type Data, type Line, type Plot } from "../chart";
import { Download } from "../download";
import { number } from "../format";
import { useLoad } from "../hooks";
import { LINES } from "../lines";
import { Choice, Shown } from "../parts";

export interface Samples {
  orders: { order: number; wavelength_m: number[]; flux: (number | null)[] }[];
  flux_unit: string | null;
  object: string | null;
  medium: string | null;
  samples: number;
  downsampled: boolean;
}

export function Spectrum({ path }: { path: string }): JSX.Element {
  const answer = useLoad((signal) => get<Samples>(`${path}/spectrum`, { points: 1500 }, signal), [path]);
  const about = useLoad((signal) => get<{ verdict: Record<string, unknown> | null }>(path, {}, signal), [path]);
  const verdict = about.value?.verdict ?? {};
  const facts = ["observed_at_iso", "instrument", "frame"].map((name) => verdict[name]).filter((value) => typeof value === "string");
  return (
    <Shown of={answer}>
      {(spectrum) => (
        <>
          <p class="soft">
            {[spectrum.object, ...facts, spectrum.medium === null ? null : `in ${spectrum.medium}`].filter((one) => one !== null).join(" · ")}
          </p>
          <Flux spectrum={spectrum} />
          <p class="buttons">
            <span class="soft">
              {number(spectrum.samples)} samples{spectrum.downsampled ? ", fewer are drawn" : ""}. Take them as
            </span>
            <Download path={`${path}/spectrum.csv`} name="spectrum.csv">
              CSV
            </Download>
          </p>
        </>
      )}
    </Shown>
  );
}

function Flux({ spectrum }: { spectrum: Samples }): JSX.Element {
  const [lines, setLines] = useState("");
  const plot = useMemo((): Plot => {
    // One x axis for all orders: each order has values only where it is.
    const rows = spectrum.orders.flatMap((order, index) =>
      order.wavelength_m.map((wavelength, i) => ({ x: wavelength * 1e9, index, y: order.flux[i] ?? null })),
    );
    rows.sort((a, b) => a.x - b.x);
    const columns = spectrum.orders.map((_, index) => rows.map((row) => (row.index === index ? row.y : undefined)));
    const first = rows[0]?.x ?? 0;
    const last = rows[rows.length - 1]?.x ?? 0;
    return {
      title: `Spectrum from ${number(first, 1)} to ${number(last, 1)} nanometres`,
      data: [rows.map((row) => row.x), ...columns] as Data,
      lines: spectrum.orders.map(
        (order, index): Line => ({
          label: spectrum.orders.length === 1 ? "flux" : `order ${order.order}`,
          color: color(index),
          kind: "line",
          digits: 4,
        }),
      ),
      time: false,
      picker: true,
      xLabel: "wavelength (nm)",
      yLabel: spectrum.flux_unit ?? "flux",
      marks: LINES.find(([name]) => name === lines)?.[1] ?? [],
    };
  }, [spectrum, lines]);
  return (
    <>
      <div class="filters">
        <Choice
          label="Lines to compare with, in air"
          value={lines}
          options={[["", "none"], ...LINES.map(([name]) => [name, name] as const)]}
          onChange={setLines}
        />
      </div>
      <Chart plot={plot} />
    </>
  );
}
