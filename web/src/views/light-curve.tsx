/** A light curve: magnitudes with their errors, limits as triangles, by Julian date or by the calendar. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Chart, color, type Data, type Line, type Plot } from "../chart";
import { Download } from "../download";
import { number } from "../format";
import { useGet } from "../hooks";
import { Choice, Empty, Shown, Table } from "../parts";
import { secondsOf } from "../sky";

interface Point {
  mjd: number;
  band: string;
  magnitude: number | null;
  magnitude_error: number | null;
  upper_limit: boolean;
  observer: string | null;
}

interface Photometry {
  items: Point[];
  matched: number;
  thinned: boolean;
}

const LIMIT = " (fainter than)";

const AXES = [
  ["mjd", "MJD"],
  ["jd", "JD"],
  ["date", "date (UTC)"],
] as const;

export function LightCurve({ path, name }: { path: string; name: string }): JSX.Element {
  const answer = useGet<Photometry>(`${path}/photometry`);
  return (
    <Shown of={answer}>
      {({ items, matched, thinned }) => {
        const measured = items.filter((one) => one.magnitude !== null);
        const [only] = measured;
        return only === undefined ? (
          <Empty>
            No photometry. Hand some in above, or with <code>sourcebook photometry ingest NOVA FILE</code>.
          </Empty>
        ) : (
          <>
            {measured.length === 1 ? (
              <p>
                <span class="figure">
                  {only.upper_limit ? "fainter than " : ""}
                  {number(only.magnitude, 2)} mag
                </span>{" "}
                {only.magnitude_error === null ? "" : `± ${number(only.magnitude_error, 2)} `}in {only.band} at MJD {only.mjd}. It is the
                only measurement.
              </p>
            ) : (
              <Magnitudes measured={measured} />
            )}
            <p class="buttons">
              <span class="soft">
                {number(matched)} measurements{thinned ? `, ${number(items.length)} of them drawn` : ""}. Take them as
              </span>
              <Download path={`${path}/photometry.csv`} name={`${name}.csv`}>
                CSV
              </Download>
              <Download path={`${path}/photometry.vot`} name={`${name}.vot`}>
                VOTable
              </Download>
              <Download path={`${path}/photometry.aavso`} name={`${name}.aavso.txt`}>
                AAVSO
              </Download>
            </p>
            <details>
              <summary>The same as a table</summary>
              <Table
                caption="Measurements by time"
                rows={measured.slice(0, 500).map((point, index) => ({ ...point, index }))}
                rowKey={(point) => String(point.index)}
                columns={[
                  { name: "MJD", of: (point) => String(point.mjd), right: true },
                  { name: "Date (UTC)", of: (point) => new Date(secondsOf(point.mjd) * 1000).toISOString().slice(0, 16).replace("T", " ") },
                  { name: "Band", of: (point) => point.band },
                  {
                    name: "Magnitude",
                    of: (point) =>
                      `${point.upper_limit ? "> " : ""}${number(point.magnitude, 2)}${point.magnitude_error === null ? "" : ` ± ${number(point.magnitude_error, 2)}`}`,
                    right: true,
                  },
                  { name: "Observer", of: (point) => point.observer ?? "–" },
                ]}
              />
            </details>
          </>
        );
      }}
    </Shown>
  );
}

function Magnitudes({ measured }: { measured: Point[] }): JSX.Element {
  const [axis, setAxis] = useState("mjd");
  const plot = useMemo((): Plot => {
    const sorted = [...measured].sort((a, b) => a.mjd - b.mjd);
    const groupOf = (one: Point): string => `${one.band}${one.upper_limit ? LIMIT : ""}`;
    const groups = [...new Set(sorted.map(groupOf))].sort();
    const bands = [...new Set(sorted.map((one) => one.band))].sort();
    const columns = groups.map((group) => sorted.map((one) => (groupOf(one) === group ? one.magnitude : null)));
    const x = (mjd: number): number => (axis === "mjd" ? mjd : axis === "jd" ? mjd + 2_400_000.5 : secondsOf(mjd));
    return {
      title: `Light curve, ${sorted.length} measurements in ${groups.join(", ")}`,
      data: [sorted.map((one) => x(one.mjd)), ...columns] as Data,
      lines: groups.map(
        (label): Line => ({
          label,
          color: color(bands.indexOf(label.replace(LIMIT, ""))),
          kind: label.endsWith(LIMIT) ? "limits" : "points",
          errors: sorted.map((one) => (one.upper_limit ? null : one.magnitude_error)),
        }),
      ),
      time: axis === "date",
      days: axis === "date",
      xLabel: axis === "date" ? "date (UTC)" : axis.toUpperCase(),
      yLabel: "magnitude",
      picker: true,
      inverted: true,
    };
  }, [measured, axis]);
  return (
    <>
      <div class="filters">
        <Choice label="Time as" value={axis} options={AXES} onChange={setAxis} />
      </div>
      <Chart plot={plot} />
      <p class="soft">Bars are the errors that observers gave; triangles are limits. Draw across to come closer, click twice to see all; a click on a band hides it.</p>
    </>
  );
}
