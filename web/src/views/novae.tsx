/** Novae: a list to look through, and one found by any of its names or by its place. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Download } from "../download";
import { go, hashOf, useGet, useList, type Place } from "../hooks";
import { Choice, Empty, Field, Heading, More, Shown, Table } from "../parts";
import { arc, discovered, hours } from "../sky";
import { One } from "./nova";
import { StartNova } from "./start";

export interface Nova {
  nova_id: string;
  primary_name: string;
  ra_deg: number | null;
  dec_deg: number | null;
  discovery_date: string | null;
  status: string;
  merged_into: string | null;
  object_type: string | null;
  constellation?: string | null;
  separation_arcsec?: number;
}

const DATA = [
  ["", "any"],
  ["true", "has some"],
  ["false", "has none"],
] as const;

const FILTERS = ["year", "constellation", "has_spectra", "has_photometry"] as const;

export function Novae({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Search place={place} /> : <One id={place.id} />;
}

/** A place as degrees, as "17 50 53.9 -32 37 20" or "17h50m53.9s -32°37′20″"; null for what is a name. */
export function placeOnSky(text: string): { ra: string; dec: string } | null {
  const plain = text.trim().replace("−", "-");
  const degrees = /^(\d+(?:\.\d+)?)[\s,]+([+-]?\d+(?:\.\d+)?)$/.exec(plain);
  if (degrees !== null) return { ra: degrees[1] ?? "", dec: degrees[2] ?? "" };
  const parts = /^(\d{1,2})[\sh:]+(\d{1,2})[\sm:]+(\d{1,2}(?:\.\d+)?)s?[\s,]+([+-])?(\d{1,2})[\s°d:]+(\d{1,2})[\s′':m]+(\d{1,2}(?:\.\d+)?)[″"s]?$/.exec(plain);
  if (parts === null) return null;
  const [h, m, s, d, minutes, seconds] = [parts[1], parts[2], parts[3], parts[5], parts[6], parts[7]].map(Number);
  const ra = 15 * ((h ?? 0) + (m ?? 0) / 60 + (s ?? 0) / 3600);
  const dec = ((d ?? 0) + (minutes ?? 0) / 60 + (seconds ?? 0) / 3600) * (parts[4] === "-" ? -1 : 1);
  return { ra: ra.toFixed(6), dec: dec.toFixed(6) };
}

function Search({ place }: { place: Place }): JSX.Element {
  const name = place.query.get("name") ?? "";
  const ra = place.query.get("ra") ?? "";
  const dec = place.query.get("dec") ?? "";
  const starting = place.query.get("start") !== null;
  const there = name !== "" ? name : `${ra} ${dec}`.trim();
  const [typed, setTyped] = useState(there);
  useEffect(() => setTyped(there), [there]);
  const search = (event: Event): void => {
    event.preventDefault();
    go("novae", "", placeOnSky(typed) ?? { name: typed.trim() });
  };
  return (
    <>
      <Heading title="Novae" tab={name === "" ? "Novae" : `${name} – Novae`}>
        By any name in any spelling, or by a place on the sky, in degrees or in hours.
      </Heading>
      <form class="filters" role="search" onSubmit={search}>
        <Field wide label="Name, or right ascension and declination" value={typed} onInput={setTyped} placeholder="V1324 Sco" />
        <button type="submit">Find</button>
        {starting ? null : (
          <a class="button" href={hashOf("novae", "", { name, start: "1" })}>
            Add a nova
          </a>
        )}
      </form>
      {starting ? <StartNova name={name} /> : null}
      {name !== "" || ra !== "" ? (
        <Found name={name} query={name !== "" ? { name } : { ra, dec, radius: 0.5 }} />
      ) : (
        <Every place={place} />
      )}
    </>
  );
}

function Found({ name, query }: { name: string; query: Record<string, string | number> }): JSX.Element {
  const answer = useGet<{ match?: string; items: Nova[] }>("/novae", query);
  return (
    <Shown of={answer}>
      {(found) =>
        found.items.length === 0 ? (
          <Empty>
            None is known. <a href={hashOf("novae", "", { name, start: "1" })}>Look it up in the archives and add it</a>
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

/** All novae, or those that the filters let through. */
function Every({ place }: { place: Place }): JSX.Element {
  const asked = Object.fromEntries(FILTERS.map((filter) => [filter, place.query.get(filter) ?? ""])) as Record<(typeof FILTERS)[number], string>;
  const list = useList<Nova>("/novae", { ...asked, limit: 50 });
  const to = (changes: Partial<typeof asked>): void => go("novae", "", { ...asked, ...changes });
  const [year, setYear] = useState(asked.year);
  const [constellation, setConstellation] = useState(asked.constellation);
  useEffect(() => {
    setYear(asked.year);
    setConstellation(asked.constellation);
  }, [asked.year, asked.constellation]);
  return (
    <>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          to({ year: year.trim(), constellation: constellation.trim() });
        }}
      >
        <Field label="Year of discovery" type="number" min={1} max={9999} value={year} onInput={setYear} />
        <Field label="Constellation" value={constellation} onInput={setConstellation} placeholder="Sco" />
        <Choice label="Spectra" value={asked.has_spectra} options={DATA} onChange={(has_spectra) => to({ has_spectra })} />
        <Choice label="Photometry" value={asked.has_photometry} options={DATA} onChange={(has_photometry) => to({ has_photometry })} />
        <button type="submit">Filter</button>
        <Download path="/novae.csv" query={{ ...asked, limit: 100 }} name="novae.csv">
          Download CSV
        </Download>
      </form>
      <Shown of={list}>
        {(novae) =>
          novae.length > 0 ? (
            <NovaTable novae={novae} />
          ) : (
            <Empty>
              {list.more === null ? "No nova is here. " : "None on this page; there is more. "}
              {FILTERS.some((filter) => asked[filter] !== "") ? (
                <a href={hashOf("novae")}>Take the filters away</a>
              ) : (
                <a href={hashOf("novae", "", { start: "1" })}>Add the first one</a>
              )}
            </Empty>
          )
        }
      </Shown>
      <More of={list} />
    </>
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
        ...(novae.some((nova) => nova.constellation) ? [{ name: "Constellation", of: (nova: Nova) => nova.constellation ?? "–" }] : []),
        { name: "Right ascension", of: (nova) => (nova.ra_deg === null ? "–" : hours(nova.ra_deg)), right: true },
        { name: "Declination", of: (nova) => (nova.dec_deg === null ? "–" : arc(nova.dec_deg)), right: true },
        ...(novae.some((nova) => nova.separation_arcsec !== undefined)
          ? [{ name: "Away", of: (nova: Nova) => `${(nova.separation_arcsec ?? 0).toFixed(1)}″`, right: true }]
          : []),
      ]}
    />
  );
}
