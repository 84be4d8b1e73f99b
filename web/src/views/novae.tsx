/** Novae: found by name or place; names, light curve, spectra, and what ran for one. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { get } from "../api";
import { Chart, color, type Data, type Line, type Plot } from "../chart";
import { number } from "../format";
import { go, hashOf, useGet, useList, useLoad, type Place } from "../hooks";
import { Chip, Empty, Facts, Heading, Shown, Table, Time } from "../parts";
import { RunTable, type Run } from "./runs";

interface Nova {
  nova_id: string;
  primary_name: string;
  ra_deg: number | null;
  dec_deg: number | null;
  discovery_date: string | null;
  status: string;
  merged_into: string | null;
  object_type: string | null;
  separation_arcsec?: number;
}

interface Name {
  name: string;
  kind: string;
  source: string;
}

interface Product {
  data_product_id: string;
  product_type: string;
  provider: string | null;
  title: string | null;
  quarantine_id: string | null;
  terminal_reason: string | null;
  validation_status: string | null;
  acquisition_status: string | null;
  quarantine_reason_code: string | null;
  hints: Record<string, unknown> | null;
  fits_profile_id: string | null;
  updated_at: string;
}

interface Spectrum {
  orders: { order: number; wavelength_m: number[]; flux: (number | null)[] }[];
  flux_unit: string | null;
  medium: string | null;
  downsampled: boolean;
  samples: number;
}

interface Point {
  mjd: number;
  band: string;
  magnitude: number | null;
  magnitude_error: number | null;
  upper_limit: boolean;
}

interface Photometry {
  items: Point[];
  matched: number;
  table_rows: number;
  thinned: boolean;
}

const LIMIT = " (fainter than)";
const VALID: Record<string, string> = { VALID: "positive", QUARANTINED: "warn", TERMINAL_INVALID: "negative", UNVALIDATED: "plain" };

export function Novae({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Search place={place} /> : <One id={place.id} />;
}

function Search({ place }: { place: Place }): JSX.Element {
  const name = place.query.get("name") ?? "";
  const ra = place.query.get("ra") ?? "";
  const dec = place.query.get("dec") ?? "";
  const [typed, setTyped] = useState(name !== "" ? name : `${ra} ${dec}`.trim());
  const search = (event: Event): void => {
    event.preventDefault();
    const numbers = /^\s*(\d+(?:\.\d+)?)[\s,]+([+-]?\d+(?:\.\d+)?)\s*$/.exec(typed);
    go("novae", "", numbers === null ? { name: typed.trim() } : { ra: numbers[1] ?? "", dec: numbers[2] ?? "" });
  };
  return (
    <>
      <Heading title="Novae">By any name in any spelling, or by a place on the sky in degrees.</Heading>
      <form class="filters" role="search" onSubmit={search}>
        <label class="field wide">
          <span>Name, or right ascension and declination</span>
          <input value={typed} placeholder="V1324 Sco" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit">Find</button>
      </form>
      {name !== "" || ra !== "" ? <Found query={name !== "" ? { name } : { ra, dec, radius: 0.5 }} /> : <Lately />}
    </>
  );
}

function Found({ query }: { query: Record<string, string | number> }): JSX.Element {
  const answer = useGet<{ match?: string; items: Nova[] }>("/novae", query);
  return (
    <Shown of={answer}>
      {(found) =>
        found.items.length === 0 ? (
          <Empty>
            None is known. Make it one: <code>sourcebook nova initialize NAME</code>.
          </Empty>
        ) : (
          <>
            {found.match === "AMBIGUOUS" ? <p role="status">The name may mean any of these.</p> : null}
            <NovaTable novae={found.items} />
          </>
        )
      }
    </Shown>
  );
}

function NovaTable({ novae }: { novae: Nova[] }): JSX.Element {
  return (
    <Table
      caption="Novae"
      rows={novae}
      rowKey={(nova) => nova.nova_id}
      columns={[
        { name: "Nova", of: (nova) => <a href={hashOf("novae", nova.nova_id)}>{nova.primary_name}</a> },
        { name: "Discovered", of: (nova) => discovered(nova.discovery_date) },
        { name: "RA", of: (nova) => number(nova.ra_deg, 5), right: true },
        { name: "Dec", of: (nova) => number(nova.dec_deg, 5), right: true },
        ...(novae.some((nova) => nova.separation_arcsec !== undefined)
          ? [{ name: "Away", of: (nova: Nova) => `${number(nova.separation_arcsec, 1)}″`, right: true }]
          : []),
      ]}
    />
  );
}

/** A day 00 says that only the month is known. */
function discovered(date: string | null): string {
  return date === null ? "–" : date.replace(/-00$/, "");
}

function Lately(): JSX.Element {
  const runs = useList<Run>("/job-runs", { workflow: "initialize_nova", limit: 100 });
  return (
    <Shown of={runs}>
      {(all) => {
        const novae = [...new Map(all.filter((run) => run.nova_id !== null).map((run) => [run.nova_id, run])).values()];
        return novae.length === 0 ? (
          <Empty>
            None yet. Make a name one: <code>sourcebook nova initialize "V1324 Sco"</code>.
          </Empty>
        ) : (
          <>
            <h2>Lately made or met</h2>
            <ul class="chips">
              {novae.map((run) => (
                <li key={run.nova_id}>
                  <a class="chip plain" href={hashOf("novae", run.nova_id ?? "")}>
                    {run.subject ?? run.nova_id}
                  </a>
                </li>
              ))}
            </ul>
          </>
        );
      }}
    </Shown>
  );
}

function One({ id }: { id: string }): JSX.Element {
  const path = `/novae/${encodeURIComponent(id)}`;
  const answer = useGet<Nova & { names: Name[] }>(path);
  const products = useGet<{ items: Product[] }>(`${path}/products`, { product_type: "SPECTRA", limit: 100 });
  const runs = useGet<{ items: Run[] }>(`${path}/job-runs`);
  return (
    <Shown of={answer} heading="Nova">
      {(nova) => (
        <>
          <Heading title={nova.primary_name}>
            {nova.merged_into ? <a href={hashOf("novae", nova.merged_into)}>This is another nova.</a> : null}
          </Heading>
          <Facts
            of={[
              ["Discovered", discovered(nova.discovery_date)],
              ["Place", nova.ra_deg === null ? "–" : `${number(nova.ra_deg, 5)}°, ${number(nova.dec_deg, 5)}° (ICRS)`],
              ["Status", nova.status.toLowerCase()],
              ["Names", nova.names.map((name) => `${name.name} (${name.source})`).join(", ")],
            ]}
          />
          <h2>Light curve</h2>
          <LightCurve path={path} />
          <h2>Spectra</h2>
          <Shown of={products}>
            {({ items }) =>
              items.length === 0 ? (
                <Empty>None is known.</Empty>
              ) : (
                items.map((one) => <SpectrumCard key={one.data_product_id} path={path} one={one} />)
              )
            }
          </Shown>
          <h2>What ran</h2>
          <Shown of={runs}>{({ items }) => (items.length === 0 ? <Empty>Nothing.</Empty> : <RunTable runs={items} />)}</Shown>
        </>
      )}
    </Shown>
  );
}

function LightCurve({ path }: { path: string }): JSX.Element {
  const answer = useGet<Photometry>(`${path}/photometry`);
  return (
    <Shown of={answer}>
      {({ items, matched, thinned }) => {
        const measured = items.filter((one) => one.magnitude !== null);
        return measured.length === 0 ? (
          <Empty>
            No photometry. Bring some: <code>sourcebook photometry ingest NOVA FILE</code>.
          </Empty>
        ) : (
          <>
            <Magnitudes measured={measured} />
            <p class="soft">
              {number(matched)} measurements{thinned ? `, ${number(items.length)} of them drawn` : ""}
            </p>
          </>
        );
      }}
    </Shown>
  );
}

function Magnitudes({ measured }: { measured: Point[] }): JSX.Element {
  const plot = useMemo((): Plot => {
    const sorted = [...measured].sort((a, b) => a.mjd - b.mjd);
    const groups = [...new Set(sorted.map((one) => `${one.band}${one.upper_limit ? LIMIT : ""}`))].sort();
    const bands = [...new Set(sorted.map((one) => one.band))].sort();
    const columns = groups.map((group) =>
      sorted.map((one) => (`${one.band}${one.upper_limit ? LIMIT : ""}` === group ? one.magnitude : null)),
    );
    return {
      title: `Light curve, ${sorted.length} measurements in ${groups.join(", ")}`,
      data: [sorted.map((one) => one.mjd), ...columns] as Data,
      // A limit has its band's colour, pale.
      lines: groups.map((label): Line => {
        const band = color(bands.indexOf(label.replace(LIMIT, "")));
        return { label, color: label.endsWith(LIMIT) ? `${band}66` : band, kind: "points" };
      }),
      time: false,
      xLabel: "MJD",
      yLabel: "magnitude",
      inverted: true,
    };
  }, [measured]);
  return <Chart plot={plot} />;
}

function SpectrumCard({ path, one }: { path: string; one: Product }): JSX.Element {
  const status = one.validation_status ?? "UNVALIDATED";
  return (
    <section class="card" aria-label={`Spectrum from ${one.provider ?? "unknown"}`}>
      <p>
        <Chip kind={VALID[status] ?? "plain"}>{status.toLowerCase().replaceAll("_", " ")}</Chip> {one.provider}{" "}
        {one.fits_profile_id ? <span class="soft">{one.fits_profile_id}</span> : null}{" "}
        {one.title ? <span class="soft">{one.title}</span> : null}{" "}
        {one.quarantine_reason_code ? (
          <a href={one.quarantine_id ? hashOf("quarantine", one.quarantine_id) : hashOf("quarantine")}>
            {one.quarantine_reason_code.toLowerCase().replaceAll("_", " ")}: decide
          </a>
        ) : null}
        {one.terminal_reason ? <span class="soft">{one.terminal_reason.toLowerCase().replaceAll("_", " ")}</span> : null}{" "}
        <span class="soft">
          <Time at={one.updated_at} />
        </span>
      </p>
      {status === "VALID" ? <SpectrumPlot path={`${path}/products/${encodeURIComponent(one.data_product_id)}/spectrum`} /> : null}
    </section>
  );
}

function SpectrumPlot({ path }: { path: string }): JSX.Element {
  const answer = useLoad((signal) => get<Spectrum>(path, { points: 1500 }, signal), [path]);
  return <Shown of={answer}>{(spectrum) => <Flux spectrum={spectrum} />}</Shown>;
}

function Flux({ spectrum }: { spectrum: Spectrum }): JSX.Element {
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
      lines: spectrum.orders.map((order, index): Line => ({
        label: spectrum.orders.length === 1 ? "flux" : `order ${order.order}`,
        color: color(index),
        kind: "line",
        digits: 4,
      })),
      time: false,
      xLabel: "wavelength (nm)",
      yLabel: spectrum.flux_unit ?? "flux",
    };
  }, [spectrum]);
  return <Chart plot={plot} />;
}
