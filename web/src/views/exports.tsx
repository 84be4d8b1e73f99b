/** Exports: whole days of records as files, made here and taken away. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { get, type Page } from "../api";
import { number } from "../format";
import { go, hashOf, useGet, type Place } from "../hooks";
import { Day, Empty, Facts, Field, Heading, Shown, Table, Time, Trouble } from "../parts";

interface Period {
  export_id: string;
  since: string;
  until: string;
}

interface Part {
  name: string;
  dataset: string;
  format: string;
  day: string;
  rows: number;
  bytes: number;
}

interface Manifest {
  since: string;
  until: string;
  made_at: string;
  datasets: { name: string; rows: number; columns: { name: string }[] }[];
  files: Part[];
}

export function Exports({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Listed /> : <One id={place.id} />;
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

function Listed(): JSX.Element {
  const answer = useGet<Page<Period>>("/exports");
  const [since, setSince] = useState(() => dayBefore(7));
  const [until, setUntil] = useState(() => dayBefore(0));
  const [key] = useState(() => crypto.randomUUID());
  const { busy, problem, act } = useDoing();
  const start = (event: Event): void => {
    event.preventDefault();
    void act("export", async () => {
      const run = await sendAs<{ job_run_id: string }>("/workflows/export_period/executions", {
        method: "POST",
        key: `${key}-${since}-${until}`,
        body: { since, until },
      });
      go("runs", run.job_run_id);
    });
  };
  return (
    <>
      <Heading title="Exports">Articles and figures of whole days, as Parquet and as NDJSON, for other programs.</Heading>
      <form class="panel filters" onSubmit={start}>
        <Field label="First day (UTC)" type="date" required value={since} onInput={setSince} />
        <Field label="The day after the last" type="date" required value={until} onInput={setUntil} />
        <button type="submit" disabled={busy !== ""}>
          {busy === "" ? "Export" : "Starting …"}
        </button>
      </form>
      {problem === null ? null : <Trouble of={problem} />}
      <Shown of={answer}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>Nothing has been exported yet. Choose the days above.</Empty>
          ) : (
            <Table
              caption="Exports, the newest first"
              rows={items}
              rowKey={(one) => one.export_id}
              columns={[
                {
                  name: "Period",
                  of: (one) => (
                    <a href={hashOf("exports", one.export_id)}>
                      {one.since} to {one.until}
                    </a>
                  ),
                },
                { name: "First day", of: (one) => <Day of={one.since} /> },
                { name: "The day after the last", of: (one) => <Day of={one.until} /> },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}

function One({ id }: { id: string }): JSX.Element {
  const path = `/exports/${encodeURIComponent(id)}`;
  const answer = useGet<Manifest>(path);
  const { busy, problem, act } = useDoing();
  // The link is asked for as whoever looks at the page; the file then comes from the bucket, without a token.
  const take = (part: Part): void => {
    void act(part.name, async () => {
      const { url } = await get<{ url: string }>(`${path}/files/${encodeURIComponent(part.name)}`, { answer: "link" });
      const link = document.createElement("a");
      link.href = url;
      link.download = part.name;
      link.click();
    });
  };
  return (
    <Shown of={answer} heading="Export">
      {(manifest) => (
        <>
          <Heading title={`Export of ${manifest.since} to ${manifest.until}`}>
            Made <Time at={manifest.made_at} exact />. Each file can be taken away; its link holds for five minutes.
          </Heading>
          <Facts of={manifest.datasets.map((one) => [one.name, `${number(one.rows)} rows of ${one.columns.length} columns`] as const)} />
          {problem === null ? null : <Trouble of={problem} />}
          <Table
            caption="Files of the export"
            rows={manifest.files}
            rowKey={(part) => part.name}
            columns={[
              {
                name: "File",
                of: (part) => (
                  <button type="button" class="small" disabled={busy !== ""} onClick={() => take(part)}>
                    {busy === part.name ? "Asking …" : part.name}
                  </button>
                ),
              },
              { name: "Day", of: (part) => <Day of={part.day} /> },
              { name: "Format", of: (part) => part.format },
              { name: "Rows", of: (part) => number(part.rows), right: true },
              { name: "Bytes", of: (part) => number(part.bytes), right: true },
            ]}
          />
        </>
      )}
    </Shown>
  );
}
