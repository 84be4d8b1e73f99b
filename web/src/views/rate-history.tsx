/** How rates went: one bank with the source that won each day, or several banks beside one another. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { get, type Page } from "../api";
import { Chart, color, type Data, type Plot } from "../chart";
import { day, number } from "../format";
import { hashOf, useLoad } from "../hooks";
import { Day, Empty, Shown, Table, type Column } from "../parts";

interface Point {
  observed_day: string;
  rate_pct: number | null;
  source_id: string;
}

interface Past {
  bank: string;
  points: Point[];
}

function seconds(date: string): number {
  return new Date(`${date}T00:00:00Z`).getTime() / 1000;
}

async function past(bank: string, code: string, term: string, signal: AbortSignal): Promise<Past> {
  const points: Point[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Point> = await get("/history", { bank_name: bank, series_code: code, term_months: term, cursor }, signal);
    points.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return { bank, points };
}

export function History({ banks, code, term, others }: { banks: string[]; code: string; term: string; others: string[] }): JSX.Element {
  const answer = useLoad(
    (signal) => Promise.all(banks.map((bank) => past(bank, code, term, signal))),
    [banks.join("|"), code, term],
  );
  const at = (chosen: string[]): string => hashOf("rates", "", { series: code, bank: chosen.join("|"), term });
  return (
    <section aria-label={`History of ${banks.join(", ")} ${term}`}>
      <h2>
        {banks.join(", ")} {term}
      </h2>
      <p class="chips">
        {banks.length === 1
          ? null
          : banks.map((bank) => (
              <a key={bank} class="chip plain" href={at(banks.filter((one) => one !== bank))} aria-label={`${bank} × take away`}>
                {bank} <span aria-hidden="true">×</span>
              </a>
            ))}
        {others.slice(0, 30).map((bank) => (
          <a key={bank} class="chip plain" href={at([...banks, bank])}>
            + {bank}
          </a>
        ))}
      </p>
      <Shown of={answer}>
        {(all) => {
          const [only] = all;
          if (all.every((one) => one.points.length === 0) || only === undefined) return <Empty>No figure of this is known.</Empty>;
          return all.length === 1 ? <Course points={only.points} bank={only.bank} /> : <Together all={all} />;
        }}
      </Shown>
    </section>
  );
}

function Course({ points, bank }: { points: Point[]; bank: string }): JSX.Element {
  const sources = [...new Set(points.map((point) => point.source_id))].sort();
  const plot = useMemo(
    (): Plot => ({
      title: `Rates of ${bank}, ${points.length} days, from ${points[0]?.observed_day ?? ""}`,
      data: [
        points.map((point) => seconds(point.observed_day)),
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
      picker: true,
    }),
    [points],
  );
  const [only] = points;
  if (points.length === 1 && only !== undefined) {
    return (
      <p>
        <span class="figure">{number(only.rate_pct, 2)} %</span> on <Day of={only.observed_day} />, from {only.source_id}. It is the only
        day that is known.
      </p>
    );
  }
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

function Together({ all }: { all: Past[] }): JSX.Element {
  const days = useMemo(() => [...new Set(all.flatMap((one) => one.points.map((point) => point.observed_day)))].sort(), [all]);
  const rates = useMemo(
    () => all.map((one) => new Map(one.points.map((point) => [point.observed_day, point.rate_pct] as const))),
    [all],
  );
  const plot = useMemo(
    (): Plot => ({
      title: `Rates of ${all.map((one) => one.bank).join(", ")}, ${days.length} days, from ${day(days[0] ?? "")}`,
      data: [days.map(seconds), ...rates.map((known) => days.map((date) => known.get(date) ?? null))] as Data,
      lines: all.map((one, index) => ({ label: one.bank, color: color(index), kind: "step" as const })),
      time: true,
      days: true,
      yLabel: "percent a year",
      picker: true,
    }),
    [all],
  );
  const columns: Column<string>[] = [
    { name: "Day", of: (date) => <Day of={date} /> },
    ...all.map((one, index) => ({ name: one.bank, of: (date: string) => number(rates[index]?.get(date), 2), right: true })),
  ];
  return (
    <>
      <Chart plot={plot} />
      <details>
        <summary>The same as a table</summary>
        <Table caption="Rates of several banks by day" rows={[...days].reverse()} rowKey={(date) => date} columns={columns} />
      </details>
    </>
  );
}
