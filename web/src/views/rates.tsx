/** Rates: every bank and term side by side, the best of each marked, and how they went. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Download } from "../download";
import { day, number } from "../format";
import { go, hashOf, useGet, type Place } from "../hooks";
import type { Page } from "../api";
import { Chip, Choice, Day, Empty, Heading, Shown, Table, Time } from "../parts";
import { History } from "./rate-history";

interface Considered {
  source_id: string;
  rate_pct: number | null;
  observed_day: string;
  stale: boolean;
}

export interface Row {
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

interface Series {
  series_code: string;
  kind: string;
  name: string | null;
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
  const code = place.query.get("series") ?? known.value?.items[0]?.series_code ?? "";
  const series = known.value?.items.find((one) => one.series_code === code);
  return (
    <>
      <Heading title="Rates" tab={series === undefined ? "Rates" : `${series.name ?? code} – Rates`}>
        The figure that counts of each bank and term. Every source's own figure is kept.
      </Heading>
      <Shown of={known}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              No figures yet. Declare sources with <code>sourcebook sources add FILE</code>.
            </Empty>
          ) : (
            <Latest place={place} code={code} series={items} isLoan={series?.kind === "loan"} />
          )
        }
      </Shown>
    </>
  );
}

function Latest({ place, code, series, isLoan }: { place: Place; code: string; series: Series[]; isLoan: boolean }): JSX.Element {
  const term = place.query.get("term") ?? "";
  const banks = (place.query.get("bank") ?? "").split("|").filter((bank) => bank !== "");
  const latest = useGet<Page<Row>>("/latest", { series_code: code });
  const same = (latest.value?.items ?? []).filter((row) => (row.term ?? "") === term).map((row) => row.bank_name);
  return (
    <>
      <div class="filters">
        <Choice
          label="Series"
          value={code}
          options={series.map((one) => [one.series_code, one.name ?? one.series_code] as const)}
          onChange={(value) => go("rates", "", { series: value })}
        />
        <Download path="/latest.csv" query={{ series_code: code }} name={`${code}.csv`}>
          Download CSV
        </Download>
      </div>
      {banks.length === 0 ? null : <History banks={banks} code={code} term={term} others={same.filter((bank) => !banks.includes(bank))} />}
      <Shown of={latest}>
        {({ items }) => (
          <>
            <Matrix rows={items} isLoan={isLoan} />
            <details>
              <summary>Each figure with its sources</summary>
              <Figures rows={items} />
            </details>
          </>
        )}
      </Shown>
    </>
  );
}

type Sorting = readonly [column: string, descending: boolean];

function Matrix({ rows, isLoan }: { rows: Row[]; isLoan: boolean }): JSX.Element {
  const [[column, descending], setSorting] = useState<Sorting>(["Bank", false]);
  const months = new Map(rows.map((row) => [row.term ?? "", row.term_months ?? -1]));
  const terms = [...months.keys()].sort((a, b) => (months.get(a) ?? 0) - (months.get(b) ?? 0));
  const cells = new Map(rows.map((row) => [`${row.term ?? ""} ${row.bank_name}`, row]));
  const cell = (bank: string, term: string): Row | undefined => cells.get(`${term} ${bank}`);
  const best = new Map(
    terms.map((term) => {
      const rates = rows.filter((row) => (row.term ?? "") === term && !row.stale && row.rate_pct !== null).map((row) => row.rate_pct ?? 0);
      return [term, isLoan ? Math.min(...rates) : Math.max(...rates)];
    }),
  );
  const rate = (bank: string): number => cell(bank, column)?.rate_pct ?? (descending ? -Infinity : Infinity);
  const banks = [...new Set(rows.map((row) => row.bank_name))].sort((a, b) =>
    column === "Bank" ? a.localeCompare(b) * (descending ? -1 : 1) : (rate(a) - rate(b)) * (descending ? -1 : 1) || a.localeCompare(b),
  );
  const head = (name: string, shown: string): JSX.Element => {
    // A first click on a term brings the best to the top.
    const first = name !== "Bank" && !isLoan;
    const sorted = column === name ? (descending ? "descending" : "ascending") : undefined;
    return (
      <th key={name} scope="col" role="columnheader" class={name === "Bank" ? "" : "right"} {...(sorted ? { "aria-sort": sorted } : {})}>
        <button type="button" onClick={() => setSorting([name, column === name ? !descending : first])}>
          {shown}
        </button>
      </th>
    );
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rates of each bank and term">
      <table role="table" class="matrix">
        <caption class="unseen">Percent a year of each bank and term; the best of each term is marked</caption>
        <thead role="rowgroup">
          <tr role="row">
            {head("Bank", "Bank")}
            {terms.map((term) => head(term, term === "" ? "without a term" : term))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {banks.map((bank) => (
            <tr role="row" key={bank}>
              <th scope="row" role="rowheader">
                <HistoryLink row={rows.find((row) => row.bank_name === bank)}>{bank}</HistoryLink>
              </th>
              {terms.map((term) => {
                const row = cell(bank, term);
                const isBest = row !== undefined && !row.stale && row.rate_pct !== null && row.rate_pct === best.get(term);
                return (
                  <td role="cell" key={term} class={`right${isBest ? " best" : ""}`} data-name={term === "" ? "Percent" : term}>
                    {row === undefined ? (
                      "–"
                    ) : (
                      <>
                        <HistoryLink row={row}>
                          <Figure row={row} />
                        </HistoryLink>
                        {isBest ? " ★" : ""}
                        {isBest ? <span class="unseen"> the best</span> : null}
                        {row.stale ? <Chip kind="warn">stale</Chip> : null}
                      </>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="soft">★ the {isLoan ? "lowest" : "highest"} of its term, among the figures that are not stale. Percent a year.</p>
    </div>
  );
}

function HistoryLink({ row, children }: { row: Row | undefined; children: JSX.Element | string }): JSX.Element {
  const at = { series: row?.series_code, bank: row?.bank_name, term: row?.term };
  return <a href={hashOf("rates", "", at)}>{children}</a>;
}

/** What every source says of a figure, in words. */
function sourcesOf(row: Row): string {
  return row.sources_considered
    .map((source) => `${source.source_id}: ${number(source.rate_pct, 2)} of ${day(source.observed_day)}${source.stale ? " (stale)" : ""}`)
    .join("\n");
}

function Figure({ row }: { row: Row }): JSX.Element {
  const span =
    row.rate_min_pct !== null && row.rate_max_pct !== null && row.rate_min_pct !== row.rate_max_pct
      ? `${number(row.rate_min_pct, 2)} – ${number(row.rate_max_pct, 2)}`
      : number(row.rate_pct, 2);
  return <span title={`as written: ${row.raw_value}\n${sourcesOf(row)}`}>{span}</span>;
}

function Figures({ rows }: { rows: Row[] }): JSX.Element {
  return (
    <Table
      caption="The newest figure of each bank and term"
      rows={rows}
      rowKey={(row) => `${row.bank_name} ${row.term ?? ""}`}
      columns={[
        { name: "Bank", of: (row) => <HistoryLink row={row}>{row.bank_name}</HistoryLink> },
        { name: "Term", of: (row) => row.term ?? "–" },
        { name: "Percent", of: (row) => <Figure row={row} />, right: true },
        { name: "Day", of: (row) => <Day of={row.observed_day} /> },
        {
          name: "Source",
          of: (row) => (
            <>
              {row.source_id}, {DECIDED[row.decided_by] ?? row.decided_by} {row.stale ? <Chip kind="warn">stale</Chip> : null}
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
  );
}
