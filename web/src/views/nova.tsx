/** One nova: its place and names, light curve, spectra, publications, and what ran for it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { number } from "../format";
import { hashOf, useGet, useList } from "../hooks";
import { Chip, Copy, Empty, Facts, Heading, More, Opened, Outside, Shown, Time } from "../parts";
import { ads, adsAbstract, arc, discovered, hours, simbad, simbadByName } from "../sky";
import { Curate } from "./curate";
import { LightCurve } from "./light-curve";
import type { Nova } from "./novae";
import { RunTable, type Run } from "./runs";
import { Overlay } from "./overlay";
import { Spectrum } from "./spectrum";
import { StartFor } from "./start";
import { Upload } from "./upload";

interface Name {
  name: string;
  kind: string;
  source: string;
}

interface Product {
  data_product_id: string;
  provider: string | null;
  title: string | null;
  quarantine_id: string | null;
  terminal_reason: string | null;
  validation_status: string | null;
  quarantine_reason_code: string | null;
  fits_profile_id: string | null;
  updated_at: string;
}

interface Reference {
  reference_id: string;
  bibcode: string | null;
  title: string | null;
  authors: string[];
  author_count: number | null;
  published_at: string | null;
  link: string | null;
}

const VALID: Record<string, string> = { VALID: "positive", QUARANTINED: "warn", TERMINAL_INVALID: "negative", UNVALIDATED: "plain" };

export function One({ id }: { id: string }): JSX.Element {
  const path = `/novae/${encodeURIComponent(id)}`;
  const answer = useGet<Nova & { names: Name[] }>(path);
  const products = useList<Product>(`${path}/products`, { product_type: "SPECTRA", limit: 20 });
  const [turn, setTurn] = useState(0);
  const runs = useGet<{ items: Run[] }>(`${path}/job-runs`, { limit: 100 });
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
              ...place(nova),
              ["Status", nova.status.toLowerCase()],
              ["Names", nova.names.map((name) => `${name.name} (${name.source.toLowerCase().replaceAll("_", " ")})`).join(", ")],
              [
                "Elsewhere",
                <>
                  <Outside url={nova.ra_deg === null || nova.dec_deg === null ? simbadByName(nova.primary_name) : simbad(nova.ra_deg, nova.dec_deg)}>
                    SIMBAD
                  </Outside>
                  , <Outside url={ads(nova.primary_name)}>ADS</Outside>
                </>,
              ],
            ]}
          />
          <StartFor nova={nova.nova_id} name={nova.primary_name} />
          <Opened summary="Merge, split or deprecate">
            <Curate nova={nova.nova_id} name={nova.primary_name} merged={nova.merged_into !== null} />
          </Opened>
          <Opened summary="Hand in photometry and spectra">
            <Upload
              nova={nova.nova_id}
              taken={() => {
                setTurn((before) => before + 1);
                products.again();
              }}
            />
          </Opened>
          <h2>Light curve</h2>
          <LightCurve key={turn} path={path} name={nova.primary_name} />
          <h2>Spectra</h2>
          <Shown of={products}>
            {(items) =>
              items.length === 0 ? (
                <Empty>None is known.</Empty>
              ) : (
                <>
                  <Overlay
                    path={path}
                    spectra={items
                      .filter((one) => one.validation_status === "VALID")
                      .map((one) => ({ id: one.data_product_id, name: [one.provider, one.title].filter((word) => word !== null).join(", ") }))}
                  />
                  {items.map((one) => (
                    <SpectrumCard key={one.data_product_id} path={path} one={one} />
                  ))}
                </>
              )
            }
          </Shown>
          <More of={products} />
          <h2>Publications</h2>
          <References path={path} />
          <h2>What ran</h2>
          <Shown of={runs}>
            {({ items }) =>
              items.length === 0 ? <Empty>Nothing.</Empty> : <RunTable runs={[...items].sort((a, b) => b.started_at.localeCompare(a.started_at))} />
            }
          </Shown>
        </>
      )}
    </Shown>
  );
}

function place(nova: Nova): (readonly [string, JSX.Element | string])[] {
  if (nova.ra_deg === null || nova.dec_deg === null) return [["Place", "–"]];
  const sexagesimal = `${hours(nova.ra_deg)} ${arc(nova.dec_deg)}`;
  const degrees = `${number(nova.ra_deg, 5)} ${number(nova.dec_deg, 5)}`;
  return [
    [
      "Place (ICRS)",
      <>
        {sexagesimal} <Copy text={sexagesimal} what="the place in hours and degrees" />
      </>,
    ],
    [
      "In degrees",
      <>
        {degrees} <Copy text={degrees} what="the place in degrees" />
      </>,
    ],
  ];
}

function SpectrumCard({ path, one }: { path: string; one: Product }): JSX.Element {
  const status = one.validation_status ?? "UNVALIDATED";
  const product = `${path}/products/${encodeURIComponent(one.data_product_id)}`;
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
      {status === "VALID" ? <Spectrum path={product} /> : null}
    </section>
  );
}

function References({ path }: { path: string }): JSX.Element {
  const list = useList<Reference>(`${path}/references`);
  return (
    <>
      <Shown of={list}>
        {(references) =>
          references.length === 0 ? (
            <Empty>None is known yet. Start “refresh references” to ask ADS.</Empty>
          ) : (
            <ul>
              {references.map((one) => (
                <li key={one.reference_id}>
                  <Outside url={one.link}>{one.title ?? one.bibcode ?? one.reference_id}</Outside>{" "}
                  <span class="soft">
                    {one.authors.slice(0, 3).join("; ")}
                    {(one.author_count ?? one.authors.length) > 3 ? " and others" : ""}, {discovered(one.published_at)}{" "}
                    {one.bibcode === null ? null : <Outside url={adsAbstract(one.bibcode)}>{one.bibcode}</Outside>}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}
