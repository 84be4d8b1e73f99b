/**
 * A FITS file (FITS standard 4.0) as far as a reviewer needs it: headers, and what may be a spectrum in it.
 * Nothing is decided here: what is VALID the workflow says, which reads the file with astropy.
 */

export interface Card {
  hdu: number;
  keyword: string;
  value: string;
  comment: string;
}

interface Hdu {
  cards: Card[];
  /** Where its data begin. */
  data: number;
}

/** Two columns that may be wavelengths and fluxes, in the file's own numbers. */
export interface Trial {
  name: string;
  x: number[];
  y: (number | null)[];
  /** What the file says of the unit of x; "" when it says nothing. */
  unit: string;
  fluxUnit: string;
}

const BLOCK = 2880;
const CARD = 80;
const MOST_HDUS = 40;
const MOST_SAMPLES = 200_000;
const SIZES: Record<string, number> = { L: 1, X: 1, B: 1, I: 2, J: 4, K: 8, A: 1, E: 4, D: 8, C: 8, M: 16, P: 8, Q: 16 };

/** Undo gzip, where the file is compressed as a whole. */
export async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function read(bytes: Uint8Array): { cards: Card[]; trials: Trial[] } {
  const hdus = headers(bytes);
  return {
    cards: hdus.flatMap((hdu) => hdu.cards),
    trials: hdus.flatMap((hdu, index) => [...image(bytes, hdu, index), ...table(bytes, hdu, index)]),
  };
}

function headers(bytes: Uint8Array): Hdu[] {
  const found: Hdu[] = [];
  const text = new TextDecoder("latin1");
  let at = 0;
  while (at + CARD <= bytes.length && found.length < MOST_HDUS) {
    const hdu: Hdu = { cards: [], data: 0 };
    let ended = false;
    for (; at + CARD <= bytes.length && !ended; at += CARD) {
      const line = text.decode(bytes.subarray(at, at + CARD));
      const keyword = line.slice(0, 8).trim();
      ended = keyword === "END";
      if (!ended && keyword !== "") hdu.cards.push(card(found.length, keyword, line));
    }
    if (!ended) return found;
    hdu.data = Math.ceil(at / BLOCK) * BLOCK;
    if (found.length === 0 && value(hdu, "SIMPLE") === "" ) return found;
    found.push(hdu);
    at = hdu.data + Math.ceil(size(hdu) / BLOCK) * BLOCK;
  }
  return found;
}

function card(hdu: number, keyword: string, line: string): Card {
  if (line.slice(8, 10) !== "= ") return { hdu, keyword, value: line.slice(8).trim(), comment: "" };
  const rest = line.slice(10);
  const quoted = /^\s*'((?:[^']|'')*)'\s*(?:\/(.*))?/.exec(rest);
  if (quoted !== null) {
    return { hdu, keyword, value: (quoted[1] ?? "").replaceAll("''", "'").trimEnd(), comment: (quoted[2] ?? "").trim() };
  }
  const cut = rest.indexOf("/");
  const plain = cut < 0 ? rest : rest.slice(0, cut);
  return { hdu, keyword, value: plain.trim(), comment: cut < 0 ? "" : rest.slice(cut + 1).trim() };
}

function value(hdu: Hdu, keyword: string): string {
  return hdu.cards.find((one) => one.keyword === keyword)?.value ?? "";
}

function figure(hdu: Hdu, keyword: string, otherwise: number): number {
  const text = value(hdu, keyword).replace(/[dD]/, "e");
  const found = text === "" ? NaN : Number(text);
  return Number.isFinite(found) ? found : otherwise;
}

function axes(hdu: Hdu): number[] {
  return Array.from({ length: figure(hdu, "NAXIS", 0) }, (_, n) => figure(hdu, `NAXIS${n + 1}`, 0));
}

function size(hdu: Hdu): number {
  const lengths = axes(hdu);
  if (lengths.length === 0) return 0;
  const elements = lengths.reduce((product, length) => product * length, 1);
  return (Math.abs(figure(hdu, "BITPIX", 8)) / 8) * figure(hdu, "GCOUNT", 1) * (elements + figure(hdu, "PCOUNT", 0));
}

/** A reader of the number at an offset, by BITPIX or by the letter of a TFORM. */
function reader(view: DataView, kind: string): ((at: number) => number) | null {
  switch (kind) {
    case "8":
    case "B":
      return (at) => view.getUint8(at);
    case "16":
    case "I":
      return (at) => view.getInt16(at);
    case "32":
    case "J":
      return (at) => view.getInt32(at);
    case "64":
    case "K":
      return (at) => Number(view.getBigInt64(at));
    case "-32":
    case "E":
      return (at) => view.getFloat32(at);
    case "-64":
    case "D":
      return (at) => view.getFloat64(at);
    default:
      return null;
  }
}

function column(bytes: Uint8Array, kind: string, start: number, count: number, step: number, scale: number, zero: number): number[] {
  const get = reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), kind);
  const found: number[] = [];
  for (let i = 0; get !== null && i < count; i += 1) {
    const at = start + i * step;
    if (at + 8 > bytes.length + 8 - Math.min(step, 8)) break;
    found.push(get(at) * scale + zero);
  }
  return found;
}

function finite(values: number[]): (number | null)[] {
  return values.map((one) => (Number.isFinite(one) ? one : null));
}

/** The first row of an image, over the axis that the header describes. */
function image(bytes: Uint8Array, hdu: Hdu, index: number): Trial[] {
  const [length = 0] = axes(hdu);
  const bits = figure(hdu, "BITPIX", 0);
  if (length < 2 || length > MOST_SAMPLES || value(hdu, "XTENSION").includes("TABLE")) return [];
  const y = column(bytes, String(bits), hdu.data, length, Math.abs(bits) / 8, figure(hdu, "BSCALE", 1), figure(hdu, "BZERO", 0));
  const step = figure(hdu, "CDELT1", figure(hdu, "CD1_1", 1));
  const first = figure(hdu, "CRVAL1", 1) - (figure(hdu, "CRPIX1", 1) - 1) * step;
  const isLog = value(hdu, "DC-FLAG") === "1" || /LOG/i.test(value(hdu, "CTYPE1"));
  const x = y.map((_, i) => (isLog ? 10 ** (first + i * step) : first + i * step));
  return [{ name: `HDU ${index}: first row of the image`, x, y: finite(y), unit: value(hdu, "CUNIT1"), fluxUnit: value(hdu, "BUNIT") }];
}

/** Each column of a table that may be a flux, over the first that may be wavelengths. */
function table(bytes: Uint8Array, hdu: Hdu, index: number): Trial[] {
  if (value(hdu, "XTENSION") !== "BINTABLE") return [];
  const [width = 0, rows = 0] = axes(hdu);
  const columns: { name: string; unit: string; values: number[] }[] = [];
  let offset = hdu.data;
  for (let n = 1; n <= Math.min(figure(hdu, "TFIELDS", 0), 60); n += 1) {
    const form = /^(\d*)([LXBIJKAEDCMPQ])/.exec(value(hdu, `TFORM${n}`));
    if (form === null) break;
    const repeat = form[1] === "" ? 1 : Number(form[1]);
    const letter = form[2] ?? "";
    const bytesEach = SIZES[letter] ?? 1;
    const [count, step] = rows === 1 ? [repeat, bytesEach] : [rows, width];
    if ((repeat === 1 || rows === 1) && count >= 2 && count <= MOST_SAMPLES && reader(new DataView(new ArrayBuffer(0)), letter) !== null) {
      const values = column(bytes, letter, offset, count, step, figure(hdu, `TSCAL${n}`, 1), figure(hdu, `TZERO${n}`, 0));
      columns.push({ name: value(hdu, `TTYPE${n}`) || `column ${n}`, unit: value(hdu, `TUNIT${n}`), values });
    }
    offset += letter === "X" ? Math.ceil(repeat / 8) : repeat * bytesEach;
  }
  const grows = (values: number[]): boolean => values.every((one, i) => i === 0 || one > (values[i - 1] ?? one));
  const x = columns.find((one) => /wav|lam|^wl|ang/i.test(one.name)) ?? columns.find((one) => grows(one.values));
  if (x === undefined) return [];
  return columns
    .filter((one) => one !== x)
    .map((one) => ({ name: `HDU ${index}: ${one.name} over ${x.name}`, x: x.values, y: finite(one.values), unit: x.unit, fluxUnit: one.unit }));
}

/** Thin a curve out to some points: of each stretch the lowest and the highest, so that lines stay as high. */
export function thinned(x: readonly number[], y: readonly (number | null)[], points = 3000): [number[], (number | null)[]] {
  if (x.length <= points) return [[...x], [...y]];
  const xs: number[] = [];
  const ys: (number | null)[] = [];
  const length = Math.ceil((2 * x.length) / points);
  for (let from = 0; from < x.length; from += length) {
    let low = from;
    let high = from;
    for (let i = from; i < Math.min(from + length, x.length); i += 1) {
      const here = y[i] ?? null;
      if (here === null) continue;
      if (here < (y[low] ?? Infinity)) low = i;
      if (here > (y[high] ?? -Infinity)) high = i;
    }
    for (const i of low <= high ? [low, high] : [high, low]) {
      xs.push(x[i] ?? 0);
      ys.push(y[i] ?? null);
    }
  }
  return [xs, ys];
}
