/** Several spectra in one chart, each divided by its own median so that their forms can be compared. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { get } from "../api";
import { Chart, color, type Data, type Plot } from "../chart";
import { useLoad } from "../hooks";
import { LINES } from "../lines";
import { Choice, Opened, Shown } from "../parts";
import type { Samples } from "./spectrum";

interface Named {
  id: string;
  name: string;
}

/** As many as there are colours that one can tell apart. */
const MOST = 6;

export function Overlay({ path, spectra }: { path: string; spectra: readonly Named[] }): JSX.Element | null {
  return spectra.length < 2 ? null : (
    <Opened summary={`Compare ${spectra.length} spectra in one chart`}>
      <Several path={path} spectra={spectra} />
    </Opened>
  );
}

function Several({ path, spectra }: { path: string; spectra: readonly Named[] }): JSX.Element {
  const [chosen, setChosen] = useState<readonly string[]>(() => spectra.slice(0, 3).map((one) => one.id));
  const [lines, setLines] = useState("");
  const known = spectra.filter((one) => chosen.includes(one.id));
  const answer = useLoad(
    (signal) => Promise.all(known.map((one) => get<Samples>(`${path}/products/${encodeURIComponent(one.id)}/spectrum`, { points: 800 }, signal))),
    [path, chosen.join()],
  );
  const toggle = (id: string): void =>
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-MOST));
  return (
    <>
      <fieldset>
        <legend>Spectra, {MOST} at most</legend>
        {spectra.map((one) => (
          <label key={one.id}>
            <input type="checkbox" checked={chosen.includes(one.id)} onChange={() => toggle(one.id)} /> {one.name}
          </label>
        ))}
      </fieldset>
      <div class="filters">
        <Choice
          label="Lines to compare with, in air"
          value={lines}
          options={[["", "none"], ...LINES.map(([name]) => [name, name] as const)]}
          onChange={setLines}
        />
      </div>
      <Shown of={answer}>{(all) => (all.length === known.length ? <Drawn all={all} names={known.map((one) => one.name)} lines={lines} /> : null)}</Shown>
    </>
  );
}

function Drawn({ all, names, lines }: { all: Samples[]; names: string[]; lines: string }): JSX.Element {
  const plot = useMemo((): Plot => {
    const rows = all.flatMap((spectrum, index) => {
      const scale = median(spectrum.orders.flatMap((order) => order.flux.filter((flux) => flux !== null)));
      return spectrum.orders.flatMap((order) =>
        order.wavelength_m.map((wavelength, i) => {
          const flux = order.flux[i] ?? null;
          return { x: wavelength * 1e9, index, y: flux === null ? null : flux / scale };
        }),
      );
    });
    rows.sort((a, b) => a.x - b.x);
    return {
      title: `${all.length} ${all.length === 1 ? "spectrum" : "spectra"} in one chart: ${names.join("; ")}`,
      data: [rows.map((row) => row.x), ...all.map((_, index) => rows.map((row) => (row.index === index ? row.y : undefined)))] as Data,
      lines: names.map((label, index) => ({ label, color: color(index), kind: "line" as const, digits: 3 })),
      time: false,
      xLabel: "wavelength (nm)",
      yLabel: "flux ÷ its median",
      marks: LINES.find(([name]) => name === lines)?.[1] ?? [],
      picker: true,
    };
  }, [all, lines]);
  return <Chart plot={plot} />;
}

/** The middle of what is there; 1 where it would be nothing to divide by. */
function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] || 1;
}
