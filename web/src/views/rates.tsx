/** Rates: the figure that counts of each bank, and how it went, with the source that won each day. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Chart, color, type Plot } from "../chart";
import { number } from "../format";
import { go, hashOf, useGet, useLoad, type Place } from "../hooks";
import { get, type Page } from "../api";
import { Chip, Choice, Day, Empty, Heading, Shown, Table, Time } from "../parts";

interface Considered {
  source_id: string;
  rate_pct: number | null;
  observed_day: string;
  stale: boolean;
}

interface Row {
  bank_name: string;
  series_code: string;
  term_months: number | null;
  term: string | null;
  rate_pct: number | null;
  rate_min_pct: number | null;
  rate_max_pct: number | null;
  raw_value: string;
  observed_day: string;
  scraped_at: string;
  source_id: string;
  stale: boolean;
  decided_by: string;
  sources_considered: Considered[];
}

interface Point {
  observed_day: string;
  rate_pct: number | null;
  source_id: string;
}

interface Series {
  series_code: string;
  kind: string;
  name: string;
}

const DECIDED: Record<string, string> = {
  only_source: "the only source",
  freshness: "the others are stale",
  priority: "by priority",
  scraped_at: "seen later",
  sequence: "written later",
};

export function Rates({ place }: { place: Place }): JSX.Element {
  const known = useGet<Page<Series>>("/series");
  return (
    <>
      <Heading title="Rates">The figure that counts of each bank and term. Every source's own figure is kept.</Heading>
      <Shown of={known}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              No figures yet. Declare sources with <code>sourcebook sources add FILE</code>.
            </Empty>
          ) : (
            <Latest place={place} series={items} />
          )
        }
      </Shown>
    </>
  );
}

function Latest({ place, series }: { place: Place; series: Series[] }): JSX.Element {
  const code = place.query.get("series") ?? series[0]?.series_code ?? "";
  const term = place.query.get("term") ?? "";
  const bank = place.query.get("bank") ?? "";
  const latest = useGet<Page<Row>>("/latest", { series_code: code });
  return (
    <>
      <div class="filters">
        <Choice
          label="Series"
          value={code}
          options={series.map((one) => [one.series_code, one.name] as const)}
          onChange={(value) => go("rates", "", { series: value })}
        />
      </div>
      {bank === "" ? null : <History bank={bank} code={code} term={term} />}
      <Shown of={latest}>
        {({ items }) => (
          <Table
            caption="The newest figure of each bank and term"
            rows={items}
            rowKey={(row) => `${row.bank_name} ${row.term ?? ""}`}
            columns={[
              {
                name: "Bank",
                of: (row) => (
                  <a href={hashOf("rates", "", { series: code, bank: row.bank_name, term: row.term ?? "" })}>{row.bank_name}</a>
                ),
              },
              { name: "Term", of: (row) => row.term ?? "–" },
              { name: "Percent", of: (row) => <Figure row={row} />, right: true },
              { name: "Day", of: (row) => <Day of={row.observed_day} /> },
              {
                name: "Source",
                of: (row) => (
                  <>
                    {row.source_id}, {DECIDED[row.decided_by] ?? row.decided_by}{" "}
                    {row.stale ? <Chip kind="warn">stale</Chip> : null}
                  </>
                ),
              },
              {
                name: "Others say",
                of: (row) =>
                  row.sources_considered
                    .filter((source) => source.source_id !== row.source_id)
                    .map((source) => `${source.source_id}: ${number(source.rate_pct, 2)}${source.stale ? " (stale)" : ""}`)
                    .join(", ") || "–",
              },
              { name: "Seen", of: (row) => <Time at={row.scraped_at} /> },
            ]}
          />
        )}
      </Shown>
    </>
  );
}

function Figure({ row }: { row: Row }): JSX.Element {
  const span =
    row.rate_min_pct !== null && row.rate_max_pct !== null && row.rate_min_pct !== row.rate_max_pct
      ? `${number(row.rate_min_pct, 2)} – ${number(row.rate_max_pct, 2)}`
      : number(row.rate_pct, 2);
  return <span title={`as written: ${row.raw_value}`}>{span}</span>;
}

function History({ bank, code, term }: { bank: string; code: string; term: string }): JSX.Element {
  const answer = useLoad(async (signal) => {
    const points: Point[] = [];
    let cursor: string | null = null;
    do {
      const query = { bank_name: bank, series_code: code, term_months: term, cursor };
      const page: Page<Point> = await get("/history", query, signal);
      points.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return points;
  }, [bank, code, term]);
  return (
    <section aria-label={`History of ${bank} ${term}`}>
      <h2>
        {bank} {term}
      </h2>
      <Shown of={answer}>
        {(points) => (points.length === 0 ? <Empty>No figure of this is known.</Empty> : <Course points={points} bank={bank} />)}
      </Shown>
    </section>
  );
}

function Course({ points, bank }: { points: Point[]; bank: string }): JSX.Element {
  const sources = [...new Set(points.map((point) => point.source_id))].sort();
  const plot = useMemo((): Plot => {
    const x = points.map((point) => new Date(`${point.observed_day}T00:00:00Z`).getTime() / 1000);
    return {
      title: `Rates of ${bank}, ${points.length} days, from ${points[0]?.observed_day ?? ""}`,
      data: [
        x,
        points.map((point) => point.rate_pct),
        ...sources.map((source) => points.map((point) => (point.source_id === source ? point.rate_pct : null))),
      ],
      lines: [
        { label: "the figure that counts", color: color(0), kind: "step" },
        ...sources.map((source, index) => ({ label: `from ${source}`, color: color(index + 1), kind: "points" as const })),
      ],
      time: true,
      days: true,
      yLabel: "percent a year",
    };
  }, [points]);
  return (
    <>
      <Chart plot={plot} />
      <details>
        <summary>The same as a table</summary>
        <Table
          caption={`Rates of ${bank} by day`}
          rows={[...points].reverse()}
          rowKey={(point) => point.observed_day}
          columns={[
            { name: "Day", of: (point) => <Day of={point.observed_day} /> },
            { name: "Percent", of: (point) => number(point.rate_pct, 2), right: true },
            { name: "Won by", of: (point) => point.source_id },
          ]}
        />
      </details>
    </>
  );
}
